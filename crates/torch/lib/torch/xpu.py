"""torch.xpu: it answers for the device in use."""

from torch._devices import define as _define

_define("xpu", globals())
