import math

import torch

torch.manual_seed(0)
z = torch.complex(torch.tensor([1.0, -2.0, 0.5]), torch.tensor([2.0, 0.0, -1.5]))
print(z, z.dtype, z.shape, z.is_complex(), z.is_floating_point(), z.dtype.is_complex, z.dim(), z.numel(), len(z))
print(z.real, z.imag, z.abs(), z.angle(), z.conj())
print(z + 1, z * 2, z * z, z / (1 + 2j), 1j * z, z - z.conj(), -z)
print(z[0], z[1:], z[0].item(), z.tolist())
print(torch.tensor([1 + 2j, 3]), torch.tensor(1j), torch.tensor([[0.5j, 1], [2, 1 - 1j]]))
print(torch.zeros(2, dtype=torch.cfloat), torch.ones(2, 2, dtype=torch.complex64))
print(torch.randn(3, dtype=torch.cfloat))
print(torch.view_as_real(z), torch.view_as_complex(torch.tensor([[1.0, 2.0], [3.0, -4.0]])))
print(torch.polar(torch.ones(4), torch.arange(4) * math.pi / 2))
m = torch.randn(2, 3, dtype=torch.cfloat)
print(m @ m.conj().T, m.transpose(0, 1).shape, m.reshape(3, 2).shape, m.unsqueeze(-1).shape, m.flatten().shape, m.sum(), m.mean(dim=1), m.sum(-1))
print(torch.cat([z, z]), torch.stack([z, z], dim=-1).shape, m[..., 0], m[:, None].shape, (z == z).all(), torch.exp(1j * torch.tensor([0.0, math.pi])))
w = z.clone()
w[0] = 5 - 1j
w[1:] = torch.tensor([0.0, 1.0])
print(w, z[0], torch.allclose(w, w), w.permute(0).shape, w.abs().max(), torch.isclose(w, z))
x = torch.arange(8.0)
f = torch.fft.fft(x)
print(f, torch.allclose(torch.fft.ifft(f).real, x, atol=1e-5))
r = torch.fft.rfft(x)
print(r, r.shape, torch.allclose(torch.fft.irfft(r, n=8), x, atol=1e-5))
print(torch.fft.fft(x, n=4, norm="ortho"), torch.fft.fftfreq(5, d=0.1), torch.fft.rfftfreq(6))
print(torch.fft.fftshift(torch.arange(5)), torch.fft.ifftshift(torch.arange(5)), torch.fft.fftshift(torch.arange(6).reshape(2, 3)))
img = torch.randn(4, 6)
F2 = torch.fft.fft2(img)
print(F2.shape, F2.abs().mean(), torch.fft.ifft2(F2).real.sub(img).abs().max() < 1e-5)
R2 = torch.fft.rfft2(img)
print(R2.shape, torch.allclose(torch.fft.irfft2(R2, s=img.shape), img, atol=1e-5), torch.fft.fftn(img).shape)
p = torch.nn.Parameter(torch.randn(3, dtype=torch.cfloat))
loss = (p * z).abs().pow(2).sum()
loss.backward()
print(loss, p.grad)
opt_x = torch.randn(16, requires_grad=True)
spec = torch.fft.rfft(opt_x).abs().sum()
spec.backward()
print(spec, opt_x.grad[:4])


class SpectralConv1d(torch.nn.Module):
    def __init__(self, i, o, modes):
        super().__init__()
        self.modes, self.o = modes, o
        self.weights1 = torch.nn.Parameter((1 / (i * o)) * torch.rand(i, o, modes, 2))

    def forward(self, x):
        x_ft = torch.fft.rfft(x)
        out = torch.zeros(x.shape[0], self.o, x.size(-1) // 2 + 1, device=x.device, dtype=torch.cfloat)
        out[:, :, :self.modes] = torch.einsum("bix,iox->box", x_ft[:, :, :self.modes], torch.view_as_complex(self.weights1))
        return torch.fft.irfft(out, n=x.size(-1))


conv = SpectralConv1d(2, 3, 3)
y = conv(torch.randn(2, 2, 8))
y.pow(2).mean().backward()
print(y.shape, y[0, 0, :3], conv.weights1.grad.norm())
wave = torch.sin(torch.arange(64.0) * 0.3)
S = torch.stft(wave, n_fft=16, hop_length=4, window=torch.hann_window(16), return_complex=True)
print(S.shape, S.dtype, S[2, 3], S.abs().mean())
back = torch.istft(S, n_fft=16, hop_length=4, window=torch.hann_window(16), length=64)
print(torch.allclose(back, wave, atol=1e-5), back.shape)
B = torch.stft(torch.stack([wave, -wave]), 16, return_complex=True, window=torch.ones(16), center=False)
print(B.shape, torch.view_as_real(B)[0, 1, 0])
for f in (lambda: torch.view_as_complex(torch.zeros(3)), lambda: torch.imag(x),
          lambda: torch.view_as_real(x)):
    try:
        f()
        print("fine")
    except (RuntimeError, TypeError) as e:
        print(type(e).__name__, str(e)[:60])
print(z.to(torch.complex64) is z, x.to(torch.complex64)[:2], (z * x[:3])[:2], z.sum().item(), (z ** 2)[0], z.sqrt()[1], torch.abs(z), z.square()[2])
