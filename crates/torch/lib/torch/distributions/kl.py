"""`torch.distributions.kl`."""

from torch.distributions.combined import kl_divergence, register_kl
