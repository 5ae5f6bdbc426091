"""Hooks in tables: torch.utils.hooks."""

import itertools


class RemovableHandle:
    """Where a hook is: by its number in a table, and in those that say more of it."""

    _ids = itertools.count()

    def __init__(self, hooks_dict, *, extra_dict=None):
        extra = [] if extra_dict is None else extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self._tables, self.id = [hooks_dict, *extra], next(self._ids)

    def hooks_dict_ref(self):
        return self._tables[0]

    def remove(self):
        for table in self._tables:
            table.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


def add(hooks, hook, prepend=False, *kinds):
    """Puts a hook into a table, before the others if asked; `kinds` are pairs of a table and whether the hook belongs to it too."""
    handle = RemovableHandle(hooks, extra_dict=[table for table, _ in kinds])
    hooks[handle.id] = hook
    for table, belongs in kinds:
        if belongs:
            table[handle.id] = True
    if prepend:
        for other in [k for k in hooks if k != handle.id]:
            hooks[other] = hooks.pop(other)
    return handle
