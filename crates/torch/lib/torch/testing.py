"""torch.testing."""

from collections.abc import Mapping
from torch._C import Tensor
import torch

_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
               "complex64": (1.3e-6, 1e-5)}


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True, check_dtype=True,
                 check_layout=True, check_stride=False, msg=None):
    if (rtol is None) != (atol is None):
        raise ValueError("Both 'rtol' and 'atol' must be either specified or unspecified, but got "
                         f"no {'rtol' if rtol is None else 'atol'}.")
    for path, a, b in list(_pairs(actual, expected, ())):
        found = _difference(a, b, rtol, atol, equal_nan, check_dtype, check_stride)
        if found:
            found += f"\n\nThe failure occurred for item {''.join([f'[{p!r}]' for p in path])}" if path else ""
            raise AssertionError(found if msg is None else msg(found) if callable(msg) else msg)


def _pairs(a, b, path):
    """What lies at the same places of lists and mappings."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        missing, more = [k for k in b if k not in a], [k for k in a if k not in b]
        if missing or more:
            raise AssertionError("The keys of the mappings do not match:\n"
                                 f"Missing keys in the actual mapping: {sorted(missing)}\nAdditional keys in the actual mapping: {sorted(more)}")
        for key in a:
            yield from _pairs(a[key], b[key], path + (key,))
    elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        if len(a) != len(b):
            raise AssertionError(f"The length of the sequences mismatch: {len(a)} != {len(b)}")
        for i, (x, y) in enumerate(zip(a, b)):
            yield from _pairs(x, y, path + (i,))
    else:
        yield path, a, b


def _difference(a, b, rtol, atol, equal_nan, check_dtype, check_stride):
    """Why two values do not go for equal, in words, or nothing."""
    if a is None or b is None:
        return "" if a is b else f"None mismatch: {a} is not {b}"
    if isinstance(a, bool) and isinstance(b, bool):
        return "" if a is b else f"Booleans mismatch: {a} is not {b}"
    if isinstance(a, (int, float, complex)) and isinstance(b, (int, float, complex)):
        if rtol is None:
            rtol, atol = (0.0, 0.0) if isinstance(a, int) and isinstance(b, int) else (1e-7, 1e-7)
        if a == b or abs(a - b) <= atol + rtol * abs(b) or equal_nan and a != a and b != b:
            return ""
        return _scalars(a, b, rtol, atol)
    if not (isinstance(a, Tensor) or hasattr(a, "dtype")) or type(a) is not type(b) and not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        raise TypeError(f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}.")
    a, b = torch.as_tensor(a), torch.as_tensor(b)
    for name, checked in (("shape", True), ("dtype", check_dtype), ("stride()", check_stride)):
        one, other = (a.stride(), b.stride()) if name == "stride()" else (getattr(a, name), getattr(b, name))
        if checked and one != other:
            return f"The values for attribute '{name}' do not match: {one} != {other}."
    if rtol is None:
        several = [_TOLERANCES.get(str(x.dtype)[6:], (0.0, 0.0)) for x in (a, b)]
        rtol, atol = max([s[0] for s in several]), max([s[1] for s in several])
    return _tensors(a, b, rtol, atol, equal_nan)


def _tensors(a, b, rtol, atol, equal_nan):
    apart = torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan).logical_not()
    count = int(apart.sum())
    if count == 0:
        return ""
    if a.dim() == 0:
        return _scalars(a.item(), b.item(), rtol, atol)
    a, b = [x.long() if x.dtype == torch.bool else x for x in (a, b)]
    differences = torch.where(apart, (a - b).abs(), 0).reshape(-1)
    relatives = torch.where(apart.reshape(-1), differences / b.abs().reshape(-1), 0.0)
    whole = not a.dtype.is_floating_point and not a.dtype.is_complex

    def greatest(x, whole):
        at = x.argmax().item()
        value, index = x[at].item(), []
        for n in reversed(list(a.shape)):
            index.insert(0, at % n)
            at //= n
        return int(value) if whole else value, tuple(index)
    return _words("Tensor-likes", f"Mismatched elements: {count} / {a.numel()} ({count / a.numel():.1%})", greatest(differences, whole),
                  greatest(relatives, False), rtol, atol)


def _scalars(a, b, rtol, atol):
    difference = abs(a - b)
    return _words("Scalars", f"Expected {b} but got {a}.", (difference, None), (float("inf") if b == 0 else difference / abs(b), None), rtol, atol)


def _words(what, counted, absolute, relative, rtol, atol):
    equal = rtol == 0 and atol == 0
    lines = [f"{what} are not {'equal' if equal else 'close'}!", "", counted]
    for kind, (value, index), tolerance in (("absolute", absolute, atol), ("relative", relative, rtol)):
        text = f"{kind.title()} difference: {value}" if index is None else f"Greatest {kind} difference: {value} at index {index}"
        lines.append(text if equal else text + f" (up to {tolerance} allowed)")
    return "\n".join(lines)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    assert_close(torch.as_tensor(actual), torch.as_tensor(expected), rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def make_tensor(*shape, dtype, device=None, low=None, high=None, requires_grad=False, **others):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    if dtype.is_floating_point:
        low, high = -9 if low is None else low, 9 if high is None else high
        return (torch.rand(shape, dtype=dtype) * (high - low) + low).requires_grad_(requires_grad)
    low, high = (0, 2) if dtype == torch.bool else (-9 if low is None else low, 10 if high is None else high)
    return torch.randint(low, high, shape).to(dtype)
