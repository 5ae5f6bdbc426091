"""What takes an iterator takes one item at a time, and no more than it needs."""
import collections
import itertools


class Size:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value

    def __gt__(self, other):
        return self.value > other.value

    def __add__(self, other):
        return Size(self.value + (other.value if isinstance(other, Size) else other))

    __radd__ = __add__

    def __bool__(self):
        return self.value > 0

    def __repr__(self):
        return f"Size({self.value})"


def naturals():
    i = 0
    while True:
        yield i
        i += 1


print(any(x > 5 for x in naturals()), all(x < 5 for x in itertools.count()), 7 in naturals(), 8 in itertools.count(), any(range(10**15)))
print(max(iter([Size(1), Size(2)])), min(map(Size, [3, 1])), sum(iter([Size(1), Size(2)])), sum(map(Size, range(4)), Size(10)))
print(any(iter([Size(0), Size(2)])), all(map(Size, [1, 0])), max(iter([Size(2)]), default=1), min((Size(n) for n in (3, 2)), key=lambda s: -s.value))
print(sum([0.1] * 10), sum(iter([0.1] * 10)), sum(x * 0.1 for x in range(1000)), sum(range(10**6)), sum(x for x in range(3000)), sum(iter([[1], [2]]), []))
print(sum([[1], [2]], []), sum(range(3), 10), sum(iter([1, 2.5, True])), sum(zip(), 5), sum({1: 2}), max({"a": 1, "b": 2}), min(iter("hello")))
for attempt in (
    lambda: max(iter([])), lambda: max(()), lambda: sum(5), lambda: any(5), lambda: min(x for x in []), lambda: max(iter([1, "a"])),
    lambda: sum(iter(["a"])), lambda: sum(c for c in "ab"), lambda: all(None), lambda: max(None), lambda: sum(range(3), "a"), lambda: max(Size(1), 2),
):
    try:
        print(attempt())
    except Exception as e:
        print(type(e).__name__, e)
views = {1: 2}
print(views.keys() | [3], views.keys() & (1, 5), [1, 9] - views.keys(), views.items() ^ [(1, 2), 3], views.keys() - iter([1]))
used = iter(range(10))
print(any(x > 3 for x in used), list(used), collections.deque(range(5), maxlen=2), list(itertools.islice(itertools.cycle("ab"), 3)))
for attempt in (lambda: itertools.product(1), lambda: itertools.combinations("a", -1), lambda: itertools.zip_longest(1), lambda: itertools.cycle(3), lambda: itertools.batched("a", 0)):
    try:
        print(attempt())
    except Exception as e:
        print(type(e).__name__, e)
