from typing import TypeVar, NamedTuple
T = TypeVar('T')
def first[U](xs: list[U]) -> U:
    return xs[0]
type Pair = tuple[int, int]
class Stack[V]:
    def __init__(self):
        self.items: list[V] = []
    def push(self, v: V):
        self.items.append(v)
        return self
print(first([3, 4]), Stack().push(1).items)
print(T)
