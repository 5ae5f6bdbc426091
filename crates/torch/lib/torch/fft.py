"""torch.fft, on the operators of the table: complex numbers are pairs there."""

from torch import _C
from torch._complex import pairs
import _missing
import math

_ops = _C._ops
_wrap = _C.complexed


def _single(input):
    """`complex64` is all there is: a signal of `float64` is transformed as one of `float32`."""
    return input.float() if input.dtype is _C.float64 else input


def _along(row, real_in=False, real_out=False):
    def transform(input, n=None, dim=-1, norm=None, *, out=None):
        dim = dim if dim >= 0 else dim + input.dim()
        if real_in and input.dtype.is_complex:
            raise RuntimeError(f"{row} expects a real input tensor, but got ComplexFloat")
        made = _ops[row](input.to(_C.get_default_dtype()) if real_in else pairs(_single(input)), n, dim, norm)
        return made.to(input.dtype) if real_out and input.dtype is _C.float64 else made if real_out else _wrap(made)
    return transform


fft, ifft = _along("fft"), _along("ifft")
rfft, irfft = _along("rfft", real_in=True), _along("irfft", real_out=True)


def _sides(input, s, dim):
    """Dimensions and the length along each, `None` for its own."""
    s = [s] if isinstance(s, int) else s
    if dim is None:
        dim = list(range(input.dim()))[-len(s):] if s is not None else list(range(input.dim()))
    dims = [dim] if isinstance(dim, int) else list(dim)
    return [None] * len(dims) if s is None else [None if n == -1 else n for n in s], dims


def _each(transform):
    """Along several dimensions, one after the other."""
    def transforms(input, s=None, dim=None, norm=None, *, out=None):
        for n, d in zip(*_sides(input, s, dim)):
            input = transform(input, n, d, norm)
        return input
    return transforms


fftn, ifftn = _each(fft), _each(ifft)


def hfft(input, n=None, dim=-1, norm=None, *, out=None):
    """Of half of a signal whose transform is real: backward and forward take the other's scale."""
    return irfft(input.conj(), n, dim, {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm))


def ihfft(input, n=None, dim=-1, norm=None, *, out=None):
    return rfft(input, n, dim, {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)).conj()


def rfftn(input, s=None, dim=None, norm=None, *, out=None):
    s, dim = _sides(input, s, dim)
    made = rfft(input, s[-1], dim[-1], norm)
    for n, d in zip(s[:-1], dim[:-1]):
        made = fft(made, n, d, norm)
    return made


def irfftn(input, s=None, dim=None, norm=None, *, out=None):
    return _to_real("irfftn", ifft, irfft, input, s, dim, norm)


def hfftn(input, s=None, dim=None, norm=None, *, out=None):
    return _to_real("hfftn", fft, hfft, input, s, dim, norm)


def _to_real(name, first, last, input, s, dim, norm):
    """Complex transforms along all dimensions but the last, whose gives real numbers."""
    s, dim = _sides(input, s, dim)
    if not dim:
        raise RuntimeError(f"{name} must transform at least one axis")
    made = input
    for n, d in zip(s[:-1], dim[:-1]):
        made = first(made, n, d, norm)
    made = last(made, s[-1], dim[-1], norm)
    return made.to(input.dtype) if input.dtype is _C.float64 else made


def ihfftn(input, s=None, dim=None, norm=None, *, out=None):
    s, dim = _sides(input, s, dim)
    if not dim:
        raise RuntimeError("ihfftn must transform at least one axis")
    made = ihfft(input, s[-1], dim[-1], norm)
    for n, d in zip(s[:-1], dim[:-1]):
        made = ifft(made, n, d, norm)
    return made


def _two(transforms):
    return lambda input, s=None, dim=(-2, -1), norm=None, *, out=None: transforms(input, s, dim, norm)


fft2, ifft2, rfft2, irfft2, hfft2, ihfft2 = [_two(f) for f in (fftn, ifftn, rfftn, irfftn, hfftn, ihfftn)]


def _shift(input, dim, by):
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    for d in dims:
        input = input.roll([by(input.shape[d])], [d if d >= 0 else d + input.dim()])
    return input


def fftshift(input, dim=None):
    return _shift(input, dim, lambda n: n // 2)


def ifftshift(input, dim=None):
    return _shift(input, dim, lambda n: (n + 1) // 2)


def fftfreq(n, d=1.0, *, dtype=None, device=None, requires_grad=False, out=None):
    return _C.tensor([(i if i < (n + 1) // 2 else i - n) / (n * d) for i in range(n)], dtype or _C.get_default_dtype())


def rfftfreq(n, d=1.0, *, dtype=None, device=None, requires_grad=False, out=None):
    return _C.tensor([i / (n * d) for i in range(n // 2 + 1)], dtype or _C.get_default_dtype())


def _window(window, win_length, n_fft, kind):
    window = _C.full((win_length,), 1.0, kind) if window is None else window
    left = (n_fft - win_length) // 2
    return _ops["pad"](window, [left, n_fft - win_length - left])


def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None,
         return_complex=None, align_to_window=None):
    if return_complex is None and not input.dtype.is_complex:
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further require that "
                           "return_complex=True in a future PyTorch release.")
    hop, size = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    is_complex = input.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if is_complex:
        x = pairs(input).movedim(-1, 0)
    else:
        x = input.unsqueeze(0)
    flat = x.dim() == 2
    x = x.unsqueeze(1) if flat else x
    if center:
        x = _ops["pad"](x, [n_fft // 2, n_fft // 2], mode=pad_mode)
    window, frames = _window(window, size, n_fft, x.dtype), x.unfold(-1, n_fft, hop)
    if is_complex:
        made = fft(_wrap(frames.movedim(0, -1).clone()) * window)
        made = made[..., :n_fft // 2 + 1] if onesided else made
    else:
        frames = frames[0] * window
        made = rfft(frames) if onesided is None or onesided else fft(frames)
    made = made.transpose(-2, -1)
    made = made * (1.0 / math.sqrt(n_fft)) if normalized else made
    made = made.squeeze(0) if flat else made
    return made if return_complex or is_complex else _C.pairs(made).to(input.dtype)


def istft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None,
          return_complex=False):
    hop, size = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    flat = input.dim() == 2
    x = input.unsqueeze(0) if flat else input
    x = x.transpose(-2, -1) * (math.sqrt(n_fft) if normalized else 1.0)
    if return_complex:
        raise NotImplementedError("istft(return_complex=True)")
    frames = irfft(x if onesided is not False else x[..., :n_fft // 2 + 1], n_fft)
    w = _window(window, size, n_fft, frames.dtype)
    count = frames.shape[1]
    whole = n_fft + hop * (count - 1)

    def add(parts):
        # [N, frames, n_fft] overlapping at their places.
        return _ops["col2im"](parts.transpose(1, 2), [1, whole], [1, n_fft], 1, 0, [1, hop]).reshape(parts.shape[0], whole)
    made = add(frames * w) / add((w * w).expand(1, count, n_fft)).clamp(min=1e-11)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else whole - start
    made = made[:, start:end]
    if length is not None and made.shape[1] < length:
        made = _ops["pad"](made, [0, length - made.shape[1]])
    return made.squeeze(0) if flat else made


__getattr__ = _missing.names("torch.fft", globals())
