"""Numbers of one type in a row."""

import struct

_SIZES = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "l": 8, "L": 8, "q": 8, "Q": 8, "f": 4, "d": 8}
_NAMES = {"b": "signed char", "B": "unsigned byte integer", "h": "signed short integer", "H": "unsigned short", "i": "signed integer",
          "I": "unsigned int"}
typecodes = "bBuhHiIlLqQfd"


class array:
    def __init__(self, typecode, initializer=()):
        if typecode not in _SIZES:
            raise ValueError("bad typecode (must be b, B, u, h, H, i, I, l, L, q, Q, f or d)")
        self.typecode, self.itemsize, self._items = typecode, _SIZES[typecode], []
        if isinstance(initializer, (bytes, bytearray)):
            self.frombytes(initializer)
        else:
            self.extend(initializer)

    def _code(self):
        return {"l": "q", "L": "Q"}.get(self.typecode, self.typecode)

    def _kept(self, value):
        if self.typecode in "fd":
            if not isinstance(value, (int, float)):
                raise TypeError(f"must be real number, not {type(value).__name__}")
            return struct.unpack("<f", struct.pack("<f", value))[0] if self.typecode == "f" else float(value)
        if not isinstance(value, int):
            raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
        bits, signed = 8 * self.itemsize, self.typecode.islower()
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if not low <= value <= high:
            what = _NAMES.get(self.typecode)
            if what is None:
                raise OverflowError("int too big to convert" if signed or value > 0 else "can't convert negative int to unsigned")
            raise OverflowError(f"{what} is {'greater than maximum' if value > high else 'less than minimum'}")
        return value

    def append(self, x):
        self._items.append(self._kept(x))

    def extend(self, items):
        for x in items:
            self.append(x)

    fromlist = extend

    def frombytes(self, data):
        if len(data) % self.itemsize:
            raise ValueError("bytes length not a multiple of item size")
        self._items += [v for v, in struct.iter_unpack("<" + self._code(), bytes(data))]

    def tobytes(self):
        return struct.pack(f"<{len(self._items)}{self._code()}", *self._items)

    def tolist(self):
        return list(self._items)

    def insert(self, i, x):
        self._items.insert(i, self._kept(x))

    def pop(self, i=-1):
        if not self._items:
            raise IndexError("pop from empty array")
        return self._items.pop(i)

    def remove(self, x):
        if x not in self._items:
            raise ValueError("array.remove(x): x not in array")
        self._items.remove(x)

    def index(self, x):
        if x not in self._items:
            raise ValueError("array.index(x): x not in array")
        return self._items.index(x)

    def count(self, x):
        return self._items.count(x)

    def reverse(self):
        self._items.reverse()

    def _like(self, items):
        made = array(self.typecode)
        made._items = items
        return made

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(self._items)

    def __contains__(self, x):
        return x in self._items

    def __getitem__(self, i):
        if isinstance(i, slice):
            return self._like(self._items[i])
        try:
            return self._items[i]
        except IndexError:
            raise IndexError("array index out of range") from None

    def __setitem__(self, i, x):
        if isinstance(i, slice):
            self._items[i] = [self._kept(v) for v in x]
            return
        try:
            self._items[i] = self._kept(x)
        except IndexError:
            raise IndexError("array assignment index out of range") from None

    def __delitem__(self, i):
        del self._items[i]

    def __add__(self, other):
        return self._like(self._items + other._items)

    def __mul__(self, n):
        return self._like(self._items * n)

    def __eq__(self, other):
        return self._items == other._items if isinstance(other, array) else NotImplemented

    def __lt__(self, other):
        return self._items < other._items

    def __repr__(self):
        return f"array('{self.typecode}', {self._items})" if self._items else f"array('{self.typecode}')"


ArrayType = array
