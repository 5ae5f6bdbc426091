"""Nodes of a graph, and how they are written."""

import torch
from torch.overrides import resolve_name

# Python's operators, as code writes them.
MAGIC = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}", "pos": "+{}", "neg": "-{}",
    "invert": "~{}", "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}", "mod": "{} % {}",
    "pow": "{} ** {}", "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}",
    "getitem": "{}[{}]", "matmul": "{} @ {}",
}


def map_arg(a, fn):
    """`a` with what `fn` makes of the nodes in it."""
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def map_aggregate(a, fn):
    if isinstance(a, tuple):
        made = [map_aggregate(x, fn) for x in a]
        return type(a)(*made) if hasattr(a, "_fields") else tuple(made)
    if isinstance(a, list):
        return [map_aggregate(x, fn) for x in a]
    if isinstance(a, dict):
        return {k: map_aggregate(v, fn) for k, v in a.items()}
    if isinstance(a, slice):
        return slice(*[map_aggregate(x, fn) for x in (a.start, a.stop, a.step)])
    return fn(a)


def qualified_name(target):
    """Where a function is found: `operator.add`, `torch.sum`."""
    module = getattr(target, "__module__", "") or ""
    if module in ("_operator", "operator"):
        return "operator." + target.__name__
    path = resolve_name(target)
    return path if module != "builtins" else "builtins." + target.__name__


class Node:
    """One operation: `op` is placeholder, get_attr, call_function, call_method, call_module or output."""

    def __init__(self, graph, name, op, target, args, kwargs, type=None):
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, type
        self.users, self.meta, self._inputs = {}, {}, {}
        self._set(tuple(args), dict(kwargs))

    def _set(self, args, kwargs):
        for node in self._inputs:
            node.users.pop(self, None)
        self._args, self._kwargs, self._inputs = args, kwargs, {}
        map_arg((args, kwargs), lambda n: self._inputs.setdefault(n))
        for node in self._inputs:
            node.users.setdefault(self)

    args = property(lambda self: self._args, lambda self, args: self._set(tuple(args), self._kwargs))
    kwargs = property(lambda self: self._kwargs, lambda self, kwargs: self._set(self._args, dict(kwargs)))
    all_input_nodes = property(lambda self: list(self._inputs))
    next = property(lambda self: self.graph._beside(self, 1))
    prev = property(lambda self: self.graph._beside(self, -1))

    def __repr__(self):
        return self.name

    def append(self, node):
        self.graph._move(node, self, 1)

    def prepend(self, node):
        self.graph._move(node, self, 0)

    def update_arg(self, idx, arg):
        self.args = self.args[:idx] + (arg,) + self.args[idx + 1:]

    def update_kwarg(self, key, arg):
        self.kwargs = {**self.kwargs, key: arg}

    def insert_arg(self, idx, arg):
        self.args = self.args[:idx] + (arg,) + self.args[idx:]

    def replace_input_with(self, old_input, new_input):
        one = lambda n: new_input if n is old_input else n
        self._set(map_arg(self.args, one), map_arg(self.kwargs, one))

    def replace_all_uses_with(self, replace_with, delete_user_cb=lambda user: True, *, propagate_meta=False):
        users = [user for user in self.users if user is not replace_with and delete_user_cb(user)]
        for user in users:
            user.replace_input_with(self, replace_with)
        return users

    def is_impure(self):
        return self.op in ("placeholder", "output") or getattr(self.target, "__name__", "").startswith("_assert")

    def format_node(self, *others, **kwargs):
        name = f"%{self.name} : [num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            return f"{name}[target={self.target}]" + (f"(default={self.args[0]})" if self.args else "")
        if self.op == "get_attr":
            return f"{name}[target={self.target}]"
        if self.op == "output":
            return f"return {self.args[0]}"
        target = self.target if isinstance(self.target, str) else qualified_name(self.target)
        items = ", ".join([f"{k}: {_shown(v)}" for k, v in self.kwargs.items()])
        return f"{name}[target={target}](args = {_shown(self.args)}, kwargs = {{{items}}})"


def _shown(a):
    """An argument in the list of a graph: nodes with a sign, texts without quotes."""
    if isinstance(a, tuple):
        return "(" + ", ".join([_shown(x) for x in a]) + ("," if len(a) == 1 else "") + ")"
    if isinstance(a, list):
        return "[" + ", ".join([_shown(x) for x in a]) + "]"
    if isinstance(a, dict):
        return "{" + ", ".join([f"{k}: {_shown(v)}" for k, v in a.items()]) + "}"
    return f"%{a.name}" if isinstance(a, Node) else str(a)
