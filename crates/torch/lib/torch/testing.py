"""torch.testing."""

from torch._C import Tensor
import torch

_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True, check_dtype=True,
                 check_layout=True, check_stride=False, msg=None):
    if isinstance(actual, (list, tuple)):
        if len(actual) != len(expected):
            raise AssertionError(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        for a, b in zip(actual, expected):
            assert_close(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=check_dtype, msg=msg)
        return
    numbers = not isinstance(actual, Tensor)
    a, b = torch.as_tensor(actual), torch.as_tensor(expected)
    if a.shape != b.shape:
        raise AssertionError(msg or f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}.")
    if check_dtype and a.dtype != b.dtype:
        raise AssertionError(msg or f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}.")
    relative, absolute = _TOLERANCES.get(str(a.dtype)[6:], (0.0, 0.0))
    if numbers and a.dtype.is_floating_point:
        relative, absolute = 1e-7, 1e-7
    rtol, atol = relative if rtol is None else rtol, absolute if atol is None else atol
    apart = torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan).logical_not()
    count = int(apart.sum())
    if count == 0:
        return
    if a.dim() == 0:
        difference = abs(a.item() - b.item())
        raise AssertionError(msg or (
            f"Scalars are not close!\n\nExpected {b.item()} but got {a.item()}.\nAbsolute difference: {difference} (up to {atol} allowed)\n"
            f"Relative difference: {difference / abs(b.item()) if b.item() else float('inf')} (up to {rtol} allowed)"))
    differences = (a - b).abs().to(torch.get_default_dtype())
    relatives = differences / b.abs()

    def place(x):
        at, index = x.reshape(-1).argmax().item(), []
        for n in reversed(list(x.shape)):
            index.insert(0, at % n)
            at //= n
        return tuple(index)

    raise AssertionError(msg or (
        f"Tensor-likes are not close!\n\nMismatched elements: {count} / {a.numel()} ({100 * count / a.numel():.1f}%)\n"
        f"Greatest absolute difference: {differences.max().item()} at index {place(differences)} (up to {atol} allowed)\n"
        f"Greatest relative difference: {relatives.max().item()} at index {place(relatives)} (up to {rtol} allowed)"))


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)
