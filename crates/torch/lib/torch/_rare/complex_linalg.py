"""torch.linalg of complex matrices, on real ones of twice the size: a + bi is [[a, -b], [b, a]] there, and products, inverses and
adjoints are those of the blocks. What is made of differentiable operators needs no derivative of its own."""

from torch import linalg
from torch._functions import _named
from torch.autograd.function import Function
import torch


def _whole(A):
    re, im = A.real, A.imag
    return torch.cat([torch.cat([re, -im], -1), torch.cat([im, re], -1)], -2)


def _stacked(x):
    return torch.cat([x.real, x.imag], -2)


def _column(x):
    """What `_stacked` made one of two."""
    n = x.shape[-2] // 2
    return torch.complex(x[..., :n, :], x[..., n:, :])


def _eye(A, n=None):
    return torch.eye(A.shape[-1] if n is None else n, dtype=A.dtype)


def inv(A):
    linalg._square("inv", A)
    return _column(linalg.inv(_whole(A))[..., :A.shape[-1]])


def solve(A, B, *, left=True):
    linalg._square("solve", A)
    if not left:
        return solve(A.mT, B.mT).mT
    vector = B.dim() == 1 or (B.dim() == A.dim() - 1 and tuple(B.shape) == tuple(A.shape[:-1]))
    B = B.unsqueeze(-1) if vector else B
    x = _column(linalg.solve(_whole(A), _stacked(B)))
    return x.squeeze(-1) if vector else x


def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    A = A.triu() if upper else A.tril()
    if unitriangular:
        A = (A.triu(1) if upper else A.tril(-1)) + _eye(A)
    if left:
        lead = torch.broadcast_shapes(A.shape[:-2], B.shape[:-2])
        A, B = A.expand(*lead, *A.shape[-2:]), B.expand(*lead, *B.shape[-2:])
    return solve(A, B, left=left)


def _pivoted(A):
    """Gaussian elimination with partial pivoting of one matrix, on the host in float64: the upper triangle, and the rows in their order."""
    rows = A.detach().tolist()
    n = len(rows)
    order = list(range(n))
    for k in range(n):
        at = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[at] = rows[at], rows[k]
        order[k], order[at] = order[at], order[k]
        for i in range(k + 1, n):
            share = rows[i][k] / rows[k][k] if rows[k][k] != 0 else 0
            for j in range(k, n):
                rows[i][j] -= share * rows[k][j]
    return rows, order


class _Slogdet(Function):
    @staticmethod
    def forward(ctx, A):
        n, signs, logs = A.shape[-1], [], linalg.slogdet(_whole(A.detach()))[1] / 2
        for a in A.detach().reshape(-1, n, n) if A.numel() else []:
            rows, order = _pivoted(a)
            sign = 1 + 0j
            for i in range(n):
                size = abs(rows[i][i])
                sign = sign * rows[i][i] / size if size else 0j
                while order[i] != i:
                    at = order[i]
                    order[i], order[at] = order[at], at
                    sign = -sign
            signs.append(sign)
        sign = torch.tensor(signs).reshape(A.shape[:-2]) if signs else torch.ones(A.shape[:-2], dtype=A.dtype)
        ctx.save_for_backward(A, sign)
        return sign, logs

    @staticmethod
    def backward(ctx, gs, g):
        A, sign = ctx.saved_tensors
        turn = (gs.conj() * sign).imag
        return torch.complex(g, -turn)[..., None, None] * inv(A).mH


def slogdet(A):
    linalg._square("slogdet", A)
    return _named("linalg_slogdet", ("sign", "logabsdet"))(tuple(_Slogdet.apply(A)))


def det(A):
    linalg._square("det", A)
    sign, log = _Slogdet.apply(A)
    return sign * log.exp()


class _Cholesky(Function):
    @staticmethod
    def forward(ctx, A, upper):
        n, columns = A.shape[-1], []
        A = A.mH if upper else A
        for j in range(n):
            rest = A[..., j:, j]
            for c in columns:
                rest = rest - c[..., j:] * c[..., j:j + 1].conj()
            size = rest[..., 0].real
            if size.numel() and not bool((size > 0).all()):
                raise linalg.LinAlgError("linalg.cholesky: The factorization could not be completed because the input is not "
                                         f"positive-definite (the leading minor of order {j + 1} is not positive-definite).")
            columns.append(torch.nn.functional.pad(rest / size.sqrt().unsqueeze(-1), (j, 0)))
        made = torch.stack(columns, -1) if columns else A.clone()
        ctx.save_for_backward(made)
        return made

    @staticmethod
    def backward(ctx, g):
        """Murray, "Differentiation of the Cholesky decomposition", 2016."""
        low, = ctx.saved_tensors
        inside = (low.mH @ g).tril()
        inside = (inside + inside.tril(-1).mH) / 2
        left = solve_triangular(low.mH, inside, upper=True)
        return solve_triangular(low, left, upper=False, left=False), None


