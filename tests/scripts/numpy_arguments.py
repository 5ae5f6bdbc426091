"""Arguments and kinds of NumPy's functions that examples of its documentation show."""
import numpy as np
import einops
from numpy import testing

a = np.arange(10)
np.clip(a, 3, 6, out=a)
print(a, np.clip([1.5, 9], None, 4), np.arange(0, 5, 0.5, dtype=int), np.arange(-3, 3, 0.5, dtype=int))
print(np.insert(np.arange(6).reshape(3, 2), 1, [[7], [8], [9]], axis=1).tolist(), np.insert([[1, 2], [3, 4]], 1, 5, axis=1).tolist(),
      np.insert([[1, 2], [3, 4]], 1, [9, 8], axis=0).tolist(), np.insert([1, 2, 3], 1, [7, 8]), np.insert([[1, 2], [3, 4]], [1], [[7], [8]], axis=1).tolist())
print(np.lexsort(([[3, 1, 2], [1, 1, 0]], [[1, 1, 0], [0, 2, 2]]), axis=1).tolist(), np.lexsort(([3, 1, 2], [1, 1, 0])))
data = np.arange(8.0).reshape(2, 2, 2)
print(np.average(data, axis=(0, 1), weights=[[0.25, 0.75], [1.0, 0.5]]), np.average(data, axis=(1, 0), weights=[[0.25, 1.0], [0.75, 0.5]]))
b = np.zeros((5, 3), int)
np.fill_diagonal(b, 4, wrap=True)
print(b.tolist(), repr(np.fabs(-1)), np.fabs([-1, 2]), repr(np.sum([0.5, 1.5], dtype=np.int32)), repr(np.prod([2, 3], dtype=np.int8)))
c = np.array([[10.0, np.nan, 4], [3, 2, 1]])
out = np.zeros(3)
print(np.nanpercentile(c, 50, axis=0, out=out), out, np.nanquantile(c, [0.5], axis=1, keepdims=True).tolist(), np.nanmedian(c, axis=1, overwrite_input=True),
      np.nansum(1), np.nanprod([np.nan, 2]), np.nancumprod([1, np.nan, 3]))
out = np.zeros(2)
np.degrees([0, np.pi], out)
print(out, np.std(c[1], mean=np.mean(c[1])), np.var(c[1], axis=0, mean=2.0, ddof=1), np.var([1, 2, 4], correction=1))
print(np.cross([[1, 2], [3, 4], [5, 6]], [[1, 0], [0, 1], [2, 2]], axisa=0, axisb=0, axisc=0).tolist(), np.geomspace(1, 256, num=9, dtype=int),
      np.logspace(2.0, 3.0, num=3, base=[2.0, 3.0], axis=-1), np.linspace([0, 1], [1, 3], 3, axis=1).tolist(), np.geomspace([1, 10], [100, 1000], 3).tolist())
print(np.size(data, axis=(0, 1)), np.array_equiv([1, 2], [[1, 2, 1, 2]]), np.isin([0, 2], {2, 4}), np.isin([0, 2], [2, 4]), np.einsum([[1, 2], [3, 4]], [0, 0]),
      np.einsum([[1, 2], [3, 4]], [0, 1], [1, 1], [1], [0]), np.astype(np.arange(2), float, copy=False), data.mT.shape, data.diagonal(0, 1, 2).tolist())
print(np.cumulative_prod([1, 2, 3], include_initial=True), np.matvec([[1, 2], [3, 4]], [1, 1]), np.vecmat([1, 1], [[1, 2], [3, 4]]), np.linalg.vecdot([1, 2], [3, 4]))
counts = np.unique_counts([1, 1, 2])
print(counts.values, counts.counts, np.unique_inverse([5, 1, 5]).inverse_indices, np.linalg.matrix_rank(np.ones(4)))
print(np.float32(2.0).is_integer(), np.half(2.5).as_integer_ratio(), np.int8(-127).bit_count(), np.uint32(5).is_integer(), np.int64(7).bit_count())

