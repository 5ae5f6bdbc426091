"""`torch.distributions.normal`, as some scripts name it."""

from torch.distributions import Normal, kl_divergence
