"""Activations, and multi-head attention."""

from torch import _C, _parameters
from torch.nn import functional as F
from torch.nn import init
from torch.nn.modules.module import Module
from torch.nn.modules.layers import Linear
from torch.nn.parameter import Parameter

__all__ = []


def _make(name, function, *settings, shows=None, inplace=False, bare=False):
    """A module that calls a function with settings: pairs of a name and a default."""
    names = [n for n, _ in settings] + (["inplace"] if inplace else [])
    written = getattr(_C.Tensor, function.__name__ + "_", None) if inplace and function else None
    named = function is not None and function.__name__ in vars(F)
    defaults = dict(settings)
    if inplace:
        defaults["inplace"] = False

    def __init__(self, *args, **kwargs):
        Module.__init__(self)
        if len(args) > len(names):
            raise TypeError(f"{name}() takes at most {len(names)} arguments ({len(args)} given)")
        values = dict(defaults)
        values.update(zip(names, args))
        for key, value in kwargs.items():
            if key not in defaults:
                raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{key}'")
            values[key] = value
        missing = [n for n in names if values[n] is ...]
        if missing:
            raise TypeError(f"{name}.__init__() missing {len(missing)} required positional argument{'s' * (len(missing) > 1)}: "
                            + " and ".join(map(repr, missing)))
        for key, value in values.items():
            if key == "dim" and value is not None and (isinstance(value, bool) or not isinstance(value, int)) and "softmax" in name.lower():
                raise TypeError(f"dim must be an int or None, got {type(value)}")
            setattr(self, key, value)
        if "max_val" in values and values["max_val"] <= values["min_val"]:
            raise AssertionError(f"max_val ({values['max_val']}) must be greater than min_val ({values['min_val']})")

    def forward(self, input):
        run = written if inplace and self.inplace else getattr(F, function.__name__) if named else function
        return run(input, *[getattr(self, n) for n, _ in settings])

    def extra_repr(self):
        if bare:
            return str(getattr(self, settings[0][0]))
        parts = [f"{n}={getattr(self, n)!r}" for n in (shows if shows is not None else [n for n, _ in settings])]
        if inplace and self.inplace:
            parts.append("inplace=True")
        return ", ".join(parts)

    globals()[name] = type(name, (Module,), {"__init__": __init__, "forward": forward, "extra_repr": extra_repr, "__module__": "torch.nn"})
    __all__.append(name)


_ops = _C._ops
_make("ReLU", _ops["relu"], inplace=True)
_make("ReLU6", _ops["relu6"], inplace=True)
_make("LeakyReLU", _ops["leaky_relu"], ("negative_slope", 0.01), inplace=True)
_make("ELU", _ops["elu"], ("alpha", 1.0), inplace=True)
_make("CELU", _ops["celu"], ("alpha", 1.0), inplace=True)
_make("RReLU", None, ("lower", 1.0 / 8), ("upper", 1.0 / 3), inplace=True)
RReLU.forward = lambda self, input: F.rrelu(input, self.lower, self.upper, self.training, self.inplace)
_make("SELU", _ops["selu"], inplace=True)
_make("SiLU", _ops["silu"], inplace=True)
_make("Mish", _ops["mish"], inplace=True)
_make("Hardswish", _ops["hardswish"], inplace=True)
_make("Hardsigmoid", _ops["hardsigmoid"], inplace=True)
# PyTorch does not show it of these two.
Hardswish.extra_repr = Hardsigmoid.extra_repr = Module.extra_repr
_make("Hardtanh", _ops["hardtanh"], ("min_val", -1.0), ("max_val", 1.0), inplace=True)
_make("GELU", lambda x, approximate: _ops["gelu"](x, approximate=approximate), ("approximate", "none"))
_make("Sigmoid", _ops["sigmoid"])
_make("Tanh", _ops["tanh"])
_make("LogSigmoid", _ops["logsigmoid"])
_make("Softsign", _ops["softsign"])
_make("Tanhshrink", _ops["tanhshrink"])
_make("Softplus", lambda x, beta, threshold: _ops["softplus"](x, float(beta), float(threshold)), ("beta", 1.0), ("threshold", 20.0))
_make("Threshold", _ops["threshold"], ("threshold", ...), ("value", ...), inplace=True)
_make("Hardshrink", F.hardshrink, ("lambd", 0.5), bare=True)
_make("Softshrink", F.softshrink, ("lambd", 0.5), bare=True)
def _softmax2d(x):
    if x.dim() not in (3, 4):
        raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {x.dim()}D instead")
    return F.softmax(x, -3)


_make("Softmax2d", _softmax2d)
_make("GLU", _ops["glu"], ("dim", -1))
_make("Softmax", F.softmax, ("dim", None))
_make("LogSoftmax", F.log_softmax, ("dim", None))
_make("Softmin", F.softmin, ("dim", None))


class PReLU(Module):
    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        dtype = _parameters(device, dtype)
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(_C.full((num_parameters,), init, dtype))

    def reset_parameters(self):
        self.weight.detach().fill_(self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"


class NonDynamicallyQuantizableLinear(Linear):
    pass


class MultiheadAttention(Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None,
                 batch_first=False, device=None, dtype=None):
        super().__init__()
        dtype = _parameters(device, dtype)
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead")
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.add_zero_attn = add_zero_attn
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(_C.full((3 * embed_dim, embed_dim), 0.0, dtype))
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            for name, n in (("q_proj_weight", embed_dim), ("k_proj_weight", self.kdim), ("v_proj_weight", self.vdim)):
                setattr(self, name, Parameter(_C.full((embed_dim, n), 0.0, dtype)))
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = Parameter(_C.full((3 * embed_dim,), 0.0, dtype))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        if add_bias_kv:
            self.bias_k = Parameter(_C.full((1, 1, embed_dim), 0.0, dtype))
            self.bias_v = Parameter(_C.full((1, 1, embed_dim), 0.0, dtype))
        else:
            self.bias_k = self.bias_v = None
        for weight in self._weights():
            init.xavier_uniform_(weight)
        if bias:
            init.constant_(self.out_proj.bias, 0.0)
        if add_bias_kv:
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)

    def _weights(self):
        if self._qkv_same_embed_dim:
            return [self.in_proj_weight]
        return [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True,
                is_causal=False):
        return multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask, need_weights,
            attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight,
            average_attn_weights=average_attn_weights, is_causal=is_causal, batch_first=self.batch_first)


