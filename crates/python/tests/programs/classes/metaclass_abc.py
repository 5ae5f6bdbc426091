from abc import ABC, abstractmethod
class Shape(ABC):
    @abstractmethod
    def area(self): ...
    @property
    @abstractmethod
    def name(self): ...
    def show(self): return f'{self.name} {self.area()}'
class Sq(Shape):
    def __init__(self, s): self.s = s
    def area(self): return self.s ** 2
    @property
    def name(self): return 'sq'
class Half(Shape):
    def area(self): return 0
print(Sq(3).show())
for c in (Shape, Half):
    try:
        c()
    except TypeError as e:
        print(e)
print(Shape.__abstractmethods__ == {'area', 'name'}, isinstance(Sq(1), Shape))
