"""torch.utils."""

from torch.utils import data
from torch.utils import checkpoint