def cholesky(A, *, upper=False):
    linalg._square("cholesky", A)
    low = _Cholesky.apply(A, upper)
    return low.mH if upper else low


def _chosen(vectors, others, n):
    """Of the columns of two real bases, in which each direction stands twice, once turned by i, those that are orthogonal as complex
    ones: the largest rest next. Gives the columns' places, the vectors, and the others under the same combinations."""
    v, u = _column(vectors), None if others is None else _column(others)
    places, left = [], v
    for _ in range(n):
        at = int(left.abs().square().sum(0).argmax())
        size = left[:, at].abs().square().sum().sqrt()
        places.append(at)
        share = left[:, at].conj() @ left / (size * size)
        pick_v, pick_u = left[:, at].clone(), None if u is None else u[:, at].clone()
        left = left - pick_v.unsqueeze(1) * share
        u = None if u is None else u - pick_u.unsqueeze(1) * share
        v[:, at] = pick_v / size
        if u is not None:
            u[:, at] = pick_u / size
    order = sorted(places)
    return order, v[:, order], None if u is None else u[:, order]


class _Eigh(Function):
    @staticmethod
    def forward(ctx, A):
        n = A.shape[-1]
        values, vectors = torch._C.matrices("eigh", _whole(A))
        made = []
        for w, v in zip(values.reshape(-1, 2 * n), vectors.reshape(-1, 2 * n, 2 * n)) if A.numel() else []:
            order, v, _ = _chosen(v, None, n)
            made.append((w[order], v))
        lead = list(A.shape[:-2])
        w = torch.stack([m[0] for m in made]).reshape(lead + [n]) if made else torch.zeros(lead + [n])
        v = torch.stack([m[1] for m in made]).reshape(lead + [n, n]) if made else torch.zeros(lead + [n, n], dtype=A.dtype)
        ctx.save_for_backward(w, v)
        return w, v

    @staticmethod
    def backward(ctx, gw, gv):
        w, v = ctx.saved_tensors
        same = torch.eye(w.shape[-1], dtype=torch.bool)
        apart = w.unsqueeze(-2) - w.unsqueeze(-1)
        inside = torch.where(same, torch.zeros_like(v), (v.mH @ gv) / torch.where(same, torch.ones_like(apart), apart))
        return v @ (inside + torch.diag_embed(gw)) @ v.mH


def eigh(A, UPLO="L"):
    linalg._square("eigh", A)
    return _named("linalg_eigh", ("eigenvalues", "eigenvectors"))(tuple(_Eigh.apply(_hermitian(A, UPLO))))


def _hermitian(A, UPLO="L"):
    """The values of one triangle, and the gradient of the whole matrix, as PyTorch has it."""
    half = A.tril(-1) if UPLO == "L" else A.triu(1)
    given = half + half.mH + torch.diag_embed(torch.complex(A.diagonal(0, -2, -1).real, A.diagonal(0, -2, -1).real * 0))
    A = (A + A.mH) / 2
    return A + (given - A).detach()


def eigvalsh(A, UPLO="L"):
    return eigh(A, UPLO)[0]


