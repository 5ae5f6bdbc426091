"""Tensors of a module as functions of other parameters."""

import copy
from torch.autograd import no_grad
from torch.nn.modules.container import ModuleDict, ModuleList
from torch.nn.parameter import Parameter
from torch._C import Tensor


class ParametrizationList(ModuleList):
    """What a parametrized tensor is computed from, and by which modules."""

    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        self.unsafe = unsafe
        value = original
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                with no_grad():
                    value = module.right_inverse(value)
        self.is_tensor = isinstance(value, Tensor)
        for i, v in enumerate([value] if self.is_tensor else value):
            name = "original" if self.is_tensor else f"original{i}"
            if isinstance(original, Parameter):
                kept = original if v is original else Parameter(v.detach(), original.requires_grad)
                self.register_parameter(name, kept)
            else:
                self.register_buffer(name, v)
        self._count = 0 if self.is_tensor else len(value)
        if not unsafe:
            made = self()
            if not isinstance(made, Tensor):
                raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
            for what, old, new in (("dtype", original.dtype, made.dtype), ("shape", original.shape, made.shape)):
                if old != new:
                    raise ValueError(f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                                     f"enabled.\nunparametrized {what}: {old}\nparametrized {what}: {new}")

    def _originals(self):
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self._count)]

    @no_grad()
    def right_inverse(self, value):
        for module in reversed(list(self)):
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
            value = module.right_inverse(value)
        for own, v in zip(self._originals(), [value] if self.is_tensor else value):
            own.detach().copy_(v)

    def forward(self):
        modules = list(self)
        value = modules[0](*self._originals())
        for module in modules[1:]:
            value = module(value)
        return value


def is_parametrized(module, tensor_name=None):
    found = module._modules.get("parametrizations")
    if found is None:
        return False
    return tensor_name in found if tensor_name is not None else len(found) > 0


def _state(self):
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training")


def _copied(self, memo):
    made = memo.get(id(self))
    if made is None:
        made = memo[id(self)] = self.__new__(type(self))
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return made


def _specialise(module):
    """A module with parametrizations has a class of its own, as in PyTorch."""
    kind = type(module)
    methods = {"__getstate__": _state, "__module__": "torch.nn.utils.parametrize"}
    if not hasattr(kind, "__deepcopy__"):
        methods["__deepcopy__"] = _copied
    module.__class__ = type("Parametrized" + kind.__name__, (kind,), methods)


def type_before_parametrizations(module):
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        module.parametrizations[tensor_name].append(parametrization)
        return module
    is_parameter = tensor_name in module._parameters
    if not is_parameter and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    original = getattr(module, tensor_name)
    made = ParametrizationList([parametrization], original, unsafe)
    if is_parameter:
        del module._parameters[tensor_name]
    else:
        del module._buffers[tensor_name]
    if "parametrizations" not in module._modules:
        _specialise(module)
        module.parametrizations = ModuleDict()
    module.parametrizations[tensor_name] = made
    return module


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    made = module.parametrizations[tensor_name]
    if not leave_parametrized and not made.is_tensor:
        raise ValueError("Leaving unparametrized (`leave_parametrized=False`) tensor is only possible for one original tensor")
    value = getattr(module, tensor_name).detach() if leave_parametrized else made.original
    is_parameter = bool(list(made.parameters(recurse=False)))
    del module.parametrizations[tensor_name]
    if len(module.parametrizations) == 0:
        del module._modules["parametrizations"]
        module.__class__ = type(module).__bases__[0]
    if is_parameter:
        module.register_parameter(tensor_name, value if isinstance(value, Parameter) else Parameter(value.clone()))
    else:
        module.register_buffer(tensor_name, value)
    return module


# Values by their lists, and how many scopes ask for them to be kept.
_values, _depth = {}, [0]


def _value(made):
    if not _depth[0]:
        return made()
    if id(made) not in _values:
        _values[id(made)] = made()
    return _values[id(made)]


class cached:
    """Values are computed once within it."""

    def __enter__(self):
        _depth[0] += 1

    def __exit__(self, *exc):
        _depth[0] -= 1
        if not _depth[0]:
            _values.clear()
