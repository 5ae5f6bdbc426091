"""torch.utils.tensorboard.writer."""

from torch.utils.tensorboard import SummaryWriter
