"""Complex tensors in operators of every family: values, and gradients of a real number made of the result."""
import io

import torch
import torch.nn.functional as F

torch.manual_seed(3)


def show(name, made):
    for part in made if isinstance(made, (tuple, list)) else [made]:
        part = part.detach().resolve_conj().resolve_neg()
        flat = torch.view_as_real(part).reshape(-1) if part.is_complex() else part.reshape(-1).float()
        values = " ".join(f"{v + 0.0:.3f}".replace("-0.000", "0.000") for v in flat[:6].tolist())
        print(f"{name:18} {str(part.dtype)[6:]:10} {tuple(part.shape)} {values}")


def check(name, function, *inputs):
    inputs = [x.clone().requires_grad_() if isinstance(x, torch.Tensor) and x.is_complex() else x for x in inputs]
    made = function(*inputs)
    show(name, made)
    parts = [p for p in (made if isinstance(made, (tuple, list)) else [made]) if p.requires_grad]
    if parts:
        sum((p.abs().square() * torch.arange(1, p.numel() + 1).reshape(p.shape)).sum() for p in parts).backward()
        for x in inputs:
            if isinstance(x, torch.Tensor) and x.requires_grad:
                show("  gradient", x.grad)


a = torch.randn(3, 4, dtype=torch.complex64)
b = torch.randn(3, 4, dtype=torch.complex64)
v = torch.randn(5, dtype=torch.complex64)

for name in "sigmoid tanh exp expm1 log1p sin asin acos atan asinh acosh atanh rsqrt reciprocal square log2 log10 exp2 sgn sinc".split():
    check(name, getattr(torch, name), a)
for name in "softsign tanhshrink".split():
    check(name, getattr(F, name), a)
check("addcmul", lambda x, y: torch.addcmul(x, x, y, value=0.5), a, b)
check("addcdiv", lambda x, y: torch.addcdiv(x, x, y, value=0.5), a, b)
check("lerp", lambda x, y: torch.lerp(x, y, 0.25), a, b)
check("addmm", lambda x, y: torch.addmm(x @ x.mT, x, y.mH, beta=0.5, alpha=2), a, b)
check("baddbmm", lambda x: torch.baddbmm(x[None, :, :3], x[None], x.mH[None]), a)
check("outer", torch.outer, v, v)
check("vdot", torch.vdot, v, v.flip(0))
check("vecdot", torch.linalg.vecdot, a, b)
check("logaddexp", torch.logaddexp, a, b)
check("logsumexp", lambda x: torch.logsumexp(x, 1), a)
check("prod", lambda x: x.prod(1), a)
check("cumprod", lambda x: x.cumprod(1), a)
check("var", lambda x: x.var(1), a)
check("std", lambda x: x.std(0, keepdim=True), a)
check("cov", torch.cov, a)
check("norm", lambda x: torch.linalg.vector_norm(x, 3), a)
check("fro", lambda x: torch.linalg.matrix_norm(x), a)
check("l1_loss", lambda x, y: F.l1_loss(x, y), a, b)
check("rms_norm", lambda x: F.rms_norm(x, (4,)), a)

# What moves elements.
check("pad", lambda x: F.pad(x, (1, 2), value=0.5), a)
check("diagonal", lambda x: x.diagonal(1), a)
check("tril", lambda x: x.tril(), a)
check("tensor_split", lambda x: x.tensor_split(3, 1), a)
check("unfold", lambda x: x.unfold(1, 2, 2), a)
check("gather", lambda x: x.gather(1, torch.tensor([[0, 3], [1, 1], [2, 0]])), a)
check("scatter_add", lambda x, y: x.scatter_add(1, torch.tensor([[0, 0, 1, 1]] * 3), y), a, b)
check("index_add", lambda x, y: x.index_add(0, torch.tensor([2, 2, 0]), y), a, b)
check("masked_fill", lambda x: x.masked_fill(torch.tensor([True, False, True, False]), 2 - 1j), a)
check("meshgrid", lambda x: torch.meshgrid(x, x, indexing="ij"), v)
check("diff", lambda x: x.diff(), a)
check("trace", lambda x: x.trace(), a)
check("tile", lambda x: x.tile(2), v)
check("flip", lambda x: torch.flip(x, dims=[0, 1]), a)
check("cat", lambda x: torch.cat([torch.zeros(0, dtype=torch.complex64), x]), a)
check("adjoint", lambda x: x.adjoint() @ x, a)

