"""numpy.linalg: decompositions in float64."""

import _numpy
import math
import numpy as np


class LinAlgError(ValueError):
    pass


LinAlgError.__module__ = "numpy.linalg"


def _floats(a):
    a = np._as(a)
    return a if a.dtype.name in ("float32", "float64") else a.astype("float64")


def _square(a):
    a = _floats(a)
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return a


def _made(found, problem):
    if found is None:
        raise LinAlgError(problem)
    return found


def _number(x):
    return x[()] if x.ndim == 0 else x


def inv(a):
    return _made(_numpy.matrices("inv", _square(a)), "Singular matrix")[0]


def solve(a, b):
    a, b = _square(a), _floats(b)
    vector = b.ndim == 1
    right = b.reshape(-1, 1) if vector else b
    x = _made(_numpy.matrices("solve", a, right), "Singular matrix")[0]
    return x.reshape(-1) if vector else x


def slogdet(a):
    sign, log, _ = _numpy.matrices("slogdet", _square(a))
    return SlogdetResult(_number(sign), _number(log))


class SlogdetResult(tuple):
    def __new__(cls, sign, logabsdet):
        return tuple.__new__(cls, (sign, logabsdet))

    sign = property(lambda self: self[0])
    logabsdet = property(lambda self: self[1])


def det(a):
    return _number(_numpy.matrices("slogdet", _square(a))[2])


def cholesky(a, *, upper=False):
    low = _made(_numpy.matrices("cholesky", _square(a)), "Matrix is not positive definite")[0]
    return np.swapaxes(low, -1, -2) if upper else low


def qr(a, mode="reduced"):
    q, r = _numpy.matrices("qr", _floats(a))
    return r if mode == "r" else (q, r)


def eigh(a, UPLO="L"):
    a = _square(a)
    return _made(_numpy.matrices("eigh", np.swapaxes(a, -1, -2) if UPLO == "U" else a), "Eigenvalues did not converge")


def eigvalsh(a, UPLO="L"):
    return eigh(a, UPLO)[0]


def _symmetric(a, name):
    a = _square(a)
    if not np.allclose(a, np.swapaxes(a, -1, -2)):
        raise NotImplementedError(f"numpy.linalg.{name} of a matrix that is not symmetric: its eigenvalues may be complex")
    return a


def eig(a):
    return eigh(_symmetric(a, "eig"))


def eigvals(a):
    a = _square(a)
    if np.allclose(a, np.swapaxes(a, -1, -2)):
        return eigh(a)[0]
    real, imaginary = _made(_numpy.matrices("eigvals", a), "Eigenvalues did not converge")
    if not np.any(imaginary):
        return real
    return np.array([complex(*v) for v in zip(real.reshape(-1).tolist(), imaginary.reshape(-1).tolist())]).reshape(real.shape)


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    a = _floats(a)
    u, s, vh = _made(_numpy.matrices("svd", a), "SVD did not converge")
    if not compute_uv:
        return s
    if full_matrices and a.shape[-1] != a.shape[-2]:
        u, vh = _completed(u, a.shape[-2]), np.swapaxes(_completed(np.swapaxes(vh, -1, -2), a.shape[-1]), -1, -2)
    return u, s, vh


def _completed(q, n):
    """Orthonormal columns with others beside them that make a basis."""
    missing = n - q.shape[-1]
    if missing == 0:
        return q
    if q.ndim > 2:
        raise NotImplementedError("numpy.linalg.svd(full_matrices=True) of batches; pass full_matrices=False")
    others = _numpy.matrices("svd", np.eye(n) - q @ q.T)[0]
    return np.concatenate([q, others[:, :missing]], 1)


def svdvals(x):
    return svd(x, compute_uv=False)


def pinv(a, rcond=None):
    a = _floats(a)
    u, s, vh = svd(a, False)
    limit = (1e-15 if rcond is None else rcond) * s.max(-1, keepdims=True)
    inverse = np.where(s > limit, 1.0 / np.where(s > limit, s, 1.0), 0.0)
    return np.swapaxes(vh, -1, -2) @ (inverse[..., None] * np.swapaxes(u, -1, -2))


def matrix_rank(A, tol=None):
    A = _floats(A)
    s = svd(A, compute_uv=False)
    eps = 2.220446049250313e-16 if A.dtype.name == "float64" else 1.1920929e-07
    limit = s.max(-1, keepdims=True) * (max(A.shape[-2:]) * eps) if tol is None else tol
    return (s > limit).sum(-1)


def lstsq(a, b, rcond=None):
    a, b = _floats(a), _floats(b)
    m, n = a.shape
    rcond = 2.220446049250313e-16 * max(m, n) if rcond is None else rcond
    s, rank = svd(a, compute_uv=False), 0
    rank = int((s > s.max() * rcond).sum())
    x = pinv(a, rcond) @ b
    left = np.square(a @ x - b).sum(0) if rank == n and m > n else np.zeros(0)
    return x, np.array([float(left)]) if rank == n and m > n and b.ndim == 1 else left, rank, s


def cond(x, p=None):
    if p in (None, 2, -2):
        s = svd(x, compute_uv=False)
        return _number(s[..., 0] / s[..., -1]) if p != -2 else _number(s[..., -1] / s[..., 0])
    return norm(x, p) * norm(inv(x), p)


def matrix_power(a, n):
    a = np._as(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        a = _square(a)
    if n < 0:
        a, n = inv(a), -n
    made = np.eye(a.shape[-1], dtype=a.dtype)
    for _ in range(n):
        made = made @ a
    return made


def multi_dot(arrays):
    made = arrays[0]
    for a in arrays[1:]:
        made = made @ a
    return made


def norm(x, ord=None, axis=None, keepdims=False):
    x = np._as(x)
    if x.dtype.kind in "biu":
        x = x.astype("float64")
    if ord is None or (ord == "fro" and x.ndim == 2) or (ord == 2 and (x.ndim == 1 or isinstance(axis, int))):
        return np.sqrt(np.square(x).sum(axis, keepdims=keepdims))
    if x.ndim == 2 and axis is None:
        return _matrix_norm(x, ord)
    size = np.absolute(x)
    if ord in (math.inf, -math.inf):
        return size.max(axis, keepdims=keepdims) if ord > 0 else size.min(axis, keepdims=keepdims)
    if ord == 0:
        return (size != 0).sum(axis, keepdims=keepdims).astype("float64")
    if ord == 1:
        return size.sum(axis, keepdims=keepdims)
    return (size ** ord).sum(axis, keepdims=keepdims) ** (1.0 / ord)


def _matrix_norm(x, ord):
    if ord == "nuc" or abs(ord) == 2:
        s = svd(x, compute_uv=False)
        return s.sum() if ord == "nuc" else s.max() if ord > 0 else s.min()
    sums = np.absolute(x).sum(0 if abs(ord) == 1 else 1)
    return sums.max() if ord > 0 else sums.min()


vector_norm = norm


def outer(a, b):
    return np.outer(a, b)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'numpy.linalg' has no attribute '{name}'")
    raise NotImplementedError(f"numpy.linalg.{name} is not there")
