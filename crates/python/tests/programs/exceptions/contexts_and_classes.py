# Chains that come back, classes that make no exception, properties without a function.
try:
    try:
        nosuch
    except NameError as a:
        try:
            1 / 0
        except ZeroDivisionError:
            raise a
except NameError as e:
    print(repr(e.__context__), e.__context__.__context__)


class Odd(Exception):
    def __new__(cls, *args):
        return 3


def waits():
    try:
        yield
    except TypeError as e:
        print("in", e)


g = waits()
next(g)
try:
    g.throw(Odd)
except StopIteration:
    print("stop")
for make in (lambda: waits().throw(Odd), lambda: waits().throw(3)):
    try:
        make()
    except TypeError as e:
        print(str(e).split(" of ")[-1])


class A:
    x: int = 1

    @property
    def foo(self):
        return 1

    bar = property(None, lambda self, value: None)


class B(A):
    pass


print(B.__annotations__, A.__annotations__, B().__annotations__)
b = B()
for act in (lambda: setattr(b, "foo", 1), lambda: delattr(b, "foo"), lambda: b.bar, lambda: delattr(b, "bar")):
    try:
        act()
    except AttributeError as e:
        print(e)

X = None


def walrus():
    global X
    [X := i for i in range(3)]


walrus()
print(X)


class File:
    def write(self, text):
        pass

    def flush(self):
        print("flushed")


print("x", file=File(), flush=True)
print("x", file=File())
try:
    raise Odd
except TypeError as e:
    print(str(e)[-44:])
