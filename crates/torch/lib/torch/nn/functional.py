"""torch.nn.functional."""

import _missing
from torch import _C
from torch import _functions
from torch._C import Tensor
from torch.autograd import no_grad
import functools
import math

_ops = _C._ops
_here = globals()

for _name in """leaky_relu elu celu selu silu mish gelu softplus logsigmoid softsign tanhshrink glu hardtanh relu6 hardsigmoid hardswish
prelu sigmoid tanh linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d mse_loss l1_loss smooth_l1_loss
huber_loss kl_div cosine_similarity pairwise_distance cosine_embedding_loss margin_ranking_loss hinge_embedding_loss soft_margin_loss
multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss poisson_nll_loss gaussian_nll_loss binary_cross_entropy
triplet_margin_loss one_hot adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
adaptive_max_pool3d pixel_shuffle pixel_unshuffle grid_sample affine_grid interpolate batch_norm layer_norm rms_norm group_norm instance_norm
avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d ctc_loss""".split():
    if _name in _ops:
        _here[_name] = _ops[_name]


def _inplace(name):
    """An activation that may take its operand's place: whoever holds the tensor sees it, a residual connection's `x` too."""
    row, written = _ops[name], getattr(Tensor, name + "_")

    def function(input, *args, inplace=False, **kwargs):
        return written(input, *args, **kwargs) if inplace else row(input, *args, **kwargs)
    function.__name__ = function.__qualname__ = name
    return function


for _name in """relu relu6 leaky_relu elu celu selu silu mish hardtanh hardsigmoid hardswish threshold""".split():
    _here[_name] = _inplace(_name)


def _implicit(name, input):
    """The dimension where none is said."""
    import warnings
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.", stacklevel=3)
    return 0 if input.dim() in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    dim = _implicit("softmax", input) if dim is None else dim
    return _ops["softmax"](input if dtype is None else input.to(dtype), dim)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    dim = _implicit("log_softmax", input) if dim is None else dim
    return _ops["log_softmax"](input if dtype is None else input.to(dtype), dim)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    return softmax(-input, _implicit("softmin", input) if dim is None else dim, dtype=dtype)


def _reduction(size_average, reduce, reduction):
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def _check_classes(input, weight):
    classes = input.shape[min(1, input.dim() - 1)] if input.dim() else 0
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of shape: "
                           f"{list(weight.shape)}")


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    reduction = _reduction(size_average, reduce, reduction)
    _check_classes(input, weight)
    if ignore_index >= 0 and target.dtype.is_floating_point and target.shape == input.shape:
        raise RuntimeError("ignore_index is not supported for floating point target")
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    return _ops["cross_entropy"](
        input, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    _check_classes(input, weight)
    return _ops["nll_loss"](input, target, weight, ignore_index=ignore_index, reduction=_reduction(size_average, reduce, reduction))


def _weighed(name):
    """A loss of differences, which weights of elements may multiply: their mean is that of the weights."""
    def loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None, **settings):
        reduction = _reduction(size_average, reduce, reduction)
        if input.shape != target.shape:
            import warnings
            warnings.warn(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will likely "
                          "lead to incorrect results due to broadcasting. Please ensure they have the same size.", stacklevel=2)
        if weight is None:
            return _ops[name](input, target, reduction=reduction, **settings)
        if weight.shape != input.shape:
            raise ValueError("Weights and input must have the same size.")
        made = _ops[name](input, target, reduction="none", **settings) * weight
        return made if reduction == "none" else made.sum() if reduction == "sum" else made.sum() / weight.sum()
    loss.__name__ = loss.__qualname__ = name
    return loss


