"""`torch.distributions.categorical`, as some scripts name it."""

from torch.distributions import Categorical, kl_divergence
