"""torch.linalg: decompositions are computed on the host in float64, their derivatives are operators."""

import _missing
import functools
from torch import _C
from torch._functions import _into, _named, tied
from torch.autograd.function import Function
import torch

_ops = _C._ops


class LinAlgError(RuntimeError):
    pass


LinAlgError.__module__ = "torch._C"
LinAlgError.__qualname__ = LinAlgError.__name__ = "_LinAlgError"


def _square(name, A):
    if A.dim() < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"linalg.{name}: A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} matrices")


def _singular(name, A, what):
    """PyTorch's error, with the first diagonal element that is zero."""
    at = A.shape[-1]
    if A.dim() == 2:
        for k in range(A.shape[-1]):
            if matrix_rank(A.detach()[:, :k + 1]).item() <= k:
                at = k + 1
                break
    raise LinAlgError(f"linalg.{name}: The diagonal element {at} is zero, {what} because the input matrix is singular.")


class _Inverse(Function):
    @staticmethod
    def forward(ctx, A):
        made = _C.matrices("inv", A)
        if made is None:
            _singular("inv", A, "the inversion could not be completed")
        ctx.save_for_backward(made[0])
        return made[0]

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return -(x.mT @ g @ x.mT)


def inv(A):
    _square("inv", A)
    return _Inverse.apply(A)


class _Solve(Function):
    @staticmethod
    def forward(ctx, A, B):
        made = _C.matrices("solve", A, B)
        if made is None:
            raise LinAlgError("torch.linalg.solve: The solver failed because the input matrix is singular.")
        ctx.save_for_backward(A, made[0])
        return made[0]

    @staticmethod
    def backward(ctx, g):
        A, x = ctx.saved_tensors
        b = _Solve.apply(A.mT, g)
        return -(b @ x.mT), b


