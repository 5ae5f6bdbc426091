"""Parameters and buffers."""

import _missing
from torch import _C
from torch._C import Tensor


class Parameter(Tensor):
    """A tensor that a module counts among what it learns."""

    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = _C.full((0,), 0.0)
        return _C.make(cls, data, requires_grad)

    def __init__(self, data=None, requires_grad=True):
        pass

    def __repr__(self):
        return "Parameter containing:\n" + _C.repr(self)

    __str__ = __repr__


class Buffer(Tensor):
    """A tensor that a module keeps and does not learn."""

    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data=None, *, persistent=True):
        made = _C.make(cls, data, False)
        made.persistent = persistent
        return made

    def __init__(self, data=None, *, persistent=True):
        pass


def is_lazy(param):
    """Whether its shape is not known yet (`torch.nn.modules.lazy`)."""
    return hasattr(type(param), "materialize")


__getattr__ = _missing.names("torch.nn.parameter", globals())
