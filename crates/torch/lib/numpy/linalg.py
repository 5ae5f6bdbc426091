"""numpy.linalg: decompositions in float64."""

from collections import namedtuple
import _numpy
import math
import numpy as np


class LinAlgError(ValueError):
    pass


LinAlgError.__module__ = "numpy.linalg"


def _floats(a):
    a = np._as(a)
    if a.dtype.kind == "c":
        raise NotImplementedError("numpy.linalg of complex matrices: inv, solve, det, cholesky, eigvalsh and svdvals are there; torch.linalg has others")
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


def _complex(a):
    return np._as(a).dtype.kind == "c"


def _doubled(a):
    """A complex matrix as a real one of twice the size: of its rules, and with its eigenvalues and singular values twice each."""
    a = np._as(a)
    return np.concatenate([np.concatenate([a.real, -a.imag], -1), np.concatenate([a.imag, a.real], -1)], -2)


def inv(a):
    if _complex(a):
        n, made = np._as(a).shape[-1], inv(_doubled(a))
        return made[..., :n, :n] + 1j * made[..., n:, :n]
    return _made(_numpy.matrices("inv", _square(a)), "Singular matrix")[0]


def solve(a, b):
    if _complex(a) or _complex(b):
        a, b = np._as(a), np._as(b)
        made = solve(_doubled(a), np.concatenate([b.real, b.imag], -2 if b.ndim > 1 else -1))
        n = a.shape[-1]
        return made[:n] + 1j * made[n:] if b.ndim == 1 else made[..., :n, :] + 1j * made[..., n:, :]
    a, b = _square(a), _floats(b)
    vector = b.ndim == 1
    right = b.reshape(-1, 1) if vector else b
    x = _made(_numpy.matrices("solve", a, right), "Singular matrix")[0]
    return x.reshape(-1) if vector else x


def slogdet(a):
    sign, log, _ = _numpy.matrices("slogdet", _square(a))
    return SlogdetResult(_number(sign), _number(log))


SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
QRResult, SVDResult = namedtuple("QRResult", "Q R"), namedtuple("SVDResult", "U S Vh")
EigResult, EighResult = namedtuple("EigResult", "eigenvalues eigenvectors"), namedtuple("EighResult", "eigenvalues eigenvectors")


def _eliminated(a):
    """The determinant of a complex matrix, by Gauss's elimination with the largest pivots."""
    rows, made = a.tolist(), 1.0 + 0j
    for i in range(len(rows)):
        best = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        if not rows[best][i]:
            return 0j
        if best != i:
            rows[i], rows[best], made = rows[best], rows[i], -made
        made *= rows[i][i]
        for r in range(i + 1, len(rows)):
            share = rows[r][i] / rows[i][i]
            rows[r] = [v - share * w for v, w in zip(rows[r], rows[i])]
    return made


def det(a):
    if _complex(a):
        a = np._as(a)
        made = [_eliminated(m) for m in a.reshape(-1, *a.shape[-2:])]
        return np._scalar(made[0]) if a.ndim == 2 else np.array(made).reshape(a.shape[:-2])
    return _number(_numpy.matrices("slogdet", _square(a))[2])


def cholesky(a, *, upper=False):
    if _complex(a):
        rows, n = np._as(a).tolist(), len(a)
        low = [[0j] * n for _ in range(n)]
        for i in range(n):
            for j in range(i + 1):
                left = rows[i][j] - sum([low[i][k] * low[j][k].conjugate() for k in range(j)])
                if i == j and left.real <= 0:
                    raise LinAlgError("Matrix is not positive definite")
                low[i][j] = complex(math.sqrt(left.real)) if i == j else left / low[j][j]
        return np.array(low).T.conj() if upper else np.array(low)
    low = _made(_numpy.matrices("cholesky", _square(a)), "Matrix is not positive definite")[0]
    return np.swapaxes(low, -1, -2) if upper else low


def qr(a, mode="reduced"):
    if mode not in ("reduced", "complete", "r"):
        raise NotImplementedError(f"numpy.linalg.qr(mode={mode!r})")
    a = _floats(a)
    q, r = _numpy.matrices("qr", a)
    if mode == "complete" and a.shape[-2] > a.shape[-1]:
        q = _completed(q, a.shape[-2])
        r = np.concatenate([r, np.zeros((a.shape[-2] - r.shape[-2], r.shape[-1]), r.dtype)], -2)
    return r if mode == "r" else QRResult(q, r)


def eigh(a, UPLO="L"):
    a = _square(a)
    return EighResult(*_made(_numpy.matrices("eigh", np.swapaxes(a, -1, -2) if UPLO == "U" else a), "Eigenvalues did not converge"))


def eigvalsh(a, UPLO="L"):
    if _complex(a):
        # The triangle that is named says what the other is.
        a = np._as(a)
        part = np.tril(np.ones(a.shape[-2:]), -1) if UPLO == "L" else np.triu(np.ones(a.shape[-2:]), 1)
        real, imag = a.real * part, a.imag * part
        whole = real + np.swapaxes(real, -1, -2) + np.eye(a.shape[-1]) * a.real + 1j * (imag - np.swapaxes(imag, -1, -2))
        return eigvalsh(_doubled(whole))[..., ::2]
    return eigh(a, UPLO)[0]