mse_loss, l1_loss = _weighed("mse_loss"), _weighed("l1_loss")


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    return _smooth_l1(input, target, size_average, reduce, reduction, beta=beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    return _huber(input, target, None, None, reduction, weight, delta=delta)


_smooth_l1, _huber = _weighed("smooth_l1_loss"), _weighed("huber_loss")


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    return _ops["binary_cross_entropy"](input, target, weight, reduction=_reduction(size_average, reduce, reduction))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    return _ops["binary_cross_entropy_with_logits"](
        input, target, weight, pos_weight, reduction=_reduction(size_average, reduce, reduction))


def dropout(input, p=0.5, training=True, inplace=False):
    return _placed(input, _dropout(input, p, training), inplace)


def _dropout(input, p, training):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    mask = _functions.drawn_like(input, lambda shape: _C.bernoulli(shape, 1 - p))
    return input * (mask / (1 - p)).to(input.dtype)


def _placed(input, made, inplace):
    return input.copy_(made) if inplace and made is not input else made


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    return _placed(input, _alpha(input, p, training, input.shape), inplace)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    if not training:
        return input
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return _placed(input, _alpha(input, p, training, list(input.shape[:2]) + [1] * (input.dim() - 2)), inplace)


def _alpha(input, p, training, shape):
    # Klambauer et al., Self-Normalizing Neural Networks, 2017: dropped elements become SELU's limit, then mean and variance are restored.
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    limit = 1.7580993408473766
    a = 1 / math.sqrt((limit * limit * p + 1) * (1 - p))
    kept = _C.bernoulli(shape, 1 - p)
    return input * (kept * a).to(input.dtype) + ((kept - 1) * (limit * a) + limit * a * p).to(input.dtype)


def _feature_dropout(input, p, training, dims, known, name, lead=2):
    """Dropout of whole channels: what is behind the first dimensions shares its fate."""
    if name == "dropout2d" and input.dim() == 3:
        import warnings
        warnings.warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input is "
                      "interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to interpret "
                      "the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, "
                      "please switch to using dropout1d instead.", stacklevel=3)
    if input.dim() not in known:
        if name == "dropout1d":
            raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to provide "
                               "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension "
                               "(i.e. 2D or 3D inputs).")
        import warnings
        warnings.warn(f"{name}: Received a {input.dim()}-D input to {name}, which is deprecated and will result in an error in a future release. "
                      "To retain the behavior and silence this warning, please use dropout instead. Note that "
                      f"{name} exists to provide channel-wise dropout on inputs with {dims} spatial dimensions, a channel dimension, and an "
                      f"optional batch dimension (i.e. {dims + 1}D or {dims + 2}D inputs).", stacklevel=3)
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p in (0, 1):
        return input * 0 if training and p else input
    shape = list(input.shape[:lead]) + [1] * (input.dim() - lead)
    return input * (_C.bernoulli(shape, 1 - p) / (1 - p)).to(input.dtype)


def dropout1d(input, p=0.5, training=True, inplace=False):
    return _placed(input, _feature_dropout(input, p, training, 1, (2, 3), "dropout1d", 1 if input.dim() == 2 else 2), inplace)


def dropout2d(input, p=0.5, training=True, inplace=False):
    # PyTorch takes three dimensions for a batch of channels of one dimension.
    return _placed(input, _feature_dropout(input, p, training, 2, (3, 4), "dropout2d"), inplace)


def dropout3d(input, p=0.5, training=True, inplace=False):
    return _placed(input, _feature_dropout(input, p, training, 3, (4, 5), "dropout3d", 1 if input.dim() == 4 else 2), inplace)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if max_norm is not None:
        # The rows that are looked up are scaled in place, as in PyTorch.
        with no_grad():
            used = input.reshape(-1)
            rows = weight.detach().index_select(0, used)
            norms = _ops["norm"](rows, norm_type, 1, True)
            scaled = _ops["where"](norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows)
            weight.copy_(_ops["index_copy"](weight.detach(), 0, used, scaled))
    if padding_idx is not None:
        n = weight.shape[0]
        assert -n <= padding_idx < n, "Padding_idx must be within num_embeddings"
        padding_idx %= n
    if weight.dim() != 2:
        raise RuntimeError("'weight' must be 2-D")
    return _rows(weight, input, padding_idx, scale_grad_by_freq)


def _rows(weight, input, padding_idx, scaled):
    rows = _ops["embedding"](weight, input, padding_idx)
    if not scaled:
        return rows
    # The values as they are; each row's gradient by how often it was looked up.
    flat = input.reshape(-1)
    counts = _C.full(weight.shape[:1], 0.0, weight.dtype).index_add(0, flat, _C.full(flat.shape, 1.0, weight.dtype))[input]
    return rows.detach() + (rows - rows.detach()) / counts.unsqueeze(-1)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    return _ops["layer_norm"](input, normalized_shape, weight, bias, eps=eps)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    return _ops["normalize"](input, float(p), dim, eps)


def pad(input, pad, mode="constant", value=None):
    n = 0 if mode == "constant" else len(pad) // 2
    if n and input.dim() - n not in (1, 2):
        raise NotImplementedError(f"Padding size {len(pad)} is not supported for {input.dim()}D input tensor.")
    for i in range(n):
        size, sides = input.shape[-1 - i], tuple(pad[2 * i:2 * i + 2])
        if mode == "reflect" and max(sides) >= size:
            raise RuntimeError(f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input dimension, but got: padding "
                               f"{sides} at dimension {input.dim() - 1 - i} of input {list(input.shape)}")
        if mode == "circular" and max(sides) > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
    return _ops["pad"](input, list(pad), mode=mode, value=0.0 if value is None else float(value))


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    if eps <= 0.0 if training else eps < 0.0:
        raise ValueError(f"batch_norm eps must be {'positive during training' if training else 'non-negative'}, but got {eps}")
    made = _ops["batch_norm"](input, running_mean, running_var, weight, bias, training=training, momentum=momentum, eps=eps)
    if not isinstance(made, tuple):
        return made
    if training and running_mean is not None and len(made) >= 3:
        running_mean.detach().copy_(made[1].detach())
        running_var.detach().copy_(made[2].detach())
    return made[0]


