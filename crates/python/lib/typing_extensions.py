"""typing's names, for scripts that also run on older Pythons."""

from typing import *
from typing import Annotated, Any, Final, Literal, NamedTuple, Protocol, TypeAlias, TypedDict, overload
