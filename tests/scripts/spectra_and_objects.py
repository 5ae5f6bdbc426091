"""Complex parameters, eigenvalues of matrices without symmetry, and NumPy's arrays of texts, objects and complex numbers."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class SpectralConv(nn.Module):
    """A layer of a Fourier neural operator."""

    def __init__(self, width, modes):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.rand(width, width, modes, dtype=torch.cfloat) / width**2)

    def forward(self, x):
        spectrum = torch.fft.rfft(x)
        out = torch.zeros(x.shape[0], x.shape[1], spectrum.shape[-1], dtype=torch.cfloat)
        out[:, :, : self.modes] = torch.einsum("bix,iox->box", spectrum[:, :, : self.modes], self.weight)
        return torch.fft.irfft(out, n=x.size(-1))


class Operator(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift, self.spectral, self.local, self.drop = nn.Linear(1, 4), SpectralConv(4, 3), nn.Conv1d(4, 4, 1), nn.Linear(4, 1)

    def forward(self, x):
        x = self.lift(x).permute(0, 2, 1)
        return self.drop(F.gelu(self.spectral(x) + self.local(x)).permute(0, 2, 1))


net = Operator()
a = torch.sin(torch.linspace(0, 6, 16)).repeat(4, 1).unsqueeze(-1) * torch.rand(4, 1, 1)
for optimizer in (torch.optim.Adam(net.parameters(), 1e-2), torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)):
    for step in range(3):
        loss = F.mse_loss(net(a), torch.cumsum(a, 1) / 16)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.6f}")
print(net.spectral.weight[0, 0], net.spectral.weight.dtype, torch.randn(2, dtype=torch.cfloat))

# An echo state network's matrix.
w = torch.randn(5, 5)
print(torch.linalg.eigvals(w).abs().max(), (w * (0.9 / torch.linalg.eigvals(w).abs().max())).norm())
values, vectors = torch.linalg.eig(torch.tensor([[0.0, 1.0], [-1.0, 0.0]]))
print(values.imag.sort().values, vectors.abs())
print(sorted(np.linalg.eigvals(np.array([[0.0, 1.0], [-1.0, 0.0]])).imag.round(4).tolist()), np.linalg.eigvals(np.array([[2.0, 1.0], [0.0, 3.0]])))

# Arrays that hold no numbers.
names = np.array(["cat", "dog", "cat"])
print(names, repr(names), names == "cat", np.unique(names), names[names != "dog"], names[np.array([1, 0])], names.shape, names.tolist())
held = np.zeros(3, dtype=object)
held[0], held[1] = (1, 2), "x"
print(held, held[0], len(held), held.dtype, np.empty(2, dtype=object))
z = np.array([1 + 2j, 3])
print(z, z.real, z.imag, np.abs(z), z.conj(), z.dtype, (z * 2)[0])
wave = np.sin(np.arange(8))
print(np.fft.fft([1, 2, 3, 4]), np.abs(np.fft.fft(wave)).round(4), np.fft.ifft(np.fft.fft(wave)).real.round(4), np.fft.rfft([1.0, 0, -1, 0]))
print(np.fft.irfft(np.fft.rfft(wave)).round(4), np.fft.fftfreq(4, 0.5), np.fft.fftshift(np.arange(4)), np.result_type(np.float32, np.int64))