def _check_lengths(name, given, of, most):
    if given.is_floating_point():
        raise RuntimeError(f"{name} must be integral")
    if given.numel() != of:
        raise RuntimeError(f"{name} must be of size batch_size")
    wrong = _C.outside(given, 0, most + 1)
    if wrong:
        if wrong[1] >= 0 and name == "target_lengths":
            raise RuntimeError(f"Expected tensor to have size at least {wrong[1]} at dimension 1, but got size {most} for argument #2 "
                               "'targets' (while checking arguments for ctc_loss_allocate_outputs)")
        raise RuntimeError(f"Expected {name} to have value at {f'most {most}' if wrong[1] >= 0 else 'least 0'}, but got value {wrong[1]} "
                           "(while checking arguments for ctc_loss_allocate_outputs)")


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    lengths = [v if isinstance(v, Tensor) else _C.tensor(list(v), _C.int64) for v in (input_lengths, target_lengths)]
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if not 0 <= blank < log_probs.shape[-1]:
        raise RuntimeError("blank must be in label range")
    batch = log_probs.shape[1] if log_probs.dim() > 2 else 1
    _check_lengths("input_lengths", lengths[0], batch, log_probs.shape[0])
    _check_lengths("target_lengths", lengths[1], batch, targets.shape[-1])
    if targets.dim() == 1:
        wrong = _C.outside(lengths[1].sum(), len(targets), len(targets) + 1)
        if wrong:
            raise RuntimeError(f"Expected tensor to have size {wrong[1]} at dimension 0, but got size {len(targets)} for argument #2 'targets' "
                               "(while checking arguments for ctc_loss_allocate_outputs)")
    # The operator is written out in time: what is filled up to few sizes needs few programs.
    times, n = log_probs.shape[0], targets.shape[-1]
    more, late = (-k % max(4, 1 << k.bit_length() >> by) for k, by in ((n, 3 if targets.dim() > 1 else 1), (times, 3)))
    targets = _ops["pad"](targets, [0, more])
    log_probs = _ops["pad"](log_probs, [0, 0] * (log_probs.dim() - 1) + [0, late])
    return _ops["ctc_loss"](log_probs, targets, *lengths, blank=blank, reduction=reduction, zero_infinity=zero_infinity)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * _C.full(input.shape, 1, input.dtype)
    elif bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape and input.shape[:-1] != var.shape and not (
            input.dim() == var.dim() and sum(a != b for a, b in zip(input.shape, var.shape)) == 1 and 1 in var.shape):
        raise ValueError("var is of incorrect size")
    if var.dim() == input.dim():
        var = var.expand(input.shape)
    return _ops["gaussian_nll_loss"](input, target, var, full=full, eps=eps, reduction=reduction)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return _ops["max_pool2d"](input, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode, return_indices=return_indices)


def rrelu(input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False):
    return _placed(input, _rrelu(input, lower, upper, training), inplace)


def _rrelu(input, lower, upper, training):
    if not lower <= upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return _ops["leaky_relu"](input, (lower + upper) / 2)
    # PyTorch draws a slope only where the element is not positive.
    slopes = [1.0] * input.numel()
    low = _C.nonzero((input.detach() <= 0).reshape(-1))[0].tolist()
    for at, v in zip(low, _C.values(_C.uniform((len(low),), lower, upper, _C.float64))):
        slopes[at] = v
    return input * _C.tensor(slopes, input.dtype).reshape(input.shape)


def hardshrink(input, lambd=0.5):
    return _ops["where"](input.abs() > lambd, input, 0.0)


def softshrink(input, lambd=0.5):
    if not lambd >= 0:
        raise RuntimeError(f"lambda must be in range [0, 3.40282e+38] for input dtype Float, but found {lambd:g}")
    return _ops["sign"](input) * _ops["relu"](input.abs() - lambd)


def bilinear(input1, input2, weight, bias=None):
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    made = _ops["einsum"]([input1, weight, input2], "...i,oij,...j->...o")
    return made if bias is None else made + bias


def _of_bytes(name):
    """What wraps in PyTorch where the operands are bytes."""
    def function(*args, **kwargs):
        if not args or args[0].dtype != _C.uint8:
            return _ops[name](*args, **kwargs)
        from torch._rare import natives
        return getattr(natives, name)(*args, **kwargs)
    function.__name__ = function.__qualname__ = name
    return function


