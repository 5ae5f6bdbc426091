import numpy as np

rng = np.random.default_rng(42)
print(rng.random(3), rng.normal(size=(2, 3)), rng.integers(0, 10, size=5), rng.uniform(-1, 1, 3))
print(
    rng.choice(10, 4, replace=False),
    rng.permutation(6),
    rng.choice(["a", "b", "c"], 3, p=[0.5, 0.3, 0.2]).tolist() if False else rng.choice(3, 3, p=[0.5, 0.3, 0.2]),
    rng.standard_normal(2),
)
x = np.arange(5)
rng.shuffle(x)
print(x, rng.integers(5), round(float(rng.random()), 6))
np.random.seed(0)
print(
    np.random.beta(0.4, 0.4),
    np.random.beta(2, 3),
    np.random.gamma(2.0, size=3),
    np.random.binomial(1, 0.3, 8),
    np.random.poisson(3, 5),
    np.random.poisson(20, 3),
    np.random.dirichlet([1, 2, 3]),
)
print(np.random.choice(5, 3, replace=False, p=[0.1, 0.2, 0.3, 0.2, 0.2]), np.random.laplace(size=2), np.random.binomial(10, 0.5, 3))
A = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
b = np.array([1.0, 2, 3])
print(np.linalg.inv(A))
print(np.linalg.solve(A, b), np.linalg.det(A).round(6))
w, v = np.linalg.eigh(A)
print(w, np.abs(v @ np.diag(w) @ v.T - A).max() < 1e-10)
u, s, vt = np.linalg.svd(A)
print(s, u.shape, np.allclose(u * s @ vt, A))
q, r = np.linalg.qr(A)
print(q)
print(r.round(4))
print(np.linalg.cholesky(A))
print(
    np.linalg.matrix_rank(A),
    np.linalg.pinv(A[:, :2]).shape,
    np.linalg.norm(A),
    np.linalg.norm(A, 2),
    np.linalg.norm(A, 1),
    np.linalg.cond(A),
)
X = np.column_stack([np.ones(5), np.arange(5)])
y = np.array([1.0, 3, 5, 7, 9.5])
print(np.linalg.lstsq(X, y, rcond=None)[0], np.polyfit(np.arange(5), y, 1), np.polyval([1, 2, 3], 2))
try:
    np.linalg.inv(np.ones((2, 2)))
except np.linalg.LinAlgError as e:
    print(type(e).__name__, e)
print(
    np.einsum("ij,jk->ik", A, A),
    np.einsum("ii", A),
    np.einsum("ij->j", A),
    np.einsum("bij,bjk->bik", np.ones((2, 2, 3)), np.ones((2, 3, 2))).shape,
    np.einsum("i,j->ij", b, b),
    np.einsum("...i,...i->...", A, A),
)
print(
    np.cov(A),
    np.corrcoef(A)[0, 1],
    np.interp([0.5, 1.5], [0, 1, 2], [0, 10, 20]),
    np.gradient(np.array([1.0, 4, 9, 16])),
    np.convolve([1, 2, 3], [0, 1, 0.5]),
    np.convolve([1, 2, 3, 4], [1, 1], "valid"),
    np.convolve([1.0, 2, 3, 4], np.ones(3) / 3, mode="same"),
)
print(
    np.tril_indices(3),
    np.delete([1, 2, 3, 4], 1),
    np.insert([1, 2, 3], 1, 9),
    np.digitize([0.2, 6.4, 3], [0, 1, 2.5, 4]),
    np.union1d([1, 2], [2, 3]),
    np.setdiff1d([1, 2, 3], [2]),
    np.intersect1d([1, 2, 3], [2, 3, 4]),
)
print(
    np.c_[[1, 2], [3, 4]],
    np.r_[1:4, 0, 4],
    np.nanmean([1, np.nan, 3]),
    np.take_along_axis(A, np.argsort(A, 1), 1),
    np.unravel_index(5, (2, 3)),
    np.trapezoid([1, 2, 3]),
    np.deg2rad(180),
    np.kron(np.eye(2), np.ones((1, 2))),
)
print(
    np.mgrid[0:2, 0:3].shape,
    np.apply_along_axis(lambda r: r.sum(), 1, A),
    np.vectorize(lambda a: a * 2)(np.arange(3)),
    np.select([A > 3, A > 1], [1, 2], 0),
    np.cross([1, 0, 0], [0, 1, 0]),
    np.trace(A),
    np.tensordot(A, A, 1)[0],
    np.atleast_2d([1, 2]).shape,
    np.median(A),
    np.fill_diagonal(A, 0),
    A,
)
print(
    np.finfo(np.float32).eps,
    np.finfo(np.float32).max,
    np.lexsort(([1, 2, 1], [3, 1, 2])),
    np.isclose(1, 1 + 1e-9),
    np.array_equal([1], [1]),
    np.float32(1.5) * 2,
    np.ix_([0, 1], [1, 2]),
)
