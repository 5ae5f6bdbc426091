"""Modules that learn the number of their input's features from the first input."""

from torch import _C
from torch.autograd import no_grad
from torch.nn.modules.layers import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, Linear
from torch.nn.modules.module import Module
from torch.nn.modules.norm import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from torch.nn.parameter import Buffer, Parameter, is_lazy


class _Uninitialized:
    """A tensor whose shape is not known yet."""

    def materialize(self, shape, device=None, dtype=None):
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.data = _C.full(shape, 0.0, self.data.dtype if dtype is None else dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when "
                           "trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters "
                           "before accessing their attributes.")

    def share_memory_(self):
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before "
                           "calling `module.share_memory()`.")

    def __repr__(self):
        return f"<{type(self).__name__}>"

    __str__ = __repr__

    def __deepcopy__(self, memo):
        return memo.setdefault(id(self), type(self)(self.requires_grad, dtype=self.dtype))

    def __reduce_ex__(self, proto):
        return type(self), (self.requires_grad, None, self.dtype)

    def __init__(self, requires_grad=True, device=None, dtype=None):
        pass

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") in _ALLOWED:
            with _C.DisableTorchFunctionSubclass():
                made = func(*args, **(kwargs or {}))
            return _C.make(cls, made, args[0].requires_grad) if type(made) is _C.Tensor else made
        raise ValueError(f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a `LazyModule` or "
                         f"explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call `forward` with a "
                         "dummy batch to initialize the parameters before calling torch functions")


_ALLOWED = """size copy_ is_complex is_floating_point half float double char short int long cuda cpu to get_device detach __get__ __set__
requires_grad_""".split()


class UninitializedParameter(_Uninitialized, Parameter):
    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return _C.make(cls, _C.full((0,), 0.0, dtype), requires_grad)


class UninitializedBuffer(_Uninitialized, Buffer):
    cls_to_become = Buffer

    def __new__(cls, requires_grad=False, device=None, dtype=None):
        return _C.make(cls, _C.full((0,), 0.0, dtype), requires_grad)


class LazyModuleMixin:
    """A module whose `initialize_parameters` gives its parameters their shapes, with the arguments of the first call."""

    cls_to_become = None

    def __call__(self, *args, **kwargs):
        if "_is_complete" not in self.__dict__:
            self._infer_parameters(self, args, kwargs)
        return super(LazyModuleMixin, self).__call__(*args, **kwargs) if isinstance(self, LazyModuleMixin) else self(*args, **kwargs)

    def _load_from_state_dict(self, state_dict, prefix, *args):
        for name, value in [*self._parameters.items(), *self._buffers.items()]:
            given = state_dict.get(prefix + name)
            if is_lazy(value) and given is not None and not is_lazy(given):
                with no_grad():
                    value.materialize(given.shape)
        super()._load_from_state_dict(state_dict, prefix, *args)

    def initialize_parameters(self, *args, **kwargs):
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        return any([is_lazy(v) for v in [*self._parameters.values(), *self._buffers.values()]])

    def _infer_parameters(self, module, args, kwargs=None):
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        if module.cls_to_become is None:
            module._is_complete = True
        else:
            module.__class__ = module.cls_to_become


def _make(base, field):
    """A class like `base` without its first argument, which the attribute `field` keeps."""

    class Lazy(LazyModuleMixin, base):
        cls_to_become = base

        def __init__(self, *args, **kwargs):
            if "InstanceNorm" in base.__name__ and len(args) < 3:
                # PyTorch's lazy layers have these, whatever the layer's own defaults are.
                kwargs = {"affine": True, "track_running_stats": True, **kwargs}
            base.__init__(self, 0, *args, **kwargs)
            self._made = (args, kwargs)
            for values, kind in ((self._parameters, UninitializedParameter), (self._buffers, UninitializedBuffer)):
                for name, value in values.items():
                    if value is not None and name != "num_batches_tracked":
                        values[name] = kind(dtype=value.dtype)

        def reset_parameters(self):
            if getattr(self, field) and not self.has_uninitialized_params():
                base.reset_parameters(self)

        def initialize_parameters(self, input, *args, **kwargs):
            given, named = self.__dict__.pop("_made")
            spatial = {"1": 1, "2": 2, "3": 3}.get(base.__name__[-2], 0) if field == "in_channels" else 0
            if spatial and input.dim() not in (spatial + 1, spatial + 2):
                raise RuntimeError(f"Expected {spatial + 1}D (unbatched) or {spatial + 2}D (batched) input to {type(self).__name__}, "
                                   f"but got input of size: {input.shape}")
            n = input.shape[-1] if base is Linear else input.shape[0 if spatial and input.dim() == spatial + 1 else 1]
            if self.has_uninitialized_params():
                fresh = base(n, *given, **{**named, "dtype": next(t.dtype for t in (*self.parameters(), *self.buffers()) if is_lazy(t))})
                for name, value in [*fresh._parameters.items(), *fresh._buffers.items()]:
                    own = getattr(self, name)
                    if is_lazy(own):
                        own.materialize(value.shape)
                        own.data = value.detach()
            setattr(self, field, n)

    Lazy.__name__ = Lazy.__qualname__ = "Lazy" + base.__name__
    Lazy.__module__ = "torch.nn.modules.lazy"
    globals()[Lazy.__name__] = Lazy


_make(Linear, "in_features")
for _base in (Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d):
    _make(_base, "in_channels")
for _base in (BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d):
    _make(_base, "num_features")
