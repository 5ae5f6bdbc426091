"""Tensors of a module as functions of other parameters."""

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
    if is_parameter:
        module.register_parameter(tensor_name, value if isinstance(value, Parameter) else Parameter(value.clone()))
    else:
        module.register_buffer(tensor_name, value)
    return module


class cached:
    """Values are computed anew each time: the same values."""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False
