"""torch.version."""

__version__ = "2.15.0"
cuda = hip = git_version = None
debug = False