class _Svd(Function):
    @staticmethod
    def forward(ctx, A):
        m, n = A.shape[-2:]
        k, lead, made = min(m, n), list(A.shape[:-2]), []
        for a in A.reshape(-1, m, n) if A.numel() else []:
            u, s, vh = torch._C.matrices("svd", _whole(a))
            order, v, u = _chosen(vh.mT, u, k)
            made.append((u, s[order], v.mH))
        parts = [torch.stack([p[i] for p in made]).reshape(lead + shape) if made else torch.zeros(lead + shape, dtype=kind)
                 for i, (shape, kind) in enumerate((([m, k], A.dtype), ([k], torch.float32), ([k, n], A.dtype)))]
        ctx.save_for_backward(*parts)
        return tuple(parts)

    @staticmethod
    def backward(ctx, gu, gs, gv):
        u, s, vh = ctx.saved_tensors
        same = torch.eye(s.shape[-1], dtype=torch.bool)
        apart = s.unsqueeze(-2).square() - s.unsqueeze(-1).square()
        apart = torch.where(same, torch.ones_like(apart), apart)
        left, right = u.mH @ gu, vh @ gv.mH
        inside = (left - left.mH) / apart * s.unsqueeze(-2) + s.unsqueeze(-1) * ((right - right.mH) / apart)
        turn = left.diagonal(0, -2, -1).imag / s
        inside = torch.where(same, torch.zeros_like(inside), inside) + torch.diag_embed(torch.complex(gs, turn))
        made = u @ inside
        if u.shape[-2] > s.shape[-1]:
            made = made + (gu - u @ left) / s.unsqueeze(-2)
        made = made @ vh
        if vh.shape[-1] > s.shape[-1]:
            made = made + (u / s.unsqueeze(-2)) @ (gv - (gv @ vh.mH) @ vh)
        return made


def svd(A, full_matrices=True, *, driver=None):
    u, s, vh = _Svd.apply(A)
    if full_matrices:
        u, vh = _completed(u), _completed(vh.mH).mH
    return _named("linalg_svd", ("U", "S", "Vh"))((u, s, vh))


def _completed(q):
    """Orthonormal columns with others beside them that make a basis."""
    m, k = q.shape[-2:]
    return q if k == m else torch.cat([q, _qr(q, True)[0][..., k:]], -1)


def svdvals(A, *, driver=None):
    return _Svd.apply(A)[1]


class _Pinv(Function):
    @staticmethod
    def forward(ctx, A, atol, rtol):
        u, s, vh = _Svd.apply(A)
        kept = s > linalg._limit(A, s, atol, rtol)
        made = (vh.mH * torch.where(kept, 1 / torch.where(kept, s, 1.0), 0.0).unsqueeze(-2)) @ u.mH
        ctx.save_for_backward(A, made)
        return made

    @staticmethod
    def backward(ctx, g):
        # Golub and Pereyra, 1973.
        A, p = ctx.saved_tensors
        gh = g.mH
        k = gh @ p
        far = k @ p.mH
        return -(p @ k).mH + far - (A @ p) @ far + (p.mH @ p) @ (gh - k @ A), None, None


def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    rtol = rcond if rtol is None else rtol
    return _Pinv.apply(_hermitian(A) if hermitian else A, atol, rtol)


def _qr(A, complete):
    """By reflections with LAPACK's signs (zgeqrf): the diagonal of R is real, of the other sign than the real part it had."""
    m, n = A.shape[-2:]
    k, whole = min(m, n), _eye(A, m).expand(*A.shape[:-2], m, m)
    for j in range(min(m, n)):
        first = A[..., j:j + 1, j]
        column = torch.nn.functional.pad(A[..., j:, j], (j, 0))
        size = column.abs().square().sum(-1, True).sqrt()
        length = torch.where(first.real > 0, -size, size)
        # Reflecting I - tau v v^H takes the column to its length; with nothing below and a real first element there is nothing to do.
        idle = (column[..., j + 1:].abs().sum(-1, True) == 0) & (first.imag == 0)
        below = torch.where(idle, torch.ones_like(first), first - length)
        at = torch.arange(m) == j
        v = torch.where(at, torch.ones_like(column), torch.where(torch.arange(m) > j, column / below, torch.zeros_like(column)))
        tau = torch.where(idle, torch.zeros_like(first), (length - first) / torch.where(idle, torch.ones_like(length), length)).unsqueeze(-1)
        v = v.unsqueeze(-1)
        A = A - tau.conj() * v @ (v.mH @ A)
        whole = whole - (whole @ v) @ (tau * v.mH)
    k = m if complete else k
    return whole[..., :k], A[..., :k, :].triu()


def qr(A, mode="reduced"):
    q, r = _qr(A, mode == "complete")
    return _named("linalg_qr", ("Q", "R"))((A.new_zeros(0) if mode == "r" else q, r))


def _absent(name):
    def function(A, *args, **kwargs):
        raise NotImplementedError(f"torch.linalg.{name} of complex matrices; eigh, svd, qr, inv, solve, det and cholesky are there")
    return function


eig, eigvals = [_absent(n) for n in ("eig", "eigvals")]
