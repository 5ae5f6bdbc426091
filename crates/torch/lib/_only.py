"""Only names are in this module (`_named`)."""

import _named

__path__ = []
__getattr__ = _named.names(__name__)
