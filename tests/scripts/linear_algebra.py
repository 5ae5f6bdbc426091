import torch

torch.manual_seed(0)
A = torch.tensor([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
b = torch.tensor([1.0, 2, 3])
print(torch.linalg.det(A), torch.det(A), torch.linalg.inv(A), torch.linalg.solve(A, b))
print(torch.linalg.eigh(A).eigenvalues, torch.linalg.svdvals(A))
print(torch.linalg.cholesky(A))
q, r = torch.linalg.qr(A)
print(q)
print(r)
u, s, vh = torch.linalg.svd(A)
print(s, torch.dist(A, u @ torch.diag(s) @ vh) < 1e-5)
print(
    torch.linalg.norm(A),
    torch.linalg.matrix_norm(A),
    torch.linalg.matrix_norm(A, ord="nuc"),
    torch.linalg.norm(A, 2),
    torch.linalg.norm(A, float("inf")),
    torch.linalg.vector_norm(b, 1),
    torch.linalg.matrix_rank(A),
    torch.linalg.cond(A),
    torch.logdet(A),
    torch.slogdet(A),
)
print(
    torch.linalg.matrix_power(A, 3),
    torch.matrix_exp(A * 0.1),
    torch.linalg.pinv(A[:, :2]).shape,
    torch.linalg.lstsq(torch.stack([torch.ones(4), torch.arange(4.0)], 1), torch.tensor([[1.0], [3], [5], [7]])).solution,
)
x = A.clone().requires_grad_()
for f in (
    torch.linalg.det,
    torch.logdet,
    lambda x: torch.linalg.inv(x).sum(),
    lambda x: torch.linalg.cholesky(x).sum(),
    lambda x: torch.linalg.solve(x, b).sum(),
    lambda x: torch.linalg.svdvals(x).sum(),
    lambda x: torch.linalg.eigvalsh(x).prod(),
    lambda x: torch.linalg.qr(x)[1].sum(),
    lambda x: torch.linalg.pinv(x[:, :2]).sum(),
):
    x.grad = None
    f(x).backward()
    print(x.grad)
try:
    torch.linalg.inv(torch.ones(2, 2))
except RuntimeError as e:
    print(type(e).__name__, e)
try:
    torch.linalg.cholesky(-A)
except RuntimeError as e:
    print(e)
try:
    torch.inverse(torch.ones(2, 3))
except RuntimeError as e:
    print(e)
B = torch.randn(2, 3, 3)
S = B @ B.mT + torch.eye(3)
print(torch.linalg.det(S), torch.linalg.cholesky(S), torch.linalg.inv(S).shape)
print(
    torch.tril_indices(3, 3),
    torch.triu_indices(3, 3, 1),
    torch.diag_embed(b),
    torch.cross(torch.tensor([1.0, 0, 0]), torch.tensor([0.0, 1, 0]), dim=0),
    torch.kron(torch.eye(2), torch.ones(1, 2)),
    torch.vander(b),
    torch.combinations(torch.tensor([1, 2, 3])),
    torch.trapezoid(b),
    torch.unique_consecutive(torch.tensor([1, 1, 2, 2, 3, 1]), return_counts=True),
    torch.cov(A),
    torch.corrcoef(A)[0, 1],
    torch.nanmean(torch.tensor([1.0, float("nan"), 3])),
    torch.atleast_3d(b).shape,
    torch.vdot(b, b),
    torch.hann_window(4),
    torch.deg2rad(torch.tensor(180.0)),
    torch.logcumsumexp(b, 0),
)
# gp
X = torch.linspace(0, 1, 6)[:, None]
y = torch.sin(6 * X[:, 0])
ls = torch.tensor(0.3, requires_grad=True)
opt = torch.optim.Adam([ls], 0.05)
for i in range(4):
    K = torch.exp(-0.5 * torch.cdist(X, X) ** 2 / ls**2) + 1e-2 * torch.eye(6)
    L = torch.linalg.cholesky(K)
    al = torch.cholesky_solve(y[:, None], L)
    nll = 0.5 * (y[:, None] * al).sum() + torch.log(torch.diagonal(L)).sum()
    opt.zero_grad()
    nll.backward()
    opt.step()
    print(f"{nll.item():.4f} {ls.item():.4f}")
