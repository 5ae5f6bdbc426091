from __future__ import annotations
def f(x: Undefined, y: list[int] | None = None) -> Nope[int]:
    return x
class C:
    a: Missing
    b: int = 1
print(f(1), f.__annotations__)
print(C.__annotations__, C.b)