# Convolutions.
x, w, bias = torch.randn(2, 3, 8, dtype=torch.complex64), torch.randn(4, 3, 3, dtype=torch.complex64), torch.randn(4, dtype=torch.complex64)
check("conv1d", lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=1), x, w, bias)
check("conv_transpose1d", lambda x, w: F.conv_transpose1d(x, w.transpose(0, 1), stride=2), x, w)
check("conv2d", lambda x, w: F.conv2d(x.unsqueeze(2), w.unsqueeze(2)), x, w)

# Questions.
z = torch.tensor([0j, 1 + 0j, complex(float("inf"), 0), complex(0, float("nan")), 2j])
show("isfinite", torch.isfinite(z))
show("isinf", torch.isinf(z))
show("isreal", torch.isreal(z))
show("logical_not", torch.logical_not(z))
show("nonzero", torch.nonzero(z))
show("argwhere", torch.argwhere(torch.tensor([[0, 1j], [1, 0]])))
show("any all", [z.any(), z.all()])
show("nan_to_num", torch.nan_to_num(z, nan=7.0, posinf=9.0))

# Matrices.
m = torch.randn(2, 3, 3, dtype=torch.complex64)
h = m @ m.mH + torch.eye(3)
check("solve", torch.linalg.solve, m, m.flip(1))
check("inv", torch.linalg.inv, m)
check("det", torch.linalg.det, m)
check("slogdet", torch.linalg.slogdet, m)
check("cholesky", lambda x: torch.linalg.cholesky(x @ x.mH + torch.eye(3)), m)
check("eigvalsh", lambda x: torch.linalg.eigvalsh(x + x.mH), m)
check("svdvals", torch.linalg.svdvals, a)
check("pinv", torch.linalg.pinv, a)
check("qr", lambda x: torch.linalg.qr(x), torch.randn(4, 3, dtype=torch.complex64))
check("matrix_exp", lambda x: torch.linalg.matrix_exp(x * 0.3), m)
w, q = torch.linalg.eigh(h)
show("eigh", q @ torch.diag_embed(w + 0j) @ q.mH - h)
u, s, vh = torch.linalg.svd(a, full_matrices=False)
show("svd", u @ torch.diag_embed(s + 0j) @ vh - a)

# Views, files, creation.
y = v.clone()
y.real[0] = 9
y.imag[1:] = 0
show("views", y)
y = a.clone()
y.diagonal().fill_(1j)
show("diagonal", y)
y = torch.zeros(2, 2, dtype=torch.complex64)
y += torch.tensor([1 + 2j, 3])
print(y)
file = io.BytesIO()
torch.save({"weights": a, "number": 2 + 3j, "names": {"one"}}, file)
file.seek(0)
back = torch.load(file, weights_only=False)
print(torch.equal(back["weights"], a), back["number"], back["names"])
print(torch.tensor(5, dtype=torch.complex64), torch.tensor([1.0, 2.0], dtype=torch.cfloat), torch.linspace(0, 1, 3, dtype=torch.complex64))
print(torch.rand_like(a).shape, torch.randn_like(a).dtype, torch.finfo(torch.complex64).eps)


# Functions with derivatives of their own, of complex numbers.
class Turn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, angle):
        ctx.angle = angle
        return x * torch.polar(torch.ones(()), torch.tensor(angle))

    @staticmethod
    def backward(ctx, g):
        return g * torch.polar(torch.ones(()), torch.tensor(-ctx.angle)), None


check("Function", lambda x: Turn.apply(x, 0.5) * x, v)

# A loop that trains complex weights.
torch.manual_seed(1)
weight = torch.nn.Parameter(torch.randn(4, 4, dtype=torch.complex64) * 0.5)
data, wanted = torch.randn(16, 4, dtype=torch.complex64), torch.randn(16, 4, dtype=torch.complex64)
optimizer = torch.optim.Adam([weight], lr=0.05)
for step in range(12):
    optimizer.zero_grad()
    out = torch.sigmoid(data @ weight)
    loss = (out - wanted).abs().square().mean()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        print(f"step {step} loss {loss.item():.4f}")