margin_ranking_loss, pairwise_distance, triplet_margin_loss = map(_of_bytes, ("margin_ranking_loss", "pairwise_distance", "triplet_margin_loss"))


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = _ops["pairwise_distance"] if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _ops["minimum"](far, distance(positive, negative))
    loss = _ops["relu"](near - far + margin)
    return loss if reduction == "none" else loss.sum() if reduction == "sum" else loss.mean()


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    gumbels = -_C.exponential(logits.shape, 1.0).log()
    soft = softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    index = soft.argmax(dim, keepdim=True)
    chosen = _C.full(soft.shape, 0.0).scatter_(dim, index, 1.0)
    return chosen - soft.detach() + soft


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if dropout_p > 0.0:
        scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
        scores = query @ key.transpose(-2, -1) * scale
        if is_causal:
            n, m = query.shape[-2], key.shape[-2]
            attn_mask = _C.full((n, m), True).tril()
        if attn_mask is not None:
            if attn_mask.dtype == _C.bool:
                scores = scores.masked_fill(attn_mask.logical_not(), float("-inf"))
            else:
                scores = scores + attn_mask
        return dropout(softmax(scores, -1), dropout_p) @ value
    made = _ops["scaled_dot_product_attention"](
        query, key, value, attn_mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa)
    # Heads lie inside of positions in what PyTorch's fused kernels give: joining them again is a view.
    fused = made.dim() == 4 and query.shape[-1] == value.shape[-1] and (attn_mask is None or not attn_mask.requires_grad)
    return _C.lie(made, (0, 2, 1, 3)) if fused else made


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    return _ops["im2col"](input, kernel_size, dilation, padding, stride)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    return _ops["col2im"](input, output_size, kernel_size, dilation, padding, stride)


def one_hot(tensor, num_classes=-1):
    if num_classes == -1:
        if not tensor.numel():
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = int(tensor.max().item()) + 1
        if num_classes < 1:
            raise RuntimeError("Class values must be non-negative.")
    return _ops["one_hot"](tensor, num_classes)


def _adaptive(name, rank):
    """With None for a dimension that keeps its size."""
    def pool(input, output_size, *args, **kwargs):
        if isinstance(output_size, (list, tuple)):
            output_size = [input.shape[d - rank] if n is None else n for d, n in enumerate(output_size)]
        return _ops[name](input, output_size, *args, **kwargs)
    return pool


for _rank in (1, 2, 3):
    for _kind in ("avg", "max"):
        globals()[f"adaptive_{_kind}_pool{_rank}d"] = _adaptive(f"adaptive_{_kind}_pool{_rank}d", _rank)
    for _name in (f"max_pool{_rank}d", f"adaptive_max_pool{_rank}d"):
        _here[_name + "_with_indices"] = functools.partial(_here[_name], return_indices=True)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05):
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, 0.0, eps)
    if running_mean is not None:
        x = input.detach()
        dims = list(range(2, x.dim()))
        running_mean.copy_(running_mean * (1 - momentum) + x.mean(dims).mean(0) * momentum)
        running_var.copy_(running_var * (1 - momentum) + x.var(dims).mean(0) * momentum)
    if input.shape[2:].numel() == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    return group_norm(input.contiguous(), input.shape[1], weight, bias, eps=eps)


def _in_place(name):
    def function(input, *args, **kwargs):
        return input.copy_(globals()[name](input, *args, **kwargs))
    return function


for _name in "relu elu celu selu hardtanh leaky_relu threshold".split():
    _here[_name + "_"] = getattr(Tensor, _name + "_")
rrelu_ = _in_place("rrelu")


def upsample_nearest(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, *args, **kwargs):
    if align_corners is not None and mode in ("nearest", "area", "nearest-exact"):
        raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    wants = {"linear": 3, "bilinear": 4, "trilinear": 5}.get(mode, input.dim())
    if wants != input.dim() in (3, 4, 5):
        raise NotImplementedError(f"Got {input.dim()}D input, but {mode} mode needs {wants}D input")
    if input.dtype == _C.uint8 and mode in ("bilinear", "bicubic") and input.dim() == 4:
        # Bytes are rounded after each of both directions.
        for at in (1, 0):
            parts = [v if v is None else [v[d] if d == at else same for d, same in enumerate((input.shape[2:], (1.0, 1.0))[k])]
                     for k, v in enumerate([[v, v] if isinstance(v, (int, float)) else v for v in (size, scale_factor)])]
            input = (_ops["interpolate"](input, *parts, mode, align_corners, *args, **kwargs) + 0.5).floor().clamp(0, 255).to(_C.uint8)
        return input
    return _ops["interpolate"](input, size, scale_factor, mode, align_corners, *args, **kwargs)


upsample = interpolate


__getattr__ = _missing.names("torch.nn.functional", globals())
