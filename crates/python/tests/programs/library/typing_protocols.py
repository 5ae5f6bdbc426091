from abc import ABC, abstractmethod
from typing import Generic, Protocol, SupportsInt, TypeVar, runtime_checkable

T = TypeVar("T")


@runtime_checkable
class Closes(Protocol):
    name: str

    def close(self): ...


class Sized(Protocol):
    def __len__(self) -> int: ...


class Box(Protocol[T]):
    def get(self) -> T: ...


class File:
    name = "f"

    def close(self):
        return "closed"


class Explicit(Closes):
    name = "e"

    def close(self):
        return "explicit " + super().__class__.__name__


class Part:
    def close(self):
        pass


class Base(ABC):
    @abstractmethod
    def run(self): ...


class Both(Base, Box[int]):
    def run(self):
        return "run"

    def get(self):
        return 1


@runtime_checkable
class Wider(Closes, Protocol):
    def open(self): ...


def attempt(what):
    try:
        return what()
    except TypeError as e:
        return f"TypeError: {e}"


for value in (File(), Explicit(), Part(), 1):
    print(type(value).__name__, isinstance(value, Closes), attempt(lambda: isinstance(value, Wider)))
for what in (lambda: Closes(), lambda: isinstance(1, Sized), lambda: Box(), lambda: Explicit().close(), lambda: Both().run(), lambda: Both().get(),
             lambda: isinstance(5, SupportsInt), lambda: isinstance("a", SupportsInt), lambda: isinstance(Both(), Box), lambda: runtime_checkable(File)):
    print(attempt(what))
print(issubclass(Explicit, Closes) if False else Explicit.__mro__[1].__name__, [c.__name__ for c in Both.__mro__])
