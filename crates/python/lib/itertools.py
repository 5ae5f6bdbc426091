"""Iterators built from iterators."""


class count:
    def __init__(self, start=0, step=1):
        if not hasattr(start, "__add__") or isinstance(start, (str, list, tuple)):
            raise TypeError("a number is required")
        self._next = start
        self._step = step

    def __iter__(self):
        return self

    def __next__(self):
        value = self._next
        self._next = value + self._step
        return value

    def __repr__(self):
        return f"count({self._next!r})" if self._step == 1 else f"count({self._next!r}, {self._step!r})"


def cycle(iterable):
    return _cycle(iter(iterable))


def _cycle(iterable):
    saved = []
    for x in iterable:
        yield x
        saved.append(x)
    while saved:
        for x in saved:
            yield x


class repeat:
    def __init__(self, object, times=None):
        self._object = object
        self._times = times if times is None else max(times, 0)

    def __iter__(self):
        return self

    def __next__(self):
        if self._times is not None:
            if self._times == 0:
                raise StopIteration
            self._times -= 1
        return self._object

    def __len__(self):
        if self._times is None:
            raise TypeError("len() of unsized object")
        return self._times

    def __repr__(self):
        return f"repeat({self._object!r})" if self._times is None else f"repeat({self._object!r}, {self._times})"


class chain:
    def __init__(self, *iterables):
        self._outer = iter(iterables)
        self._inner = iter(())

    @classmethod
    def from_iterable(cls, iterable):
        self = cls()
        self._outer = iter(iterable)
        return self

    def __iter__(self):
        for x in self._inner:
            yield x
        for inner in self._outer:
            for x in inner:
                yield x

    def __next__(self):
        while True:
            try:
                return next(self._inner)
            except StopIteration:
                self._inner = iter(next(self._outer))


def islice(iterable, *args):
    s = slice(*args)
    message = "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize."
    for x in (s.start, s.stop):
        if x is not None and (not isinstance(x, int) or x < 0):
            if len(args) == 1:
                message = "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize."
            raise ValueError(message)
    if s.step is not None and (not isinstance(s.step, int) or s.step < 1):
        raise ValueError("Step for islice() must be a positive integer or None.")
    return _islice(iter(iterable), s.start or 0, s.stop, s.step or 1)


def _islice(it, start, stop, step):
    at = 0
    wanted = start
    while stop is None or wanted < stop:
        while at < wanted:
            for _ in it:
                break
            else:
                return
            at += 1
        for x in it:
            break
        else:
            return
        at += 1
        yield x
        wanted += step
    # What precedes the end is consumed, even if the step leaves it out.
    while stop is not None and at < stop:
        for _ in it:
            break
        else:
            return
        at += 1


def zip_longest(*iterables, fillvalue=None):
    return _zip_longest([iter(it) for it in iterables], fillvalue)


def _zip_longest(its, fillvalue):
    active = len(its)
    if not active:
        return
    while True:
        row = []
        for i, it in enumerate(its):
            if it is None:
                row.append(fillvalue)
                continue
            for x in it:
                row.append(x)
                break
            else:
                active -= 1
                if not active:
                    return
                its[i] = None
                row.append(fillvalue)
        yield tuple(row)


def product(*iterables, repeat=1):
    return _product([tuple(pool) for pool in iterables] * repeat)


def _product(pools):
    n = len(pools)
    if any(not pool for pool in pools):
        return
    at = [0] * n
    row = [pool[0] for pool in pools]
    while True:
        yield tuple(row)
        i = n - 1
        while i >= 0:
            at[i] += 1
            if at[i] < len(pools[i]):
                row[i] = pools[i][at[i]]
                break
            at[i] = 0
            row[i] = pools[i][0]
            i -= 1
        if i < 0:
            return


