from typing import *
import typing
T = TypeVar('T')
class Box(Generic[T]):
    def __init__(self, v: T): self.v = v
    def get(self) -> T: return self.v
print(Box(3).get(), Optional[int], Union[int, str], List[int], Dict[str, List[int]], Tuple[int, ...], Callable[[int], str], Any, Literal['a', 1])
print(Union[int, None] == Optional[int], Union[int, int], List[int] == List[int], get_origin(List[int]), get_args(Dict[str, int]), get_origin(Optional[int]) is Union)
class P(Protocol):
    def f(self) -> int: ...
class TD(TypedDict):
    a: int
    b: str
print(TD(a=1, b='x'), cast(int, 'a'), TYPE_CHECKING, NewType('U', int)(5))
def f(a: int, b: 'str' = 'x') -> Optional[int]: ...
print(get_type_hints(f)['a'], T, isinstance([], List), isinstance({}, Dict))
@overload
def g(x: int) -> int: ...
def g(x): return x
print(g(1), int | None, Optional['Box'] is not None)
