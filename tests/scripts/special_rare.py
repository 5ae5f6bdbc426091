"""Special functions that are rarely called, windows, and complete decompositions."""
import torch

x, y = torch.tensor([0.3, 0.7, 1.5, 2.5]), torch.tensor([1.0, 2.0, 0.5, 3.0])
special = torch.special
for name in """bessel_j0 bessel_j1 erfcx modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1
scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0""".split():
    print(name, getattr(special, name)(x))
for name in "gammainc gammaincc zeta".split():
    print(name, getattr(special, name)(x + 1, y + 1))
for name in """chebyshev_polynomial_t chebyshev_polynomial_u hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l
legendre_polynomial_p""".split():
    print(name, getattr(special, name)(x, torch.tensor([0, 1, 3, 4])))
print(torch.igamma(y, x), torch.igammac(y, x), x.igamma(y), special.erfcx(torch.tensor([-1.0, 0.0, 30.0])))
print(torch.nextafter(x, y) == x, torch.nextafter(torch.tensor(1.0), torch.tensor(2.0)) - 1)
leaf = x.clone().requires_grad_()
(torch.igamma(y, leaf) + special.erfcx(leaf) + special.bessel_j0(leaf)).sum().backward()
print(leaf.grad)
for name in "bartlett blackman cosine exponential gaussian hamming hann nuttall".split():
    print(name, getattr(torch.signal.windows, name)(5), getattr(torch.signal.windows, name)(4, sym=False))
print(torch.signal.windows.kaiser(5, beta=8.0), torch.signal.windows.general_cosine(5, a=[0.4, 0.5]))
a = torch.arange(12.0).reshape(4, 3).sin() + torch.eye(4, 3)
q, r = torch.linalg.qr(a, mode="complete")
print(q, r, torch.allclose(q @ r, a, atol=1e-5), sep="\n")
