# Transforms of several dimensions of half a signal, and back.
import torch

torch.manual_seed(0)


def show(name, made):
    parts = torch.view_as_real(made.resolve_conj()) if made.is_complex() else made
    print(name, str(made.dtype)[6:], list(made.shape), [round(v, 3) + 0.0 for v in parts.detach().reshape(-1).tolist()][:24])


x = torch.randn(3, 4)
z = torch.complex(torch.randn(2, 3, 4), torch.randn(2, 3, 4))
for norm in (None, "backward", "forward", "ortho"):
    show(f"hfft2 {norm}", torch.fft.hfft2(x, norm=norm))
    show(f"ihfft2 {norm}", torch.fft.ihfft2(x, norm=norm))
    show(f"hfftn {norm}", torch.fft.hfftn(z, norm=norm))
    show(f"ihfftn {norm}", torch.fft.ihfftn(x, norm=norm))
show("hfft2 s", torch.fft.hfft2(z, s=(2, 5)))
show("hfftn dim", torch.fft.hfftn(z, dim=(2, 0)))
show("hfftn s", torch.fft.hfftn(z, s=(6,)))
show("ihfftn s dim", torch.fft.ihfftn(x, s=(2, 5), dim=(1, 0)))
show("ihfft2 of whole numbers", torch.fft.ihfft2(torch.arange(6).reshape(2, 3)))
show("hfftn of bool", torch.fft.hfftn(torch.tensor([[True, False, True]])))
show("round", torch.fft.hfft2(torch.fft.ihfft2(x), s=x.shape) - x)
w = x.clone().requires_grad_()
show("gradient", torch.autograd.grad(torch.fft.hfft2(w).square().sum(), w)[0])
show("gradient", torch.autograd.grad(torch.fft.ihfftn(w).abs().square().sum(), w)[0])
show("irfft2 of doubles", torch.fft.irfft2(x.double()))
show("irfftn of doubles", torch.fft.irfftn(x.double(), norm="ortho"))
