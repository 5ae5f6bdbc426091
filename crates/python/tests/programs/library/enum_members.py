from enum import Enum
class Planet(Enum):
    EARTH = (5.97, 6.37)
    MARS = (0.64, 3.39)
    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius
    @property
    def density(self): return round(self.mass / self.radius ** 3, 4)
    @classmethod
    def heaviest(cls): return max(cls, key=lambda p: p.mass)
print(Planet.EARTH.mass, Planet.MARS.density, Planet.heaviest(), Planet((0.64, 3.39)).name)
class Mode(str, Enum):
    TRAIN = 'train'
    TEST = 'test'
print(Mode.TRAIN == 'train', Mode('test'), Mode.TRAIN.upper(), repr(Mode.TRAIN), Mode.TEST.value, f'{Mode.TRAIN}')
class Op(Enum):
    ADD = '+'
    def __call__(self, a, b): return a + b
    @staticmethod
    def helper(): return 'h'
    __str__ = lambda self: f'op {self.value}'
print(Op.ADD(1, 2), Op.helper(), str(Op.ADD), hash(Op.ADD) == hash(Op('+')))
try:
    class More(Planet):
        X = 1
except TypeError as e:
    print(e)
