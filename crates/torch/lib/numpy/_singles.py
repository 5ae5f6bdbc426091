"""What `default_rng` draws as float32: from words of 32 bits, with ziggurats of its own
(numpy/random/src/distributions/distributions.c)."""

import _numpy
import functools
import math
import numpy as np

_PLACES = 1 << 23


@functools.cache
def _layers(of):
    """Of 256 layers: their width, how much of each is surely inside, and the density at its end."""
    if of == "normal":
        end, area = 3.654152885361009, 0.00492867323399
        density, place = lambda x: math.exp(-0.5 * x * x), lambda y: math.sqrt(-2.0 * math.log(y))
    else:
        end, area = 7.69711747013105, 0.003949659822581572
        density, place = lambda x: math.exp(-x), lambda y: -math.log(y)
    width, inside, height = [0.0] * 256, [0] * 256, [1.0] * 256
    width[255], height[255] = end / _PLACES, density(end)
    inside[0], width[0] = int(end * density(end) / area * _PLACES), area / density(end) / _PLACES
    last = end
    for i in range(254, 0, -1):
        x = place(area / last + height[i + 1])
        inside[i + 1], width[i], height[i], last = int(x / last * _PLACES), x / _PLACES, density(x), x
    inside[1] = 0
    return end, width, inside, height


class Singles:
    """Numbers of a generator's state."""

    def __init__(self, state):
        self._state = state

    def _word(self):
        return int(_numpy.randint(self._state, 0, 1 << 32, None))

    def random(self):
        return (self._word() >> 8) / 16777216.0

    def randoms(self, size):
        return np.floor(_numpy.randint(self._state, 0, 1 << 32, size) / 256.0) / 16777216.0

    def normal(self):
        end, width, inside, height = _layers("normal")
        while True:
            word = self._word()
            i, place = word & 0xff, word >> 9
            x = -place * width[i] if word >> 8 & 1 else place * width[i]
            if place < inside[i]:
                return x
            if not i:
                while True:
                    beyond, y = -math.log1p(-self.random()) / end, -math.log1p(-self.random())
                    if y + y > beyond * beyond:
                        return -end - beyond if place >> 8 & 1 else end + beyond
            elif (height[i - 1] - height[i]) * self.random() + height[i] < math.exp(-0.5 * x * x):
                return x

    def exponential(self):
        end, width, inside, height = _layers("exponential")
        while True:
            word = self._word() >> 1
            i, place = word & 0xff, word >> 8
            x = place * width[i]
            if place < inside[i]:
                return x
            if not i:
                return end - math.log1p(-self.random())
            if (height[i - 1] - height[i]) * self.random() + height[i] < math.exp(-x):
                return x

    def gamma(self, shape):
        if shape == 1.0:
            return self.exponential()
        if shape == 0.0:
            return 0.0
        if shape < 1.0:
            while True:
                u, v = self.random(), self.exponential()
                y = 0.0 if u <= 1.0 - shape else -math.log((1.0 - u) / shape)
                x = (u if u <= 1.0 - shape else 1.0 - shape + shape * y) ** (1.0 / shape)
                if x <= v + y:
                    return x
        b = shape - 1.0 / 3.0
        while True:
            x = self.normal()
            v = 1.0 + x / math.sqrt(9.0 * b)
            if v <= 0.0:
                continue
            v, u = v * v * v, self.random()
            if u < 1.0 - 0.0331 * x ** 4 or math.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v)):
                return b * v


def drawn(state, name, size, dtype, out=None, *parameters):
    """As many as `size` says, or as `out` holds; `None` where they are not of float32."""
    kind = np._name(dtype)
    if kind not in ("float32", "float64"):
        raise TypeError(f"Unsupported dtype dtype('{kind}') for {name}")
    if kind == "float64":
        return None
    of = Singles(state)
    size = out.shape if out is not None else size
    if size is None:
        return float(np.float32(getattr(of, name)(*parameters)))
    shape = (size,) if isinstance(size, int) else tuple(size)
    made = of.randoms(shape) if name == "random" else [getattr(of, name)(*parameters) for _ in range(math.prod(shape))]
    made = np.array(made, "float32").reshape(shape)
    if out is not None:
        out[...] = made
        return out
    return made