def solve(A, B, *, left=True):
    _square("solve", A)
    if not left:
        return solve(A.mT, B.mT).mT
    vector = B.dim() == 1 or (B.dim() == A.dim() - 1 and tuple(B.shape) == tuple(A.shape[:-1]))
    B = B.unsqueeze(-1) if vector else B
    if A.shape[-1] != B.shape[-2]:
        raise RuntimeError(f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({A.shape[-2]}x{A.shape[-1]} and "
                           f"{B.shape[-2]}x{B.shape[-1]})")
    lead = torch.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    x = _Solve.apply(A.expand(*lead, *A.shape[-2:]), B.expand(*lead, *B.shape[-2:]))
    return x.squeeze(-1) if vector else x


def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    return _ops["linalg_solve_triangular"](A, B, upper=upper, left=left, unitriangular=unitriangular)


def householder_product(A, tau):
    """The product of the reflections 1 - tau v v^T whose vectors stand below the diagonal of A's columns."""
    n, k = A.shape[-2:]
    vectors = A.tril(-1) + torch.eye(n, k, dtype=A.dtype)
    made = tied(torch.eye(n, k, dtype=A.dtype).expand(A.shape), A)
    for i in range(tau.shape[-1] - 1, -1, -1):
        v = vectors[..., i:i + 1]
        made = made - tau[..., i, None, None] * v @ (v.mH @ made)
    return made


class _Slogdet(Function):
    @staticmethod
    def forward(ctx, A):
        sign, log, _ = _C.matrices("slogdet", A)
        ctx.save_for_backward(A)
        return sign, log

    @staticmethod
    def backward(ctx, _, g):
        A, = ctx.saved_tensors
        return g[..., None, None] * inv(A).mT


class _Det(Function):
    @staticmethod
    def forward(ctx, A):
        made = _C.matrices("slogdet", A)[2]
        ctx.save_for_backward(A, made)
        return made

    @staticmethod
    def backward(ctx, g):
        A, made = ctx.saved_tensors
        return (g * made)[..., None, None] * inv(A).mT


def det(A):
    _square("det", A)
    return _Det.apply(A)


def slogdet(A):
    _square("slogdet", A)
    return _named("linalg_slogdet", ("sign", "logabsdet"))(_Slogdet.apply(A))


class _Cholesky(Function):
    @staticmethod
    def forward(ctx, A):
        made = _C.matrices("cholesky", A)
        if made is None:
            at = A.shape[-1]
            for k in range(1, A.shape[-1] + 1):
                if A.dim() == 2 and _C.matrices("cholesky", A[:k, :k]) is None:
                    at = k
                    break
            raise LinAlgError(
                "linalg.cholesky: The factorization could not be completed because the input is not positive-definite (the leading "
                f"minor of order {at} is not positive-definite).")
        ctx.save_for_backward(made[0])
        return made[0]

    @staticmethod
    def backward(ctx, g):
        # I. Murray, Differentiation of the Cholesky decomposition, 2016.
        low, = ctx.saved_tensors
        inside = (low.mT @ g).tril()
        inside = inside - 0.5 * inside * torch.eye(low.shape[-1], dtype=low.dtype)
        back = _ops["linalg_solve_triangular"](low.mT, inside, upper=True)
        made = _ops["linalg_solve_triangular"](low.mT, back.mT, upper=True).mT
        return 0.5 * (made + made.mT)


def cholesky(A, *, upper=False):
    _square("cholesky", A)
    made = _Cholesky.apply(A)
    return made.mT if upper else made


class _Qr(Function):
    @staticmethod
    def forward(ctx, A):
        q, r = _C.matrices("qr", A)
        ctx.save_for_backward(q, r)
        return q, r

    @staticmethod
    def backward(ctx, gq, gr):
        q, r = ctx.saved_tensors
        n = r.shape[-2]
        if r.shape[-1] > n:
            # The further columns are Q times theirs in R.
            gq = gq + q @ r[..., n:] @ gr[..., n:].mT
            return torch.cat([_Qr.slope(q, r[..., :n], gq, gr[..., :n]), q @ gr[..., n:]], -1)
        return _Qr.slope(q, r, gq, gr)

    @staticmethod
    def slope(q, r, gq, gr):
        m = r @ gr.mT - gq.mT @ q
        m = m.tril() + m.tril(-1).mT
        return _ops["linalg_solve_triangular"](r, (gq + q @ m).mT, upper=True).mT


def qr(A, mode="reduced"):
    kind = _named("linalg_qr", ("Q", "R"))
    # PyTorch has no derivative of a complete Q either.
    q, r = _C.matrices("qr_complete", A.detach()) if mode == "complete" and A.shape[-2] > A.shape[-1] else _Qr.apply(A)
    return kind((q.new_zeros(0), r)) if mode == "r" else kind((q, r))


class _Eigh(Function):
    @staticmethod
    def forward(ctx, A):
        made = _C.matrices("eigh", A)
        if made is None:
            raise LinAlgError("linalg.eigh: The algorithm failed to converge because the input matrix contained non-finite values.")
        ctx.save_for_backward(*made)
        return made

    @staticmethod
    def backward(ctx, gw, gv):
        w, v = ctx.saved_tensors
        apart = w.unsqueeze(-2) - w.unsqueeze(-1)
        same = torch.eye(w.shape[-1], dtype=torch.bool)
        inside = torch.where(same, torch.zeros_like(apart), v.mT @ gv / torch.where(same, torch.ones_like(apart), apart))
        return v @ (inside + torch.diag_embed(gw)) @ v.mT


def eigh(A, UPLO="L"):
    _square("eigh", A)
    return _named("linalg_eigh", ("eigenvalues", "eigenvectors"))(_Eigh.apply(A.mT if UPLO == "U" else A))


def eigvalsh(A, UPLO="L"):
    return eigh(A, UPLO)[0]


class _Svd(Function):
    @staticmethod
    def forward(ctx, A):
        made = _C.matrices("svd", A)
        if made is None:
            raise LinAlgError("linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.")
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*made)
        return made

    @staticmethod
    def backward(ctx, gu, gs, gv):
        """Townsend, "Differentiating the Singular Value Decomposition", 2016: finite where the values differ."""
        u, s, vh = ctx.saved_tensors
        if gu is None and gv is None:
            return (u * gs.unsqueeze(-2)) @ vh
        gu = torch.zeros_like(u) if gu is None else gu
        gv = torch.zeros_like(vh) if gv is None else gv
        same = torch.eye(s.shape[-1], dtype=torch.bool)
        apart = s.unsqueeze(-2).square() - s.unsqueeze(-1).square()
        apart = torch.where(same, torch.ones_like(apart), apart)
        left, right = u.mT @ gu, vh @ gv.mT
        inside = (left - left.mT) / apart * s.unsqueeze(-2) + s.unsqueeze(-1) * ((right - right.mT) / apart)
        if gs is not None:
            inside = inside + torch.diag_embed(gs)
        made = u @ inside
        if u.shape[-2] > s.shape[-1]:
            made = made + (gu - u @ left) / s.unsqueeze(-2)
        made = made @ vh
        if vh.shape[-1] > s.shape[-1]:
            made = made + (u / s.unsqueeze(-2)) @ (gv - (gv @ vh.mT) @ vh)
        return made