def eig(a):
    a = _square(a)
    if np.allclose(a, np.swapaxes(a, -1, -2), rtol=1e-14, atol=0):
        return EigResult(*eigh(a))
    if a.ndim > 2:
        raise NotImplementedError("numpy.linalg.eig of batches of matrices that are not symmetric")
    values = eigvals(a)
    if np.iscomplexobj(values):
        raise NotImplementedError("numpy.linalg.eig of a matrix whose eigenvalues are complex; eigvals gives them")
    # What a matrix less its eigenvalue takes to nothing, by inverse iteration from a vector that is near none.
    n, columns = len(a), []
    spread = float(np.absolute(a).max()) * 1e-10 or 1e-10
    for i, value in enumerate(values.tolist()):
        shifted = a - np.eye(n) * (value + spread * (i + 1))
        x = np.cos(np.arange(n) * 1.7 + i)
        for _ in range(6):
            x = solve(shifted, x)
            x = x / np.sqrt(np.square(x).sum())
        columns.append(x)
    return EigResult(values, np.stack(columns, 1))


def eigvals(a):
    a = _square(a)
    if np.allclose(a, np.swapaxes(a, -1, -2), rtol=1e-14, atol=0):
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
    return SVDResult(u, s, vh)


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
    if _complex(x):
        return svd(_doubled(x), compute_uv=False)[..., ::2]
    return svd(x, compute_uv=False)


def pinv(a, rcond=None):
    a = _floats(a)
    u, s, vh = svd(a, False)
    limit = (1e-15 if rcond is None else rcond) * s.max(-1, keepdims=True)
    inverse = np.where(s > limit, 1.0 / np.where(s > limit, s, 1.0), 0.0)
    return np.swapaxes(vh, -1, -2) @ (inverse[..., None] * np.swapaxes(u, -1, -2))


def matrix_rank(A, tol=None):
    A = _floats(A)
    if A.ndim < 2:
        return int(np.any(A))
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
    made = np._as(arrays[0])
    for a in arrays[1:]:
        made = made @ np._as(a)
    return made


def tensorinv(a, ind=2):
    a = np._as(a)
    n = math.prod(a.shape[ind:])
    return inv(a.reshape(-1, n)).reshape(a.shape[ind:] + a.shape[:ind])


def tensorsolve(a, b, axes=None):
    if axes is not None:
        raise NotImplementedError("numpy.linalg.tensorsolve(axes=..)")
    a, b = np._as(a), np._as(b)
    return solve(a.reshape(b.size, -1), b.reshape(-1)).reshape(a.shape[b.ndim:])


def norm(x, ord=None, axis=None, keepdims=False):
    x = np._as(x)
    if x.dtype.kind in "biu":
        x = x.astype("float64")
    if ord is None or (ord == "fro" and x.ndim == 2) or (ord == 2 and (x.ndim == 1 or isinstance(axis, int))) or \
            ord == "fro" and isinstance(axis, tuple):
        return np.sqrt(np.square(x).sum(axis, keepdims=keepdims))
    if isinstance(axis, tuple) and len(axis) == 2 or x.ndim == 2 and axis is None:
        axes = (0, 1) if axis is None else axis
        made = _matrix_norm(np.moveaxis(x, axes, (-2, -1)), ord)
        return np.expand_dims(made, axes) if keepdims else made
    size = np.absolute(x)
    if ord in (math.inf, -math.inf):
        return size.max(axis, keepdims=keepdims) if ord > 0 else size.min(axis, keepdims=keepdims)
    if ord == 0:
        return (size != 0).sum(axis, keepdims=keepdims).astype("float64")
    if ord == 1:
        return size.sum(axis, keepdims=keepdims)
    return (size ** ord).sum(axis, keepdims=keepdims) ** (1.0 / ord)


def _matrix_norm(x, ord):
    if ord == "nuc" or isinstance(ord, (int, float)) and abs(ord) == 2:
        s = svdvals(x)
        return _number(s.sum(-1) if ord == "nuc" else s.max(-1) if ord > 0 else s.min(-1))
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError("Invalid norm order for matrices.")
    sums = np.absolute(x).sum(-2 if abs(ord) == 1 else -1)
    return _number(np._as(sums.max(-1) if ord > 0 else sums.min(-1)))


def vecdot(x1, x2, /, *, axis=-1):
    return np.vecdot(x1, x2, axis=axis)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    x = np._as(x)
    made = norm(x.reshape(-1) if axis is None else x, ord, axis)
    return np.reshape(made, [1 if axis is None or d == axis % x.ndim else n for d, n in enumerate(x.shape)]) if keepdims else made


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return norm(x, ord, (-2, -1), keepdims)


def trace(x, /, *, offset=0, dtype=None):
    return np.trace(x, offset, -2, -1, dtype)


def diagonal(x, /, *, offset=0):
    return np.diagonal(x, offset, -2, -1)


def matmul(x1, x2, /):
    return np.matmul(x1, x2)


def cross(x1, x2, /, *, axis=-1):
    return np.cross(x1, x2, axis=axis)


matrix_transpose = lambda x: np.swapaxes(x, -1, -2)


def outer(a, b):
    return np.outer(a, b)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'numpy.linalg' has no attribute '{name}'")
    from _missing import _Missing
    raise _Missing(f"numpy.linalg.{name} is not there")
