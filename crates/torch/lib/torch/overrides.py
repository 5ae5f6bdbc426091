"""torch.overrides: tensors of classes that take part in functions by a method of their own are not there."""

from torch import Tensor


def is_tensor_like(inp):
    return type(inp) is Tensor or hasattr(inp, "__torch_function__") or isinstance(inp, Tensor)


def has_torch_function(relevant_args):
    return False


has_torch_function_unary = has_torch_function


def has_torch_function_variadic(*relevant_args):
    return False


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    raise NotImplementedError("handle_torch_function(): call the function itself with tensors")
