"""Decompositions as LAPACK computes them, step by step on the host."""

import math
import torch
from torch._functions import _named
from torch.autograd import Function


def _on_host(name, function, shapes, *tensors):
    """What `function` makes of the lists of every matrix of a batch; nothing of it has a derivative, as in PyTorch. Where there are no
    elements, the results have these shapes, those after the first of integers unless the function is geqrf."""
    class OnHost(Function):
        @staticmethod
        def forward(ctx, *tensors):
            lead = tensors[0].shape[:-2]
            if not tensors[0].numel() or not tensors[-1].numel():
                made = [torch.zeros([*lead, *shape], dtype=tensors[-1].dtype if not i or name == "geqrf" else torch.int32)
                        for i, shape in enumerate(shapes)]
                return tuple(made) if len(made) > 1 else made[0]
            lists = [t.detach().reshape([lead.numel(), *t.shape[len(lead):]]).tolist() for t in tensors]
            made = [function(*matrices) for matrices in zip(*lists)]
            kinds = [tensors[-1].dtype if isinstance(_first(part), float) else torch.int32 for part in made[0]]
            made = [torch.tensor(parts, dtype=kind) for parts, kind in zip(zip(*made), kinds)]
            made = tuple([m.reshape([*lead, *m.shape[1:]]) for m in made])
            return made if len(made) > 1 else made[0]

        @staticmethod
        def backward(ctx, *g):
            raise NotImplementedError(f"the derivative for '{name}' is not implemented.")
    return OnHost.apply(*tensors)


def _first(nested):
    return _first(nested[0]) if isinstance(nested, list) and nested else nested


def _reflections(a):
    """geqrf: R in and above the diagonal, below it the vectors of the reflections, whose factors are `tau`."""
    m, n = len(a), len(a[0]) if a else 0
    tau = []
    for k in range(min(m, n)):
        rest = math.sqrt(math.fsum([a[i][k] ** 2 for i in range(k + 1, m)]))
        if rest == 0.0:
            tau.append(0.0)
            continue
        alpha = a[k][k]
        beta = -math.copysign(math.hypot(alpha, rest), alpha)
        tau.append((beta - alpha) / beta)
        for i in range(k + 1, m):
            a[i][k] /= alpha - beta
        a[k][k] = beta
        for j in range(k + 1, n):
            along = tau[k] * (a[k][j] + math.fsum([a[i][k] * a[i][j] for i in range(k + 1, m)]))
            a[k][j] -= along
            for i in range(k + 1, m):
                a[i][j] -= along * a[i][k]
    return a, tau


def _matrices(name, input):
    if input.dim() < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")


def geqrf(input):
    _matrices("torch.geqrf", input)
    m, n = input.shape[-2:]
    return _named("geqrf", ("a", "tau"))(_on_host("geqrf", _reflections, ([m, n], [min(m, n)]), input))


orgqr = torch.linalg.householder_product


def ormqr(input, tau, other, left=True, transpose=False):
    """The product of a matrix and all of Q, whose reflections are applied one after another."""
    _matrices("torch.ormqr", input)
    m, k = input.shape[-2], tau.shape[-1]
    if other.shape[-2 if left else -1] != m:
        raise RuntimeError(f"torch.ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2]")
    vectors = input[..., :k].tril(-1) + torch.eye(m, k, dtype=input.dtype)
    for i in range(k) if left == transpose else range(k - 1, -1, -1):
        v, t = vectors[..., i:i + 1], tau[..., i, None, None]
        t = t.conj() if transpose else t
        other = other - t * (v @ (v.mH @ other) if left else (other @ v) @ v.mH)
    return other


_ALPHA = (1 + math.sqrt(17)) / 8


def _symmetric(a):
    """sytf2 of the lower triangle (Bunch and Kaufman): blocks of one or two rows, whose pivots are negative."""
    n, pivots, info, k = len(a), [], 0, 0
    while k < n:
        step, at, here = 1, k, abs(a[k][k])
        below = max(range(k + 1, n), key=lambda i: abs(a[i][k]), default=k)
        column = abs(a[below][k]) if below > k else 0.0
        if max(here, column) == 0.0:
            info = info or k + 1
        elif here < _ALPHA * column:
            row = max([abs(a[below][j]) for j in range(k, below)] + [abs(a[i][below]) for i in range(below + 1, n)])
            if here < _ALPHA * column * (column / row):
                at, step = below, 1 if abs(a[below][below]) >= _ALPHA * row else 2
        to = k + step - 1
        if at != to:
            for i in range(at + 1, n):
                a[i][to], a[i][at] = a[i][at], a[i][to]
            for i in range(to + 1, at):
                a[i][to], a[at][i] = a[at][i], a[i][to]
            a[to][to], a[at][at] = a[at][at], a[to][to]
            if step == 2:
                a[k + 1][k], a[at][k] = a[at][k], a[k + 1][k]
        if step == 1 and a[k][k] != 0.0:
            for j in range(k + 1, n):
                for i in range(j, n):
                    a[i][j] -= a[i][k] * a[j][k] / a[k][k]
            for i in range(k + 1, n):
                a[i][k] /= a[k][k]
        elif step == 2 and k + 2 < n:
            d = a[k + 1][k]
            d11, d22 = a[k + 1][k + 1] / d, a[k][k] / d
            d = 1 / (d11 * d22 - 1) / d
            for j in range(k + 2, n):
                first, second = d * (d11 * a[j][k] - a[j][k + 1]), d * (d22 * a[j][k + 1] - a[j][k])
                for i in range(j, n):
                    a[i][j] -= a[i][k] * first + a[i][k + 1] * second
                a[j][k], a[j][k + 1] = first, second
        pivots += [at + 1] if step == 1 else [-at - 1] * 2
        k += step
    return [[v if j <= i else 0.0 for j, v in enumerate(row)] for i, row in enumerate(a)], pivots, info


