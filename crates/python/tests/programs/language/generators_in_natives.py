"""Methods of lists that are given generators, comparisons of what lists hold, and what is asked of classes."""


def text(v):
    return str(v)


l = [0]
l.extend(text(x) for x in [1, 2])
l.extend(x for x in (3,))
l += (text(x) for x in [4])
l[1:1] = (text(x) for x in [5])
print(l)
inner = [1]
l.extend(inner for _ in range(2))
inner.append(2)
print(l, l[-1] is inner)


class Always(tuple):
    def __eq__(self, other):
        return True

    __hash__ = None


class Rows(list):
    pass


rows = Rows([Always((1,))])
print(rows == [Always((2,))], [Always((2,))] == rows, rows == [(5,)], rows != [1], Rows([1]) == [1], Rows([1]) < [2])


class Lazy:
    def __getattr__(self, name):
        if name == "magic":
            return 42
        raise AttributeError(f"no {name}")

    def __getattribute__(self, name):
        if name == "hidden":
            raise AttributeError("hid")
        return super().__getattribute__(name)


lazy = Lazy()
print(hasattr(lazy, "magic"), hasattr(lazy, "other"), getattr(lazy, "other", 5), lazy.magic)


class Told:
    @property
    def __class__(self):
        return int


print(isinstance(Told(), int), isinstance(Told(), Told), isinstance(Told(), str), isinstance(Told(), (str, int)))


class ReadOnly:
    def __get__(self, instance, owner):
        return 1

    def __set__(self, instance, value):
        raise AttributeError("read only")


class WriteOnly:
    def __set__(self, instance, value):
        instance.__dict__["q"] = value * 2


class Holder:
    a = ReadOnly()
    q = WriteOnly()


holder = Holder()
print(type(holder.q).__name__)
holder.q = 4
print(holder.q)
for name in ("a", "q"):
    try:
        delattr(holder, name)
    except AttributeError as e:
        print(e)


class Meta(type):
    def __new__(mcs, name, bases, names):
        print("made", name)
        return super().__new__(mcs, name, bases, names)


class Base(metaclass=Meta):
    pass


print(type(type("Dynamic", (Base,), {"x": 1})).__name__, +1j, +(2 - 3j))


class Nothing:
    pass


try:
    1 in Nothing()
except TypeError as e:
    print(e)


class Number:
    def __init__(self, v):
        self.v = v

    def __index__(self):
        return self.v


n = Number
rows = [1, 2, 3]
rows.insert(n(0), 0)
print([1, 2, 3].pop(n(0)), rows, "abc".zfill(n(5)), "a b c".split(None, n(1)), "aaa".replace("a", "b", n(2)), chr(n(66)))
print((5).to_bytes(n(2), "big"), "abc".find("c", n(0)), "abc".startswith("b", n(1)), "a".center(n(3)))


class Shown:
    def __repr__(self):
        return "shown"


print([set(), Shown(), frozenset()], {"a": set(), "b": Shown()})
