"""Generic classes, aliases and annotations as objects."""
import typing
from typing import Annotated, Generic, Optional, Protocol, TypedDict, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
K = TypeVar("K", bound=int)


class Stack(Generic[T]):
    def __init__(self):
        self.items: list[T] = []

    def push(self, item: T) -> None:
        self.items.append(item)


class Pairs(Stack[K], Generic[K, T]):
    pass


class Box[V]:
    def __init__(self, value: V):
        self.value = value


class Source(Protocol[T]):
    def get(self) -> T: ...


class Row(TypedDict, total=False):
    x: int
    y: typing.Required[str]


class Settings:
    rate: Annotated[float, "per second", 3] = 1.0
    name: Optional[str] = None
    known: dict[str, list[T]]


def first[V](items: list[V]) -> V:
    return items[0]


type Rows[V] = list[V]

print(Stack[int], Stack[int]().items, Stack.__parameters__, Pairs.__parameters__, get_origin(Stack[int]), get_args(Stack[int]))
print(Stack.__orig_bases__, Pairs.__orig_bases__, Box.__orig_bases__, Box[int](3).value, Box[str], Source.__parameters__)
print(list[T], dict[str, typing.Any], tuple[int, ...], list[Optional[int]], Union[int, str, None], typing.Tuple[()])
print(Row.__required_keys__, Row.__optional_keys__, Row.__total__, first.__annotations__, first([4]), Rows.__value__)
print(get_type_hints(Settings), get_type_hints(Settings, include_extras=True)["rate"], sep="\n")
note = Annotated[int, "a"]
print(note, note.__metadata__, get_origin(note) is Annotated, get_args(note), Annotated[note, "b"], note == Annotated[int, "a"])
for attempt in (
    lambda: Stack[int, str], lambda: Pairs[int], lambda: Generic[int], lambda: Optional[1, 2], lambda: Union[()], lambda: Annotated[int],
    lambda: isinstance([], list[int]), lambda: isinstance(Stack(), Stack[int]), lambda: get_type_hints(5), lambda: isinstance(Stack(), Stack),
):
    try:
        print(attempt())
    except TypeError as e:
        print("TypeError:", e)