def _no_complex(name, *tensors):
    if [t for t in tensors if t.is_complex()]:
        raise NotImplementedError(f"{name}() of complex tensors")


def ldl_factor_ex(A, *, hermitian=False, check_errors=False):
    torch.linalg._square("ldl_factor_ex", A)
    _no_complex("linalg.ldl_factor_ex", A)
    made = _on_host("linalg_ldl_factor_ex", _symmetric, (A.shape[-2:], A.shape[-1:], ()), A)
    if check_errors and made[2].any():
        raise torch.linalg.LinAlgError(f"torch.linalg.ldl_factor_ex: The diagonal element {made[2].max().item()} is zero.")
    return _named("linalg_ldl_factor_ex", ("LD", "pivots", "info"))(made)


def ldl_factor(A, *, hermitian=False):
    torch.linalg._square("ldl_factor_ex", A)
    made = ldl_factor_ex(A, hermitian=hermitian)
    return _named("linalg_ldl_factor", ("LD", "pivots"))(tuple(made)[:2])


def _substituted(a, pivots, b):
    """sytrs of the lower triangle."""
    n, k = len(a), 0
    pivots = [int(p[0]) for p in pivots]

    def less(row, by, from_):
        b[row] = [x - by * y for x, y in zip(b[row], b[from_])]
    while k < n:
        step = 1 if pivots[k] > 0 else 2
        at, to = abs(pivots[k]) - 1, k + step - 1
        b[at], b[to] = b[to], b[at]
        for i in range(k + step, n):
            for j in range(step):
                less(i, a[i][k + j], k + j)
        if step == 1:
            b[k] = [x / a[k][k] for x in b[k]]
        else:
            d, e, f = a[k][k], a[k + 1][k], a[k + 1][k + 1]
            by = d * f - e * e
            b[k], b[k + 1] = ([(f * x - e * y) / by for x, y in zip(b[k], b[k + 1])],
                              [(d * y - e * x) / by for x, y in zip(b[k], b[k + 1])])
        k += step
    k = n - 1
    while k >= 0:
        step = 1 if pivots[k] > 0 else 2
        for row in range(k, k - step, -1):
            for i in range(k + 1, n):
                less(row, a[i][row], i)
        at = abs(pivots[k]) - 1
        b[at], b[k] = b[k], b[at]
        k -= step
    return b,


def ldl_solve(LD, pivots, B, *, hermitian=False):
    torch.linalg._square("ldl_solve", LD)
    _no_complex("linalg.ldl_solve", LD, B)
    if B.dim() < 2:
        raise RuntimeError("torch.linalg.ldl_solve: Expected B to have at least 2 dimensions, but it has " + str(B.dim()) + " dimensions instead")
    if B.shape[-2] != LD.shape[-1]:
        raise RuntimeError(f"linalg.ldl_solve: Incompatible shapes of A and B for the equation AX = B ({LD.shape[-2]}x{LD.shape[-1]} and "
                           f"{B.shape[-2]}x{B.shape[-1]})")
    lead = torch.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    whole = lambda t: t.expand(*lead, *t.shape[-2:])
    return _on_host("linalg_ldl_solve", _substituted, (B.shape[-2:],), whole(LD), whole(pivots.unsqueeze(-1)), whole(B))


def lobpcg(A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None, tracker=None,
           ortho_iparams=None, ortho_fparams=None, ortho_bparams=None):
    """The first of all eigenvalues and their vectors: matrices here are dense, so nothing is gained by iterating."""
    m = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if X is None else X.shape[-1]) if n is None else n
    if m < 3 * n:
        raise ValueError(f"LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of "
                         f"requested eigenpairs (={n})")
    if X is None:
        # What follows a seed is PyTorch's, which begins at random.
        torch.randn(*A.shape[:-2], m, n, dtype=A.dtype)
    A = A.to_dense() if A.is_sparse else A
    lower = None if B is None else torch.linalg.cholesky(B.to_dense() if B.is_sparse else B)
    if lower is not None:
        A = torch.linalg.solve_triangular(lower, A, upper=False)
        A = torch.linalg.solve_triangular(lower, A.mT, upper=False)
    values, vectors = torch.linalg.eigh((A + A.mT) / 2)
    if lower is not None:
        vectors = torch.linalg.solve_triangular(lower.mT, vectors, upper=True)
    if largest is None or largest:
        values, vectors = values.flip(-1), vectors.flip(-1)
    return values[..., :k], vectors[..., :k]


def svd_lowrank(A, q=6, niter=2, M=None):
    """Halko, Martinsson and Tropp, 2009: the largest singular values by a random projection."""
    linalg = torch.linalg
    A = A if M is None else A - M
    m, n = A.shape[-2:]
    A = A.mT if m < n else A
    Q = linalg.qr(A @ torch.randn(A.shape[-1], q, dtype=A.dtype)).Q
    for _ in range(niter):
        Q = linalg.qr(A @ linalg.qr(A.mT @ Q).Q).Q
    U, S, Vh = linalg.svd(Q.mT @ A, full_matrices=False)
    U, V = Q @ U, Vh.mT
    return (V, S, U) if m < n else (U, S, V)


def pca_lowrank(A, q=None, center=True, niter=2):
    m, n = A.shape[-2:]
    if q is None:
        q = sorted((6, m, n))[0]
    elif not 0 <= q <= sorted((m, n))[0]:
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)
