from typing import List, Optional, Dict, Union
x: int = 5
y: List[int] = [1, 2]
z: Optional[str]
def f(a: int, b: 'Later' = None, *args: float, **kw: Dict[str, int]) -> Union[int, str]:
    v: int = a
    return v
print(x, y, f(3))
print(__annotations__['x'], 'z' in globals())
print(list(f.__annotations__), f.__annotations__['a'])
class C:
    field: int
    other: str = 's'
print(C.__annotations__, hasattr(C, 'field'), C.other)
