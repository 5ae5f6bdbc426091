"""LU and what is solved with factors, least squares, and roots of matrices; what is computed on the host is in float64."""

import torch
from torch import _C
from torch._functions import _named
from torch.autograd import Function


def _below(A, B, transposed=False):
    """`A x = B` of a lower triangle with ones on its diagonal."""
    A = A.mH if transposed else A
    return torch.linalg.solve_triangular(A, B, upper=transposed, unitriangular=True)


def _above(A, B, transposed=False):
    A = A.mH if transposed else A
    return torch.linalg.solve_triangular(A, B, upper=not transposed)


def _parts(packed):
    """L and U of the matrix that holds both."""
    m, n = packed.shape[-2:]
    k = min(m, n)
    return packed[..., :k].tril(-1) + torch.eye(m, k, dtype=packed.dtype), packed[..., :k, :].triu()


class _Factored(Function):
    @staticmethod
    def forward(ctx, A):
        packed, order, pivots = _C.matrices("lu", A)
        order, pivots = order.long(), pivots.int()
        ctx.save_for_backward(packed, order)
        ctx.mark_non_differentiable(order, pivots)
        return packed, order, pivots

    @staticmethod
    def backward(ctx, g, *_):
        packed, order = ctx.saved_tensors
        m, n = packed.shape[-2:]
        k = min(m, n)
        low, up = _parts(packed)
        g_low, g_up = g[..., :k].tril(-1), g[..., :k, :].triu()
        square, rest = low[..., :k, :], low[..., k:, :]
        inside = square.mT @ g_low[..., :k, :] - g_up[..., k:] @ up[..., k:].mT
        other = g_up[..., :k] @ up[..., :k].mT - rest.mT @ g_low[..., k:, :]
        made = _above(up[..., :k], _below(square, inside.tril(-1) + other.triu(), True).mT).mT
        if m > k:
            made = torch.cat([made, _above(up[..., :k], g_low[..., k:, :].mT).mT], -2)
        if n > k:
            made = torch.cat([made, _below(square, g_up[..., k:], True)], -1)
        return _moved(made, order.argsort(-1))


def _moved(x, order):
    """The rows of matrices in another order."""
    return x.gather(-2, order.unsqueeze(-1).expand(x.shape))


def _factored(A, pivot):
    if A.dim() < 2:
        raise RuntimeError("linalg.lu_factor: The input tensor A must have at least 2 dimensions.")
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return _Factored.apply(A)


def _permutation(order, kind):
    rows = torch.arange(order.shape[-1]).unsqueeze(-1)
    return (rows == order.unsqueeze(-2)).to(kind)


def lu(A, *, pivot=True):
    packed, order, _ = _factored(A, pivot)
    return _named("linalg_lu", ("P", "L", "U"))((_permutation(order, A.dtype), *_parts(packed)))


def lu_factor_ex(A, *, pivot=True, check_errors=False):
    packed, _, pivots = _factored(A, pivot)
    zero = packed.detach().diagonal(0, -2, -1) == 0
    k = zero.shape[-1]
    info = torch.where(zero.any(-1), zero.int().argmax(-1) + 1, 0) if k else torch.zeros(A.shape[:-2])
    if check_errors and info.any():
        _zero("lu_factor_ex", info)
    return _named("linalg_lu_factor_ex", ("LU", "pivots", "info"))((packed, pivots, info.int()))


def _zero(name, info):
    at = [v for v in info.reshape(-1).tolist() if v][0]
    batch = "" if not info.dim() else f"(Batch element {[i for i, v in enumerate(info.reshape(-1).tolist()) if v][0]}): "
    raise RuntimeError(f"torch.linalg.{name}: {batch}U[{at},{at}] is zero and using it on lu_solve would result in a division by zero. If you "
                       "still want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)")


def lu_factor(A, *, pivot=True):
    packed, pivots, info = lu_factor_ex(A, pivot=pivot)
    if info.any():
        _zero("lu_factor", info)
    return _named("linalg_lu_factor", ("LU", "pivots"))((packed, pivots))


def _order(pivots, rows):
    """The order of the rows that exchanging one after another leads to."""
    orders = []
    for swaps in pivots.reshape(pivots.shape[:-1].numel(), pivots.shape[-1]).tolist():
        order = list(range(rows))
        for i, at in enumerate(swaps):
            if not 0 < at <= rows:
                raise RuntimeError("pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the result of lu_factor?")
            order[i], order[at - 1] = order[at - 1], order[i]
        orders.append(order)
    return torch.tensor(orders, dtype=torch.int64).reshape([*pivots.shape[:-1], rows])


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    none = LU_data.new_zeros(0)
    if unpack_pivots and LU_pivots.dtype != torch.int32:
        raise RuntimeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
                           "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor")
    p = _permutation(_order(LU_pivots, LU_data.shape[-2]), LU_data.dtype) if unpack_pivots else none
    return _named("lu_unpack", ("P", "L", "U"))((p, *(_parts(LU_data) if unpack_data else (none, none))))


def lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    torch.linalg._square("lu_solve", LU)
    if pivots.dtype != torch.int32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    if not left:
        return lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH
    if pivots.shape[-1] != LU.shape[-1]:
        raise RuntimeError("linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix")
    if B.shape[-2] != LU.shape[-1]:
        raise RuntimeError(f"linalg.lu_solve: Incompatible shapes of A and B for the equation AX = B ({LU.shape[-2]}x{LU.shape[-1]} and "
                           f"{B.shape[-2]}x{B.shape[-1]})")
    lead = torch.broadcast_shapes(LU.shape[:-2], B.shape[:-2])
    LU, B = LU.expand(*lead, *LU.shape[-2:]), B.expand(*lead, *B.shape[-2:])
    order = _order(pivots, LU.shape[-1]).expand(*lead, LU.shape[-1])
    low, up = _parts(LU)
    if adjoint:
        return _moved(_below(low, _above(up, B, True), True), order.argsort(-1))
    return _above(up, _below(low, _moved(B, order)))


class _CholeskySolve(Function):
    @staticmethod
    def forward(ctx, B, L, upper):
        low = L.mH if upper else L
        made = torch.linalg.solve_triangular(low.mH, torch.linalg.solve_triangular(low, B, upper=False), upper=True)
        ctx.save_for_backward(L, made)
        ctx.upper = upper
        return made

    @staticmethod
    def backward(ctx, g):
        # PyTorch's gradient of the factor is not zero on its other side.
        L, made = ctx.saved_tensors
        back = _CholeskySolve.apply(g, L, ctx.upper)
        both = back @ made.mH
        both = both + both.mH
        return back, -(L @ both) if ctx.upper else -(both @ L), None


def cholesky_solve(B, L, upper=False):
    if B.dim() < 2:
        raise RuntimeError(f"b should have at least 2 dimensions, but has {B.dim()} dimensions instead")
    if L.dim() < 2:
        raise RuntimeError(f"u should have at least 2 dimensions, but has {L.dim()} dimensions instead")
    lead = torch.broadcast_shapes(B.shape[:-2], L.shape[:-2])
    return _CholeskySolve.apply(B.expand(*lead, *B.shape[-2:]), L.expand(*lead, *L.shape[-2:]), upper)


def cholesky_inverse(L, upper=False):
    torch.linalg._square("cholesky_inverse", L)
    return _CholeskyInverse.apply(L, upper)


class _CholeskyInverse(Function):
    @staticmethod
    def forward(ctx, L, upper):
        made = cholesky_solve(torch.eye(L.shape[-1], dtype=L.dtype), L, upper)
        ctx.save_for_backward(L, made)
        ctx.upper = upper
        return made

    @staticmethod
    def backward(ctx, g):
        L, made = ctx.saved_tensors
        both = made @ ((g + g.mH) @ made)
        return -(L @ both) if ctx.upper else -(both @ L), None


def lstsq(A, B, rcond=None, *, driver=None):
    driver = "gelsy" if driver is None else driver
    if A.dim() < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    vector = B.dim() == 1 or (B.dim() == A.dim() - 1 and tuple(B.shape) == tuple(A.shape[:-1]))
    b = B.unsqueeze(-1) if vector else B
    m, n = A.shape[-2:]
    if b.shape[-2] != m:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    x = torch.linalg.pinv(A, rtol=rcond) @ b
    rank = s = None
    if driver != "gels":
        rank = torch.linalg.matrix_rank(A, rtol=rcond)
        if driver != "gelsy":
            s = torch.linalg.svdvals(A.detach())
    left = x.real.reshape(-1)[:0]
    if m > n and driver != "gelsy" and (rank is None or bool((rank == n).all())):
        rest = A @ x - b
        left = (rest.abs() if rest.is_complex() else rest).square().sum(-2)
        # Where there are no columns, LAPACK is not asked, and this driver has nothing left.
        left = left if n or driver != "gels" else left * 0
    none = A.real.new_zeros(0)
    kind = _named("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"))
    return kind((x.squeeze(-1) if vector else x, left, none.long() if rank is None else rank, none if s is None else s))


class _Polar(Function):
    @staticmethod
    def forward(ctx, A):
        u, s, vh = _C.matrices("svd", A)
        ctx.save_for_backward(A, u, s, vh)
        return u @ vh, vh.mT * s.unsqueeze(-2) @ vh

    @staticmethod
    def backward(ctx, g, h):
        A, u, s, vh = ctx.saved_tensors
        sums = s.unsqueeze(-1) + s.unsqueeze(-2)
        inside = u.mT @ g @ vh.mT
        made = u @ ((inside - inside.mT) / sums) + (g - u @ (u.mT @ g)) @ vh.mT / s.unsqueeze(-2)
        inside = vh @ h @ vh.mT
        return made @ vh + A @ vh.mT @ ((inside + inside.mT) / sums) @ vh


