"""torch.ops: operators by ATen's names and overloads, where a function or a method of torch has the same name and arguments."""

import torch
from torch import Tensor


def _softmax(name):
    def function(input, dim, half_to_float):
        return getattr(torch, name)(input, dim, dtype=torch.float32 if half_to_float else None)
    return function


def _safe_softmax(input, dim, dtype=None):
    """Zero where nothing is left of a row, which then passes no gradient on."""
    x = input if dtype is None else input.to(dtype)
    if not x.is_floating_point():
        return torch.softmax(x.float(), dim)
    empty = (x.detach() == -float("inf")).all(dim, keepdim=True) if x.numel() else torch.zeros((), dtype=torch.bool)
    return torch.where(empty, 0.0, torch.softmax(torch.where(empty, 0.0, x), dim))


def _flash(query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    if dropout_p:
        raise RuntimeError("scaled_dot_product_attention_flash_attention: Currently do not support dropout > 0")
    made = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask, 0.0, is_causal, scale)
    with torch.no_grad():
        query, key = [t.float() if t.dtype in (torch.float16, torch.bfloat16) else t for t in (query, key)]
        scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).tril().logical_not(), -float("inf"))
        if attn_mask is not None:
            scores = scores.masked_fill(attn_mask.logical_not(), -float("inf")) if attn_mask.dtype == torch.bool else scores + attn_mask
        return made, scores.logsumexp(-1)


_OTHER = {
    "_softmax": _softmax("softmax"), "_log_softmax": _softmax("log_softmax"), "_safe_softmax": _safe_softmax,
    "_scaled_dot_product_flash_attention_for_cpu": _flash,
    "embedding": lambda weight, indices, padding_idx=-1, *_: torch.nn.functional.embedding(
        indices, weight, None if padding_idx < 0 else padding_idx),
}
_FUNCTIONAL = "elu gelu glu hardsigmoid hardswish hardtanh im2col leaky_relu logsigmoid mish relu6 silu softplus softshrink".split()


def _found(name):
    """What computes an operator: its own function here, torch's, one of its modules', or a method."""
    if name in _OTHER:
        return _OTHER[name]
    for start, module in (("linalg_", torch.linalg), ("special_", torch.special), ("fft_", torch.fft)):
        if name.startswith(start):
            return getattr(module, name[len(start):], None)
    if name in _FUNCTIONAL:
        return getattr(torch.nn.functional, name, None)
    made = getattr(torch, name, None) if name[0] != "_" else None
    made = made if callable(made) else getattr(Tensor, name, None) if name[:2] != "__" else None
    return made if callable(made) else None


class OpOverload:
    def __init__(self, packet, overload):
        self._packet, self._overloadname = packet, overload
        self.__name__ = f"{packet.__name__}.{overload}"

    def __call__(self, *args, **kwargs):
        return self._packet(*args, **kwargs)

    def name(self):
        return self._packet._qualified_op_name + ("" if self._overloadname == "default" else "." + self._overloadname)

    @property
    def overloadpacket(self):
        return self._packet

    def __str__(self):
        return f"{self._packet}.{self._overloadname}"

    def __repr__(self):
        return f"<OpOverload(op='{self._packet._qualified_op_name.replace('::', '.')}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """Any overload computes what the arguments ask for."""

    def __init__(self, space, name, function):
        self._space, self._function, self._qualified_op_name = space, function, f"{space}::{name}"
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __getattr__(self, overload):
        if overload.startswith("_"):
            raise AttributeError(f"'OpOverloadPacket' object has no attribute '{overload}'")
        made = OpOverload(self, overload)
        setattr(self, overload, made)
        return made

    def __str__(self):
        return f"{self._space}.{self.__name__}"

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self}')>"


class _Namespace:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        from torch.library import _defined
        own = _defined.get(f"{self.__dict__['name']}::{name}")
        if own is not None:
            return own
        function = _found(name) if self.__dict__["name"] == "aten" and not name.startswith("__") else None
        if function is None:
            raise AttributeError(f"'_OpNamespace' '{self.__dict__['name']}' object has no attribute '{name}'")
        made = OpOverloadPacket(self.__dict__["name"], name, function)
        setattr(self, name, made)
        return made


class _Spaces:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"'_Ops' object has no attribute '{name}'")
        made = _Namespace(name)
        setattr(self, name, made)
        return made


ops = _Spaces()