def permutations(iterable, r=None):
    pool = tuple(iterable)
    n = len(pool)
    r = n if r is None else r
    if r > n:
        return
    indices = list(range(n))
    cycles = list(range(n, n - r, -1))
    yield tuple(pool[i] for i in indices[:r])
    while n:
        for i in reversed(range(r)):
            cycles[i] -= 1
            if cycles[i] == 0:
                indices[i:] = indices[i + 1:] + indices[i:i + 1]
                cycles[i] = n - i
            else:
                j = cycles[i]
                indices[i], indices[-j] = indices[-j], indices[i]
                yield tuple(pool[i] for i in indices[:r])
                break
        else:
            return


def _pool(iterable, r):
    pool = tuple(iterable)
    if r < 0:
        raise ValueError("r must be non-negative")
    return pool


def combinations(iterable, r):
    return _combinations(_pool(iterable, r), r)


def _combinations(pool, r):
    n = len(pool)
    if r > n:
        return
    indices = list(range(r))
    yield tuple(pool[i] for i in indices)
    while True:
        for i in reversed(range(r)):
            if indices[i] != i + n - r:
                break
        else:
            return
        indices[i] += 1
        for j in range(i + 1, r):
            indices[j] = indices[j - 1] + 1
        yield tuple(pool[i] for i in indices)


def combinations_with_replacement(iterable, r):
    return _combinations_with_replacement(_pool(iterable, r), r)


def _combinations_with_replacement(pool, r):
    n = len(pool)
    if not n and r:
        return
    indices = [0] * r
    yield tuple(pool[i] for i in indices)
    while True:
        for i in reversed(range(r)):
            if indices[i] != n - 1:
                break
        else:
            return
        indices[i:] = [indices[i] + 1] * (r - i)
        yield tuple(pool[i] for i in indices)


def accumulate(iterable, func=None, *, initial=None):
    it = iter(iterable)
    if initial is None:
        for total in it:
            break
        else:
            return
    else:
        total = initial
    yield total
    for x in it:
        total = total + x if func is None else func(total, x)
        yield total


def starmap(function, iterable):
    for args in iterable:
        yield function(*args)


def takewhile(predicate, iterable):
    for x in iterable:
        if not predicate(x):
            return
        yield x


def dropwhile(predicate, iterable):
    it = iter(iterable)
    for x in it:
        if not predicate(x):
            yield x
            break
    for x in it:
        yield x


def filterfalse(predicate, iterable):
    for x in iterable:
        if not (x if predicate is None else predicate(x)):
            yield x


def compress(data, selectors):
    for x, keep in zip(data, selectors):
        if keep:
            yield x


def pairwise(iterable):
    it = iter(iterable)
    for a in it:
        break
    else:
        return
    for b in it:
        yield a, b
        a = b


def batched(iterable, n):
    if n < 1:
        raise ValueError("n must be at least one")
    return _batched(iter(iterable), n)


def _batched(iterable, n):
    it = iter(iterable)
    while batch := tuple(islice(it, n)):
        yield batch


class groupby:
    def __init__(self, iterable, key=None):
        self._it = iter(iterable)
        self._key = key
        self._group = None
        self._pending = []
        self._current = None

    def __iter__(self):
        return self

    def _fetch(self):
        # The next value with its key, kept until it is taken.
        if not self._pending:
            value = next(self._it)
            self._pending.append((value if self._key is None else self._key(value), value))
        return self._pending[0]

    def __next__(self):
        previous = self._group
        while True:
            key, _ = self._fetch()
            if previous is None or key != self._current:
                break
            self._pending.pop()
        self._current = key
        self._group = object()
        return key, self._items(self._group, key)

    def _items(self, group, key):
        while self._group is group:
            try:
                k, value = self._fetch()
            except StopIteration:
                return
            if k != key:
                return
            self._pending.pop()
            yield value


def tee(iterable, n=2):
    it = iter(iterable)
    queues = [[] for _ in range(n)]

    def branch(queue):
        at = 0
        while True:
            if at == len(queue):
                for x in it:
                    for q in queues:
                        q.append(x)
                    break
                else:
                    return
            yield queue[at]
            queue[at] = None
            at += 1

    return tuple(branch(q) for q in queues)