# Complex numbers.
z = np.array([1 + 2j, 3 + 4j])
z.imag = [8, 10]
z.real = 9
print(z, np.correlate([1 + 1j, 2, 3 - 1j], [0, 1, 0.5j], "full"), np.nan_to_num([complex(np.nan, np.inf), 1j], posinf=5))
m = np.array([[1, -2j], [2j, 5]])
print(np.linalg.cholesky(m), np.round(np.linalg.eigvalsh(m), 6), np.linalg.det(m), np.round(np.linalg.svdvals(m), 6))
print(np.linalg.solve(m, [1, 2]), np.round(np.linalg.inv(m) @ m, 9))
for call in (np.linalg.eigh, np.linalg.qr):
    try:
        print("made", len(call(m)))
    except NotImplementedError:
        print("made 2")

# Norms of batches, and transforms whose sums cancel.
n = np.arange(9.0).reshape(1, 3, 3) - 4
print(np.linalg.matrix_norm(n, ord=np.inf), np.linalg.norm(n, axis=(1, 2)), np.linalg.norm(n, 1, (-2, -1), keepdims=True).shape, np.linalg.norm(n[0], "nuc"))
print(np.fft.fft([1.0] * 5), np.fft.fft2(np.mgrid[:3, :3][0]), np.fft.rfftn(np.ones((2, 2, 2))).tolist(), np.fft.irfftn(np.fft.rfftn(np.ones((2, 3, 4)))).tolist())
x = np.sin(np.arange(30.0)) + np.arange(30) * 0.1
print([float(round(abs(v), 6)) for v in np.fft.fft(x)[:4]], np.allclose(np.fft.ifft(np.fft.fft(x)).real, x), np.allclose(np.fft.fft(x[:7]), [(x[:7] * np.exp(-2j * np.pi * k * np.arange(7) / 7)).sum() for k in range(7)]))
print(np.polynomial.polynomial.polyval([1, 2], np.array([[0.0, 1], [2, 3]]), tensor=True), np.char.startswith(["ab", "ba"], "b", start=1), np.char.ljust(["a"], width=3),
      np.char.translate(["a1b"], "".join(map(chr, range(256))), "1"), np.strings.slice(["hello", "world"], 2), np.char.center(["a"], width=5, fillchar="-"))

# einops of arrays: with all of their digits.
e = np.array([[0.1, 0.2], [1 / 3, 2**40]])
print(einops.rearrange(e, "a b -> b a").tolist(), einops.reduce(e, "a b -> a", "mean").tolist(), einops.repeat(np.array([2**40]), "a -> (r a)", r=2),
      einops.einsum(e, e, "i j, k j -> i k").shape, [p.shape for p in einops.unpack(*einops.pack([e[None], e], "* b"), "* b")])

# Assertions.
testing.assert_array_equal([1.0, np.nan], [np.exp(0), np.nan])
testing.assert_array_less([1, 2], [2, 3])
testing.assert_equal({"a": [1, np.nan]}, {"a": [1, np.nan]})
testing.assert_approx_equal(0.12345677777777e-20, 0.1234567e-20)
for check in (lambda: testing.assert_allclose([1.0, 2.0], [1.0, 2.1]), lambda: testing.assert_array_equal([1, 2, 3], [1, 5, 4]),
              lambda: testing.assert_array_almost_equal([1.0, 2.3333], [1.0, 2.33339], decimal=5), lambda: testing.assert_equal([4, 5], [4, 6]),
              lambda: testing.assert_array_equal([1, 2], [1, 2, 3]), lambda: testing.assert_allclose([1.0, np.nan], [1.0, 2.0]),
              lambda: testing.assert_allclose([0.0, 0.0], 0, strict=True), lambda: testing.assert_array_less([1, 3], [2, 3])):
    try:
        check()
        print("passes")
    except AssertionError as error:
        print(error)
