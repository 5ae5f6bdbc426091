"""Orthogonal polynomials of any degree, and special functions at the ends of where they are defined."""
import torch

S = torch.special
x = torch.tensor([-1.0, -0.3, 0.0, 0.7, 1.0, 2.5])
degrees = torch.tensor([-2.0, -0.6, 0.0, 1.0, 3.7, 11.0]).unsqueeze(1)
for kind in "t u v w".split():
    for name in (f"chebyshev_polynomial_{kind}", f"shifted_chebyshev_polynomial_{kind}"):
        print(name, getattr(S, name)(x, degrees), getattr(S, name)(x.double(), 4).dtype)
for name in "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p".split():
    print(name, getattr(S, name)(x, degrees), getattr(S, name)(torch.tensor([1, 2]), torch.tensor([3, 4])))
print(S.hermite_polynomial_h(x.requires_grad_(), 3).requires_grad)
x = x.detach()
print(S.entr(x), S.entr(torch.tensor([0, 1, 2, -1])), S.entr(torch.tensor(-1.0, dtype=torch.bfloat16)))
for name in "i0 i0e i1 i1e".split():
    at = torch.tensor([-5.0, -0.5, 0.0, 0.5, 4.0], requires_grad=True)
    made = getattr(S, name)(at)
    made.sum().backward()
    print(name, made.detach(), at.grad, getattr(S, name)(torch.tensor([True, False])))
for name in "modified_bessel_k0 modified_bessel_k1".split():
    at = torch.tensor([0.5, 1.0, 4.0], requires_grad=True)
    getattr(S, name)(at).sum().backward()
    print(name, at.grad)
print(torch.polygamma(3, torch.tensor([1, 2, 7])), torch.polygamma(2, torch.tensor([-3.5, 0.25, 8.0])))
print(torch.tensor([1.5, 2.0], dtype=torch.bfloat16).polygamma(2), torch.tensor([1.5, -2.5]).polygamma_(1))
at, to = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([2.0, 0.0], requires_grad=True)
torch.nextafter(at, to).sum().backward()
print(at.grad, to.grad, torch.tensor([1.0]).nextafter_(torch.tensor([2.0])) > 1)