def polar(A, *, out=None):
    if A.dim() < 2:
        raise RuntimeError("linalg.polar: The input tensor A must have at least 2 dimensions.")
    if A.shape[-2] < A.shape[-1]:
        raise RuntimeError(f"linalg.polar: input must have at least as many rows as columns, but got {A.shape[-2]} by {A.shape[-1]} matrices")
    return _named("linalg_polar", ("U", "H"))(torch._functions._into(out, _Polar.apply(A)))


class _Root(Function):
    @staticmethod
    def forward(ctx, A):
        w, v = _C.matrices("eigh", A)
        w = w.clamp(min=0).sqrt()
        ctx.save_for_backward(w, v)
        return v * w.unsqueeze(-2) @ v.mT

    @staticmethod
    def backward(ctx, g):
        w, v = ctx.saved_tensors
        inside = v.mT @ (g + g.mT) @ v / 2
        return v @ (inside / (w.unsqueeze(-1) + w.unsqueeze(-2))) @ v.mT


def matrix_sqrth(A):
    torch.linalg._square("matrix_sqrth", A)
    return _Root.apply(A)


def _times(a, b):
    """Complex products of matrices, as pairs of their parts."""
    return a[0] @ b[0] - a[1] @ b[1], a[0] @ b[1] + a[1] @ b[0]


def _adjoint(a):
    return a[0].mT, -a[1].mT


class _Eigen(Function):
    """The real and imaginary parts of the values and of the vectors."""

    @staticmethod
    def forward(ctx, A):
        made = _C.matrices("eig", A)
        if made is None:
            raise torch.linalg.LinAlgError(
                "torch.linalg.eig: The algorithm failed to converge because the input matrix contained non-finite values.")
        ctx.save_for_backward(*made)
        return made

    @staticmethod
    def backward(ctx, g_real, g_imag, gv_real, gv_imag):
        real, imag, *v = ctx.saved_tensors
        n = real.shape[-1]
        star, g = _adjoint(v), (gv_real, gv_imag)
        inside, gram = _times(star, g), _times(star, v)
        along = (v[0] * g[0] + v[1] * g[1]).sum(-2, keepdim=True)
        inside = [p - q * along for p, q in zip(inside, gram)]
        # Divided by what the values are apart, conjugated.
        same = torch.eye(n, dtype=torch.bool)
        x, y = real.unsqueeze(-2) - real.unsqueeze(-1), imag.unsqueeze(-1) - imag.unsqueeze(-2)
        size = torch.where(same, 1.0, x * x + y * y)
        x, y = torch.where(same, 1.0, x), torch.where(same, 0.0, y)
        inside = ((inside[0] * x + inside[1] * y) / size + torch.diag_embed(g_real), (inside[1] * x - inside[0] * y) / size + torch.diag_embed(g_imag))
        right = _times(inside, star)
        block = torch.cat([torch.cat([star[0], -star[1]], -1), torch.cat([star[1], star[0]], -1)], -2)
        return torch.linalg.solve(block, torch.cat(right, -2))[..., :n, :]


def eigvals(A):
    torch.linalg._square("eigvals", A)
    real, imag, _, _ = _Eigen.apply(A)
    return torch.complex(real, imag)


def eig(A):
    torch.linalg._square("eig", A)
    real, imag, *vectors = _Eigen.apply(A)
    return _named("linalg_eig", ("eigenvalues", "eigenvectors"))((torch.complex(real, imag), torch.complex(*vectors)))


class _Exponential(Function):
    @staticmethod
    def forward(ctx, A):
        ctx.save_for_backward(A)
        return _C.matrices("exp", A)[0]

    @staticmethod
    def backward(ctx, g):
        # A block of the exponential of a matrix twice as large (Mathias, 1996).
        A, = ctx.saved_tensors
        n = A.shape[-1]
        wide = torch.cat([torch.cat([A.mT, g], -1), torch.cat([torch.zeros_like(A), A.mT], -1)], -2)
        return _Exponential.apply(wide)[..., :n, n:]


def matrix_exp(A):
    torch.linalg._square("matrix_exp", A)
    if A.is_complex():
        from torch._rare.complex_linalg import _column, _whole
        return _column(_Exponential.apply(_whole(A))[..., :A.shape[-1]])
    return _Exponential.apply(A)


for _name in "eig eigvals".split():
    globals()[_name] = torch.linalg._also_complex(_name, globals()[_name])
