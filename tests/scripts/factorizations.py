"""Factorizations and what is solved with them: every form, gradients, and matrices without elements."""
import torch

L = torch.linalg
torch.manual_seed(4)
a, wide, tall = torch.randn(2, 3, 3), torch.randn(3, 5), torch.randn(5, 3)
b = torch.randn(2, 3, 2)


def shown(x):
    return (x.detach().double().round(decimals=5) + 0.0).tolist()


def slopes(f, *inputs):
    """The gradients of a sum that weighs every element of every result."""
    inputs = [x.clone().requires_grad_() for x in inputs]
    made = f(*inputs)
    made = [made] if isinstance(made, torch.Tensor) else [m for m in made if m.requires_grad]
    total = sum((m * torch.arange(1.0, m.numel() + 1).reshape(m.shape).sin()).sum() for m in made)
    return [shown(g) for g in torch.autograd.grad(total, inputs)]


for x in (a, wide, tall):
    p, l, u = L.lu(x)
    print(shown(p), shown(l), shown(u), torch.allclose(p @ l @ u, x, atol=1e-5))
    print(slopes(L.lu, x), slopes(lambda x: L.lu_factor(x)[0], x))
made = L.lu_factor_ex(torch.tensor([[1.0, 2.0], [2.0, 4.0]]))
print(made.LU, made.pivots, made.info)
factor = L.lu_factor(a)
for left in (True, False):
    for adjoint in (False, True):
        rhs = b if left else b.mT
        x = L.lu_solve(*factor, rhs, left=left, adjoint=adjoint)
        matrix = a.mT if adjoint else a
        print(torch.allclose(matrix @ x if left else x @ matrix, rhs, atol=1e-4), tuple(x.shape))
        print(slopes(lambda lu, r: L.lu_solve(lu, factor.pivots, r, left=left, adjoint=adjoint), factor.LU, rhs))
print(tuple(torch.lu_solve(b[:1], *factor).shape), [tuple(t.shape) for t in torch.lu_unpack(*factor, unpack_data=False)])
for f, args in ((L.lu_factor, (torch.zeros(2, 2),)), (L.lu_factor_ex, (torch.zeros(2, 2, 2),)), (L.lu, (a,))):
    try:
        print(f(*args, **({"check_errors": True} if f is L.lu_factor_ex else {"pivot": False} if f is L.lu else {})))
    except RuntimeError as e:
        print(e)

for driver in ("gels", "gelsy", "gelsd", "gelss", None):
    for m, r in ((tall, torch.ones(5, 2)), (wide, torch.ones(3)), (torch.randn(2, 4, 2), torch.ones(2, 4))):
        made = L.lstsq(m, r, driver=driver)
        print(driver, [(tuple(t.shape), t.dtype) for t in made], shown(made.residuals), shown(made.singular_values))
print(slopes(lambda m, r: L.lstsq(m, r)[0], tall, torch.ones(5, 2)))
try:
    L.lstsq(tall, tall, driver="best")
except RuntimeError as e:
    print(e)

spd = a @ a.mT + torch.eye(3)
for x in (a, tall):
    u, h = L.polar(x)
    print(shown(u), shown(h), slopes(L.polar, x))
print(shown(L.matrix_sqrth(spd)), slopes(L.matrix_sqrth, spd))
try:
    L.polar(wide)
except RuntimeError as e:
    print(e)

w, v = L.eig(a[0])
print(shown(w.real), shown(w.imag.abs()), shown(v.real), shown(v.imag.abs()))
print(L.eigvals(torch.tensor([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.5], [0.25, 0.0, 2.0]])))
print(slopes(lambda x: L.eigvals(x).abs(), a), slopes(lambda x: L.eig(x)[1].abs(), a))
print(slopes(lambda x: L.qr(x), wide), slopes(L.slogdet, a), slopes(L.matrix_exp, a))
print(shown(L.matrix_exp(a * 3)), shown(L.pinv(a, hermitian=True)), shown(L.pinv(tall, 0.5)), shown(torch.pinverse(tall)))
turned = L.matrix_exp(torch.complex(a[0], a[1]))
print(shown(turned.real), shown(turned.imag))
print(slopes(lambda x: L.svd(x)[1], wide), [tuple(t.shape) for t in L.svd(torch.ones(2, 0, 4))])
low = L.cholesky(spd)
for upper in (False, True):
    factor = low.mT if upper else low
    print(slopes(lambda f: torch.cholesky_inverse(f, upper), factor), slopes(lambda r, f: torch.cholesky_solve(r, f, upper), b, factor))
print(L.vander(torch.tensor(3), N=2), L.vander(torch.tensor([1, 2], dtype=torch.uint8)).dtype, slopes(lambda x: L.matrix_power(x, 0), a))

# Without elements.
for shape in ((0, 3, 3), (2, 0, 0), (0, 0)):
    x = torch.zeros(shape)
    for f in (L.lu, L.lu_factor, L.eig, L.eigvals, L.slogdet, L.matrix_exp, torch.geqrf, L.ldl_factor_ex, L.svd, L.qr, L.matrix_sqrth, L.polar):
        made = f(x)
        made = [made] if isinstance(made, torch.Tensor) else made
        print([(tuple(t.shape), t.dtype) for t in made])
print(tuple(x.geqrf()[1].shape), tuple(torch.zeros(2, 4, 0).orgqr(torch.zeros(2, 0)).shape),
      tuple(torch.randn(4, 2).ormqr(torch.randn(2), torch.randn(4, 3)).shape))