def _added(mask, more, dtype):
    """A mask as what is added to the scores, for `more` keys beside those that were given."""
    if mask.dtype == _C.bool:
        mask = _C.full(mask.shape, 0.0, dtype).masked_fill(mask, float("-inf"))
    return F.pad(mask, (0, more)) if more else mask


def _check_attention(query, key, value, size, heads, padding, mask, separate, batch_first):
    """What does not fit together is refused in PyTorch's words, which have the sequence before the batch."""
    n = query.dim()
    if n not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {n}-D query tensor")
    query_is = f"For {'' if n == 3 else 'un'}batched ({n}-D) `query`, expected"
    if (key.dim(), value.dim()) != (n, n):
        raise AssertionError(f"{query_is} `key` and `value` to be {n}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively")
    if padding is not None and padding.dim() != n - 1:
        raise AssertionError(f"{query_is} `key_padding_mask` to be `None` or {n - 1}-D but found {padding.dim()}-D tensor instead")
    if mask is not None and mask.dim() not in (2, 3):
        raise AssertionError(f"{query_is} `attn_mask` to be `None`, 2-D or 3-D but found {mask.dim()}-D tensor instead")
    if n == 3 and batch_first:
        query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
    if query.shape[-1] != size:
        raise AssertionError(f"was expecting embedding dimension of {size}, but got {query.shape[-1]}")
    if separate and key.shape[:-1] != value.shape[:-1]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    if not separate and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    batch = query.shape[1] if n == 3 else 1
    if mask is not None:
        fits = (batch * heads,) * (mask.dim() - 2) + (query.shape[0], key.shape[0])
        if tuple(mask.shape) != fits:
            raise RuntimeError(f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {fits}.")
    for at, size in enumerate((batch, key.shape[0])[3 - n:] if padding is not None else ()):
        if padding.shape[at] != size:
            raise AssertionError(f"Expected key_padded_mask.shape[{at + 3 - n}] to be {size}, but got {padding.shape[at]}")


def multi_head_attention_forward(
        query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p,
        out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
        use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
        average_attn_weights=True, is_causal=False, *, batch_first=False):
    if static_k is not None or static_v is not None:
        raise NotImplementedError("multi_head_attention_forward: static_k and static_v are not there")
    _check_attention(query, key, value, embed_dim_to_check, num_heads, key_padding_mask, attn_mask, use_separate_proj_weight, batch_first)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
                           "`generate_square_subsequent_mask` to create this mask.")
    causal = is_causal and key_padding_mask is None and not need_weights
    attn_mask = None if causal else attn_mask
    batched = query.dim() == 3
    if not batched:
        query, key, value = query.unsqueeze(0), key.unsqueeze(0), value.unsqueeze(0)
    elif not batch_first:
        query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
    n, heads = embed_dim_to_check, num_heads
    size = n // heads
    weights = [q_proj_weight, k_proj_weight, v_proj_weight] if use_separate_proj_weight else in_proj_weight.split(n)
    biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.split(n)
    q, k, v = [F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases)]
    batch, more = query.shape[0], 0
    if bias_k is not None:
        k, v = [_ops["cat"]([x, b.expand(batch, 1, n)], 1) for x, b in ((k, bias_k), (v, bias_v))]
        more += 1
    if add_zero_attn:
        k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
        more += 1
    q, k, v = [x.reshape(batch, x.shape[1], heads, size).transpose(1, 2) for x in (q, k, v)]
    mask = None
    if attn_mask is not None:
        mask = _added(attn_mask, more, q.dtype)
        if mask.dim() == 3:
            mask = mask.reshape(batch, heads, mask.shape[1], mask.shape[2])
    if key_padding_mask is not None:
        pads = _added(key_padding_mask, more, q.dtype)
        pads = pads.reshape(pads.shape[0] if pads.dim() == 2 else 1, 1, 1, pads.shape[-1])
        mask = pads if mask is None else mask + pads
    p = dropout_p if training else 0.0
    weights = None
    if need_weights:
        scores = q @ k.transpose(-2, -1) * size ** -0.5
        weights = F.softmax(scores if mask is None else scores + mask, -1)
        weights = F.dropout(weights, p, p > 0)
        made = weights @ v
        weights = weights.mean(1) if average_attn_weights else weights
    else:
        made = F.scaled_dot_product_attention(q, k, v, mask, p, causal)
    made = F.linear(made.transpose(1, 2).reshape(query.shape[0], query.shape[1], n), out_proj_weight, out_proj_bias)
    if not batched:
        made, weights = made.squeeze(0), None if weights is None else weights.squeeze(0)
    elif not batch_first:
        made = made.transpose(0, 1).contiguous()
    elif p > 0:
        # PyTorch has the sequence outermost in memory, which is the order that dropout draws in.
        made = made.transpose(0, 1).contiguous().transpose(0, 1)
    return made, weights


F.multi_head_attention_forward = multi_head_attention_forward
__all__ += ["PReLU", "MultiheadAttention"]
