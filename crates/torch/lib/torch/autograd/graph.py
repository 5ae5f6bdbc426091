"""torch.autograd.graph."""

import contextlib


@contextlib.contextmanager
def save_on_cpu(pin_memory=False, device_type="cuda"):
    """What derivatives read stays where it is: the tape keeps values on the script's device."""
    yield


def saved_tensors_hooks(pack_hook, unpack_hook):
    raise NotImplementedError("saved_tensors_hooks: torch.utils.checkpoint keeps less")


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """`fn` of the gradients of all tensors, once each came; or of the first that comes."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    from torch._hooks import RemovableHandle
    wanted = [t for t in tensors if t.requires_grad]
    found = {}

    def hook(i):
        def come(gradient):
            if mode == "any":
                if not found:
                    fn(gradient)
                found[i] = gradient
            else:
                found[i] = gradient
                if len(found) == len(wanted):
                    given = iter([found[k] for k in range(len(wanted))])
                    found.clear()
                    fn([next(given) if t.requires_grad else None for t in tensors])
        return come
    handles = {i: t.register_hook(hook(i)) for i, t in enumerate(wanted)}

    class Handle(RemovableHandle):
        def remove(self):
            for handle in handles.values():
                handle.remove()
    return Handle({})