def svd(A, full_matrices=True, *, driver=None):
    u, s, vh = _Svd.apply(A)
    if full_matrices and A.shape[-1] != A.shape[-2]:
        u, vh = _completed(u, A.shape[-2]), _completed(vh.mT, A.shape[-1]).mT
    return _named("linalg_svd", ("U", "S", "Vh"))((u, s, vh))


def _completed(q, n):
    """Orthonormal columns with others beside them that make a basis; as in PyTorch no gradient comes by those."""
    k = q.shape[-1]
    return q if k == n else torch.cat([q, _C.matrices("qr_complete", q)[0][..., k:]], -1)


def svdvals(A, *, driver=None):
    return _Svd.apply(A)[1]


def _limit(A, s, atol, rtol):
    """Below it singular values count as zero: the larger of `atol` and `rtol` times the largest value."""
    def wide(t):
        return t.unsqueeze(-1) if isinstance(t, torch.Tensor) and t.dim() else t
    if rtol is None:
        usual = max(A.shape[-2:]) * torch.finfo(A.dtype).eps
        if isinstance(atol, torch.Tensor):
            rtol = torch.where(atol > 0, 0.0, usual)
        else:
            rtol = usual if not atol else 0.0
    top = s.amax(-1, keepdim=True) if s.shape[-1] else s.new_zeros(list(s.shape[:-1]) + [1])
    limit = top * wide(rtol)
    return limit if atol is None else torch.maximum(limit, torch.zeros_like(limit) + wide(atol))


def matrix_rank(A, *, atol=None, rtol=None, hermitian=False, tol=None):
    s = svdvals(A.detach())
    limit = _limit(A, s, atol, rtol) if tol is None else _limit(A, s, tol, 0.0)
    return (s > limit).sum(-1)


class _Pinv(Function):
    @staticmethod
    def forward(ctx, A, atol, rtol, hermitian):
        u, s, vh = _C.matrices("svd", A.tril() + A.tril(-1).mT if hermitian else A)
        kept = s > _limit(A, s, atol, rtol)
        made = (vh.mT * torch.where(kept, 1 / torch.where(kept, s, 1.0), 0.0).unsqueeze(-2)) @ u.mT
        ctx.save_for_backward(A, made)
        return made

    @staticmethod
    def backward(ctx, g):
        # Golub and Pereyra, 1973.
        A, p = ctx.saved_tensors
        rows, columns = torch.eye(A.shape[-2], dtype=A.dtype), torch.eye(A.shape[-1], dtype=A.dtype)
        gt = g.mT
        return -(p.mT @ g @ p.mT) + (rows - A @ p) @ gt @ (p @ p.mT) + (p.mT @ p) @ gt @ (columns - p @ A), None, None, None


def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    if A.dim() < 2:
        raise RuntimeError(f"Expected a tensor with 2 or more dimensions of floating types, but got a tensor with {A.dim()} dimensions")
    if hermitian:
        _square("pinv", A)
    return _Pinv.apply(A, atol, rcond if rtol is None else rtol, hermitian)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    return _ops["linalg_vector_norm"](x if dtype is None else x.to(dtype), ord, dim, keepdim)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    A = A if dtype is None else A.to(dtype)
    first, second = [d % A.dim() for d in dim]
    if ord == "fro":
        return _ops["linalg_vector_norm"](A, 2, [first, second], keepdim)
    if ord == "nuc" or abs(ord) == 2:
        s = svdvals(A.movedim((first, second), (-2, -1)))
        made = s.sum(-1) if ord == "nuc" else s.amax(-1) if ord > 0 else s.amin(-1)
    else:
        over, along = (first, second) if abs(ord) == 1 else (second, first)
        sums = A.abs().sum(over, keepdim=True)
        made = (sums.amax(along, keepdim=True) if ord > 0 else sums.amin(along, keepdim=True)).squeeze((first, second))
    if keepdim:
        for d in sorted((first, second)):
            made = made.unsqueeze(d)
    return made


def norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if isinstance(ord, str) or (isinstance(dim, (tuple, list)) and len(dim) == 2) or (dim is None and A.dim() == 2):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


def cond(A, p=None):
    if p in (None, 2, -2):
        s = svdvals(A)
        return s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0]
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


def matrix_power(A, n):
    _square("matrix_power", A)
    if n < 0:
        A, n = inv(A), -n
    made = tied(torch.eye(A.shape[-1], dtype=A.dtype).expand(A.shape), A)
    while n:
        made = made @ A if n % 2 else made
        n //= 2
        A = A @ A if n else A
    return made


def multi_dot(tensors, *, out=None):
    made = tensors[0]
    for t in tensors[1:]:
        made = made @ t
    return made


def matmul(input, other):
    return input @ other


def cross(input, other, *, dim=-1):
    return torch.cross(input, other, dim=dim)


def vecdot(x, y, *, dim=-1):
    return (x.conj() * y).sum(dim)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    return A.diagonal(offset, dim1, dim2)


def vander(x, N=None):
    x = x.to(torch.int64) if not x.dtype.is_floating_point and not x.dtype.is_complex else x
    x = x.reshape(1) if not x.dim() else x
    n = x.shape[-1] if N is None else N
    if n <= 1 and N is not None:
        raise RuntimeError("N must be greater than 1.")
    return torch.stack([x ** p for p in range(n)], -1)


def solve_ex(A, B, *, left=True, check_errors=False):
    return _named("linalg_solve_ex", ("result", "info"))((solve(A, B, left=left), torch.zeros(A.shape[:-2], dtype=torch.int32)))


def inv_ex(A, *, check_errors=False):
    """The inverse, and 1 where there is none instead of an error."""
    singular = det(A.detach()) == 0
    good = torch.where(singular.unsqueeze(-1).unsqueeze(-1), torch.eye(A.shape[-1], dtype=A.dtype), A)
    return _named("linalg_inv_ex", ("inverse", "info"))((inv(good), singular.to(torch.int32)))


def cholesky_ex(A, *, upper=False, check_errors=False, out=None):
    """The factor, and a number above 0 where the matrix is not positive definite: which leading minor is not, for a single matrix."""
    if out is not None:
        return _into(out, cholesky_ex(A, upper=upper, check_errors=check_errors))
    try:
        made, info = cholesky(A, upper=upper), torch.zeros(A.shape[:-2], dtype=torch.int32)
    except torch.linalg.LinAlgError:
        if check_errors:
            raise
        if A.dim() > 2:
            parts = [cholesky_ex(a, upper=upper) for a in A]
            made, info = torch.stack([p[0] for p in parts]), torch.stack([p[1] for p in parts])
        else:
            n = 1
            while n < A.shape[0] and bool(det(A[:n, :n].detach()) > 0):
                n += 1
            made, info = A.tril(), torch.tensor(n, dtype=torch.int32)
    return _named("linalg_cholesky_ex", ("L", "info"))((made, info))


def tensorinv(A, ind=2):
    rows, columns = list(A.shape[:ind]), list(A.shape[ind:])
    return inv(A.reshape(torch.Size(rows).numel(), -1)).reshape(columns + rows)


def tensorsolve(A, B, dims=None):
    if dims is not None:
        A = A.movedim(dims, list(range(A.dim() - len(dims), A.dim())))
    rest = list(A.shape[B.dim():])
    return solve(A.reshape(B.numel(), -1), B.reshape(-1)).reshape(rest)


def _also_complex(name, function):
    """Complex matrices have functions of their own."""
    @functools.wraps(function)
    def either(A, *args, **kwargs):
        if A.dtype.is_complex or (args and isinstance(args[0], torch.Tensor) and args[0].dtype.is_complex):
            from torch._rare import complex_linalg
            return getattr(complex_linalg, name)(A, *args, **kwargs)
        return function(A, *args, **kwargs)
    return either


for _name in "inv solve solve_triangular slogdet det cholesky eigh eigvalsh svd svdvals pinv qr".split():
    globals()[_name] = _also_complex(_name, globals()[_name])

__getattr__ = _missing.names("torch.linalg", globals())
