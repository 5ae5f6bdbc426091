# What natives hand over to Python code, and builtins that are simplest in Python. Tracebacks leave its frames out.
# Long: a list of small functions that know nothing of one another.

def _launch(function, args):
    return function(*args)

def _collect(iterable):
    return [x for x in iterable]

def _collect_some(iterable, count):
    out = []
    if count <= 0:
        return out
    for x in iterable:
        out.append(x)
        if len(out) >= count:
            break
    return out

# Keys whose class defines equality in Python: the equal key that is there, or the key itself, its hash known.

def _hash(value):
    if type(value) is tuple or (isinstance(value, tuple) and _is_plain(value, '__hash__')):
        for x in value:
            _hash(x)
        return hash(_plain(value))
    if isinstance(value, frozenset):
        return hash(_plain(value))
    if type(value).__name__ == 'GenericAlias':
        return hash(value.__origin__) ^ hash(value.__args__)
    if type(value).__name__ == 'UnionType':
        return hash(frozenset(value.__args__))
    method = _lookup(value, '__hash__')
    if method is None:
        return hash(value)
    h = method()
    if not isinstance(h, int):
        raise TypeError("__hash__ method should return an integer")
    h = int(h)
    if h == -1 or not -1 << 63 <= h < 1 << 63:
        h = hash(h)
    _set_hash(value, h if h != 0 else 1)
    return h

def _key(container, key):
    _hash(key)
    for known in _same_hash(container, key):
        if known is key or known == key:
            return known
    return key

def _getitem(container, key):
    if isinstance(container, (dict, _type_mappingproxy)):
        return _keyed("get", container, _key(container, key), None)
    return container[_place(key)]

def _place(key):
    if isinstance(key, slice):
        return slice(_index_of(key.start), _index_of(key.stop), _index_of(key.step))
    return _index_of(key)

def _setitem(container, key, value):
    if isinstance(container, dict):
        return _keyed("set", container, _key(container, key), value)
    container[_place(key)] = value

def _delitem(container, key):
    if isinstance(container, dict):
        return _keyed("del", container, _key(container, key), None)
    del container[_place(key)]

def _index_of(value):
    if value is None or isinstance(value, int):
        return value
    method = _lookup(value, '__index__')
    if method is None:
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
    value = method()
    if not isinstance(value, int):
        raise TypeError(f"__index__ returned non-int (type {type(value).__name__})")
    return value

def _make_set(values, frozen):
    s = set()
    for v in values:
        _keyed("add", s, _key(s, v), None)
    return frozenset(s) if frozen else s

def _make_dict(values):
    d = {}
    it = iter(values)
    for k in it:
        _keyed("set", d, _key(d, k), next(it))
    return d

def _set_add(s, value):
    _keyed("add", s, _key(s, value), None)

def _set_remove(s, value):
    _keyed("del", s, _key(s, value), None)

def _set_discard(s, value):
    k = _key(s, value)
    if _keyed("in", s, k, None):
        _keyed("del", s, k, None)

def _set_update(s, *others):
    for other in others:
        for x in other:
            set.add(s, x)

def _set_put(s, made):
    set.clear(s)
    _set_update(s, made)

def _set_intersection_update(s, *others):
    _set_put(s, _set_intersection(s, *others))

def _set_difference_update(s, *others):
    _set_put(s, _set_difference(s, *others))

def _set_symmetric_difference(s, other):
    return _set_operation('^', s, set(other))

def _set_symmetric_difference_update(s, other):
    _set_put(s, _set_symmetric_difference(s, other))

def _set_union(s, *others):
    out = s.copy()
    out = set(out)
    for other in others:
        for x in other:
            out.add(x)
    return frozenset(out) if isinstance(s, frozenset) else out

def _set_intersection(s, *others):
    out = [x for x in s if all([x in (o if isinstance(o, (set, frozenset, dict)) else list(o)) for o in others])]
    return frozenset(out) if isinstance(s, frozenset) else set(out)

def _set_difference(s, *others):
    others = [o if isinstance(o, (set, frozenset, dict)) else list(o) for o in others]
    out = [x for x in s if not any([x in o for o in others])]
    return frozenset(out) if isinstance(s, frozenset) else set(out)

def _set_operation(op, a, b):
    if op == '|':
        return _set_union(a, b)
    if op == '&':
        return _set_intersection(a, b)
    if op == '-':
        return _set_difference(a, b)
    return _set_union(_set_difference(a, b), [x for x in b if x not in a])

def _set_issubset(s, other):
    other = list(other)
    return all([x in other for x in s])

def _set_issuperset(s, other):
    return all([x in s for x in other])

def _isdisjoint(s, other):
    for x in other:
        if x in s:
            return False
    return True

def _dict_update(d, other):
    if hasattr(other, 'keys'):
        for k in other.keys():
            d[k] = other[k]
        return
    i = 0
    for pair in other:
        try:
            pair = tuple(pair)
        except TypeError:
            raise TypeError(f"cannot convert dictionary update sequence element #{i} to a sequence") from None
        if len(pair) != 2:
            raise ValueError(f"dictionary update sequence element #{i} has length {len(pair)}; 2 is required")
        d[pair[0]] = pair[1]
        i += 1

def _as_dict(other):
    out = {}
    for k in other.keys():
        out[k] = other[k]
    return out

def _dict_get(d, key, default=None):
    k = _key(d, key)
    return _keyed("get", d, k, None) if _keyed("in", d, k, None) else default

def _dict_pop(d, key, *default):
    k = _key(d, key)
    if _keyed("in", d, k, None):
        value = _keyed("get", d, k, None)
        _keyed("del", d, k, None)
        return value
    if default:
        return default[0]
    raise KeyError(key)

def _dict_setdefault(d, key, default=None):
    k = _key(d, key)
    if _keyed("in", d, k, None):
        return _keyed("get", d, k, None)
    _keyed("set", d, k, default)
    return default

def _fromkeys(cls, iterable, value=None):
    d = cls()
    for k in iterable:
        d[k] = value
    return d

def _contains(container, value):
    if isinstance(container, (dict, set, frozenset)):
        return _keyed("in", container, _key(container, value), None)
    for x in container:
        if x is value or x == value:
            return True
    return False

def _index(items, value, start=0, stop=None):
    n = len(items)
    if start < 0:
        start = max(start + n, 0)
    if stop is None:
        stop = n
    elif stop < 0:
        stop += n
    i = start
    while i < stop and i < len(items):
        if items[i] is value or items[i] == value:
            return i
        i += 1
    if isinstance(items, tuple):
        raise ValueError("tuple.index(x): x not in tuple")
    raise ValueError(f"{value!r} is not in list")

def _count(items, value):
    n = 0
    for x in items:
        if x is value or x == value:
            n += 1
    return n

def _list_remove(items, value):
    for i, item in enumerate(items):
        if item is value or item == value:
            del items[i:i + 1]
            return
    raise ValueError("list.remove(x): x not in list")

def _equal_items(a, b):
    if len(a) != len(b):
        return False
    # What compares may change either.
    for x, y in zip(a, b):
        if not (x is y or x == y):
            return False
    return len(a) == len(b)

def _compare(op, a, b):
    if type(a).__name__ in ('dict_keys', 'dict_items') or type(b).__name__ in ('dict_keys', 'dict_items'):
        a, b = set(a), set(b)
    if op == '==' or op == '!=':
        if type(a).__name__ in ('GenericAlias', 'UnionType') and type(a) is type(b):
            if type(a).__name__ == 'UnionType':
                same = set(a.__args__) == set(b.__args__)
            else:
                same = a.__origin__ is b.__origin__ and a.__args__ == b.__args__
            return same == (op == '==')
        if isinstance(a, dict) and isinstance(b, dict):
            same = len(a) == len(b)
            if same:
                for k in a:
                    if k not in b or not (a[k] is b[k] or a[k] == b[k]):
                        same = False
                        break
        elif isinstance(a, (set, frozenset)):
            same = len(a) == len(b)
            if same:
                for x in a:
                    if x not in b:
                        same = False
                        break
        else:
            same = _equal_items(a, b)
        return same if op == '==' else not same
    if isinstance(a, (set, frozenset)):
        if op == '<=' or op == '<':
            return all([x in b for x in a]) and (op == '<=' or len(a) < len(b))
        return all([x in a for x in b]) and (op == '>=' or len(a) > len(b))
    for x, y in zip(a, b):
        if not (x is y or x == y):
            if op == '<':
                return x < y
            if op == '<=':
                return x <= y
            if op == '>':
                return x > y
            return x >= y
    if op == '<':
        return len(a) < len(b)
    if op == '<=':
        return len(a) <= len(b)
    if op == '>':
        return len(a) > len(b)
    return len(a) >= len(b)

# Iteration

def map(function, iterable, *more):
    return _map(function, iter(iterable)) if not more else _map_many(function, [iter(i) for i in (iterable, *more)])

def _named(name):
    def rename(function):
        function.__name__ = name
        return function
    return rename

@_named('map')
def _map(function, iterator):
    for x in iterator:
        yield function(x)

@_named('map')
def _map_many(function, iterators):
    while True:
        args = []
        for i in iterators:
            try:
                args.append(next(i))
            except StopIteration:
                return
        yield function(*args)

def filter(function, iterable):
    return _filter(function, iter(iterable))

@_named('filter')
def _filter(function, iterator):
    if function is None:
        for x in iterator:
            if x:
                yield x
    else:
        for x in iterator:
            if function(x):
                yield x

def _enumerate(iterable, start=0):
    return _enumerate_over(iter(iterable), start)

@_named('enumerate')
def _enumerate_over(iterator, n):
    for x in iterator:
        yield n, x
        n += 1

def _zip(*iterables, strict=False):
    return _zip_over([iter(i) for i in iterables], strict)

@_named('zip')
def _zip_over(iterators, strict):
    if not iterators:
        return
    while True:
        row = []
        for i in iterators:
            try:
                row.append(next(i))
            except StopIteration:
                if strict:
                    at = len(row)
                    if at > 0:
                        plural = ' ' if at == 1 else f's 1-'
                        raise ValueError(f"zip() argument {at + 1} is shorter than argument{plural}{at}") from None
                    for j in range(1, len(iterators)):
                        try:
                            next(iterators[j])
                        except StopIteration:
                            continue
                        plural = ' ' if j == 1 else f's 1-'
                        raise ValueError(f"zip() argument {j + 1} is longer than argument{plural}{j}") from None
                return
        yield tuple(row)

def _iter_items(sequence):
    i = 0
    while True:
        try:
            value = sequence[i]
        except (IndexError, StopIteration):
            return
        yield value
        i += 1

def _iter_sentinel(function, sentinel):
    while True:
        value = function()
        if value == sentinel:
            return
        yield value

def _reversed(sequence):
    i = len(sequence)
    while i > 0:
        i -= 1
        yield sequence[i]

def _range(cls, *args):
    return range(*[_index_of(a) for a in args])

def _prod(iterable, *, start=1):
    for x in iterable:
        start = start * x
    return start

def _sumprod(p, q):
    p, q, total = list(p), list(q), 0
    if len(p) != len(q):
        raise ValueError("Inputs are not the same length")
    for x, y in zip(p, q):
        total = total + x * y
    return total

def _close(generator):
    try:
        _throw(generator, GeneratorExit())
    except (GeneratorExit, StopIteration):
        return None
    raise RuntimeError("generator ignored GeneratorExit")

def _finalise(generator):
    try:
        _close(generator)
    except BaseException:
        pass

# Reductions

def _sum(iterable, start=0):
    if type(iterable) is not list and type(iterable) is not tuple:
        # Numbers that come one by one are added as those of a list are.
        items = []
        left = 1048576
        for x in iterable:
            items.append(x)
            left -= 1
            if not left:
                start = sum(items, start)
                items = []
                left = 1048576
        return sum(items, start)
    for x in iterable:
        start = start + x
    return start

def _getframe(depth=0):
    from inspect import _frame
    return _frame(depth)

# Keys or items of a dictionary with anything that can be iterated.

def _view_operation(sign, a, b):
    a, b = set(a), set(b)
    return a | b if sign == '|' else a & b if sign == '&' else a - b if sign == '-' else a ^ b

# Where a native took some items and cannot go on.

def _chained(items, rest):
    yield from items
    if rest is not None:
        yield from rest

def _go_on(function, items, rest, *more):
    return function(_chained(items, rest), *more)

def _any(iterable):
    for x in iterable:
        if x:
            return True
    return False

def _all(iterable):
    for x in iterable:
        if not x:
            return False
    return True

_missing = object()

def _extreme(name, args, key, default, least):
    items = args[0] if len(args) == 1 else args
    if len(args) > 1 and default is not _missing:
        raise TypeError(f"Cannot specify a default for {name}() with multiple positional arguments")
    best = best_key = _missing
    for x in items:
        k = x if key is None else key(x)
        if best is _missing or (k < best_key if least else k > best_key):
            best = x
            best_key = k
    if best is _missing:
        if default is _missing:
            raise ValueError(f"{name}() iterable argument is empty")
        return default
    return best

def _min(*args, key=None, default=_missing):
    return _extreme('min', args, key, default, True)

def _max(*args, key=None, default=_missing):
    return _extreme('max', args, key, default, False)

def _sorted(iterable, /, *, key=None, reverse=False):
    out = list(iterable)
    _list_sort(out, key=key, reverse=reverse)
    return out

def _list_sort(items, *, key=None, reverse=False):
    # What keys and comparisons do to the list meanwhile is found in the end: they see it empty.
    values = list.copy(items)
    list.clear(items)
    try:
        keys = values[:] if key is None else [key(x) for x in values]
        _sort_pairs(values, keys, bool(reverse))
    finally:
        changed = len(items) > 0
        list.clear(items)
        list.extend(items, values)
    if changed:
        raise ValueError("list modified during sort")

def _sort_pairs_slow(items, keys, reverse):
    order = list(range(len(items)))
    if reverse:
        order.reverse()
    order = _merge_sort(order, keys)
    if reverse:
        order.reverse()
    items[:] = [items[i] for i in order]

def _merge_sort(order, keys):
    width = 1
    n = len(order)
    while width < n:
        out = []
        start = 0
        while start < n:
            middle = min(start + width, n)
            end = min(start + 2 * width, n)
            a, b = start, middle
            while a < middle and b < end:
                if keys[order[b]] < keys[order[a]]:
                    out.append(order[b])
                    b += 1
                else:
                    out.append(order[a])
                    a += 1
            out.extend(order[a:middle])
            out.extend(order[b:end])
            start = end
        order = out
        width *= 2
    return order

def _complex(cls, *parts, **named):
    def part(value):
        method = _lookup(value, '__complex__') or _lookup(value, '__float__') or _lookup(value, '__index__')
        if method is None:
            if type(value) in (int, float, complex, bool, str):
                return value
            raise TypeError(f"complex() first argument must be a string or a number, not '{type(value).__name__}'")
        return method()
    return complex(*[part(v) for v in parts], **{k: part(v) for k, v in named.items()})

def _round(number, ndigits=None):
    method = _lookup(number, '__round__')
    if method is None:
        raise TypeError(f"type {type(number).__name__} doesn't define __round__ method")
    return method() if ndigits is None else method(ndigits)

def _divmod(a, b):
    method = _lookup(a, '__divmod__')
    if method is not None:
        result = method(b)
        if result is not NotImplemented:
            return result
    method = _lookup(b, '__rdivmod__')
    if method is not None:
        return method(a)
    return (a // b, a % b)

# Text

def _repr(value, around=()):
    if _type_of(value) in (list, tuple, dict, set, frozenset, _type_dict_keys, _type_dict_values, _type_dict_items):
        return _repr_container(value, around)
    method = _lookup(value, '__repr__')
    if method is None:
        args = getattr(value, '__args__', None)
        if args is None:
            return repr(value)
        args = [_repr_type(x) for x in args]
        return ' | '.join(args) if value.__origin__ == '|' else f"{_repr_type(value.__origin__)}[{', '.join(args)}]"
    if isinstance(value, (list, tuple, dict, set, frozenset)) and _is_plain(value, '__repr__'):
        text = _repr_container(_plain(value), around)
        if isinstance(value, (set, frozenset)):
            return f'{type(value).__name__}({text[text.index("{"):text.rindex("}") + 1] if value else ""})'
        return text
    text = method()
    if not isinstance(text, str):
        raise TypeError(f"__repr__ returned non-string (type {type(text).__name__})")
    return text

def _repr_type(value):
    if value is ...:
        return '...'
    if not isinstance(value, type):
        return '[' + ', '.join([_repr_type(x) for x in value]) + ']' if isinstance(value, list) else repr(value)
    return value.__qualname__ if value.__module__ == 'builtins' else f'{value.__module__}.{value.__qualname__}'

def _repr_item(value, around):
    return _repr(value, around) if _type_of(value) in (list, tuple, dict, set, frozenset) else repr(value)

def _repr_container(value, around):
    for outer in around:
        if outer is value:
            return '[...]' if isinstance(value, list) else '{...}' if isinstance(value, dict) else '(...)'
    around = (*around, value)
    if isinstance(value, list):
        return '[' + ', '.join([_repr_item(x, around) for x in value]) + ']'
    if isinstance(value, tuple):
        if len(value) == 1:
            return '(' + _repr_item(value[0], around) + ',)'
        return '(' + ', '.join([_repr_item(x, around) for x in value]) + ')'
    if isinstance(value, dict):
        return '{' + ', '.join([_repr_item(k, around) + ': ' + _repr_item(v, around) for k, v in value.items()]) + '}'
    if isinstance(value, (set, frozenset)):
        if not value:
            return 'frozenset()' if isinstance(value, frozenset) else 'set()'
        text = '{' + ', '.join([_repr_item(x, around) for x in value]) + '}'
        return 'frozenset(' + text + ')' if isinstance(value, frozenset) else text
    name = type(value).__name__
    return name + '([' + ', '.join([_repr_item(x, around) for x in value]) + '])'

def _str(value):
    method = _lookup(value, '__str__')
    if method is None or _is_plain(value, '__str__'):
        if isinstance(value, BaseException) and method is not None:
            return method()
        return _repr(value)
    text = method()
    if not isinstance(text, str):
        raise TypeError(f"__str__ returned non-string (type {type(text).__name__})")
    return text

def _exception_repr(self):
    name = type(self).__name__
    if len(self.args) == 1:
        return f"{name}({self.args[0]!r})"
    return f"{name}{self.args!r}"

def _ascii(value):
    text = repr(value)
    out = []
    for c in text:
        n = ord(c)
        out.append(c if n < 128 else f'\\x{n:02x}' if n < 256 else f'\\u{n:04x}' if n < 65536 else f'\\U{n:08x}')
    return ''.join(out)

def _print(*args, sep=' ', end='\n', file=None, flush=False):
    args = [str(a) for a in args]
    print(*args, sep=sep, end=end, file=file, flush=flush)

def _flush(stream):
    stream.flush()

def _input(prompt):
    return input(str(prompt))

def _percent(template, values):
    kinds = _percent_kinds(template)
    if isinstance(values, tuple):
        out = []
        i = 0
        for v in values:
            kind = kinds[i][0] if i < len(kinds) else 's'
            out.append(_percent_value(kind, v))
            i += 1
        return _percent_fixed(template, kinds, tuple(out))
    if isinstance(values, dict) or (kinds and kinds[0][1] is not None):
        out = {}
        for kind, key in kinds:
            if key is not None:
                out[key] = _percent_value(kind, values[key])
        return _percent_fixed(template, kinds, out)
    return _percent_fixed(template, kinds, (_percent_value(kinds[0][0] if kinds else 's', values),))

def _percent_value(kind, v):
    if kind == 's':
        return str(v)
    if kind in 'ra':
        return _Repr(repr(v) if kind == 'r' else ascii(v))
    if kind in 'diuoxX*':
        if isinstance(v, (int, float)):
            return v
        method = _lookup(v, '__index__') or _lookup(v, '__int__')
        if method is None:
            name = 'a real number' if kind in 'diu' else 'an integer'
            raise TypeError(f"%{kind} format: {name} is required, not {type(v).__name__}")
        return int(v)
    if kind in 'eEfFgG':
        return v if isinstance(v, (int, float)) else float(v)
    return v

class _Repr:
    def __init__(self, text):
        self.text = text

def _percent_fixed(template, kinds, values):
    # Values that were rendered already go where %r and %a stood as %s.
    codes = [k for k, _ in kinds if k != '*']
    if 'r' in codes or 'a' in codes:
        out = []
        i = 0
        n = len(template)
        while i < n:
            c = template[i]
            out.append(c)
            i += 1
            if c == '%':
                if i < n and template[i] == '%':
                    out.append('%')
                    i += 1
                    continue
                if i < n and template[i] == '(':
                    depth = 0
                    while i < n:
                        out.append(template[i])
                        depth += (template[i] == '(') - (template[i] == ')')
                        i += 1
                        if depth == 0:
                            break
                while i < n and template[i] in '#0- +123456789.*hlL':
                    out.append(template[i])
                    i += 1
                if i < n:
                    out.append('s' if template[i] in 'ra' else template[i])
                    i += 1
        template = ''.join(out)
        if isinstance(values, dict):
            values = {k: v.text if type(v) is _Repr else v for k, v in values.items()}
        else:
            values = tuple([v.text if type(v) is _Repr else v for v in values])
    return template % values

def _format(template, args, kwargs, depth=2, counter=None):
    if depth < 0:
        raise ValueError("Max string recursion exceeded")
    if counter is None:
        counter = [0, None]
    out = []
    for literal, name, spec, conversion in _format_parts(template):
        out.append(literal)
        if name is None:
            continue
        first = name
        for i in range(len(name)):
            if name[i] in '.[':
                first = name[:i]
                break
        if first == '':
            if counter[1] is False:
                raise ValueError("cannot switch from manual field specification to automatic field numbering")
            counter[1] = True
            name = str(counter[0]) + name
            counter[0] += 1
        elif first.isdigit():
            if counter[1] is True:
                raise ValueError("cannot switch from automatic field numbering to manual field specification")
            counter[1] = False
        start, steps = _format_name(name)
        if isinstance(start, int):
            if start >= len(args):
                raise IndexError(f"Replacement index {start} out of range for positional args tuple")
            value = args[start]
        else:
            value = kwargs[start]
        for attribute, key in steps:
            value = getattr(value, key) if attribute else value[key]
        if conversion == 'r':
            value = repr(value)
        elif conversion == 's':
            value = str(value)
        elif conversion == 'a':
            value = ascii(value)
        elif conversion is not None:
            raise ValueError(f"Unknown conversion specifier {conversion}")
        if '{' in spec or '}' in spec:
            spec = _format(spec, args, kwargs, depth - 1, counter)
        out.append(format(value, spec))
    return ''.join(out)

# Classes

def _class_hooks(cls, named, keywords, custom):
    for name, value in named:
        type(value).__set_name__(value, cls, name)
    if custom:
        super(cls, cls).__init_subclass__(**keywords)
    elif keywords:
        raise TypeError(f"{cls.__name__}.__init_subclass__() takes no keyword arguments")
    return cls

def _isinstance(value, cls):
    if type(cls).__name__ == 'UnionType':
        cls = tuple([type(None) if c is None else c for c in cls.__args__])
    if isinstance(cls, tuple):
        for c in cls:
            if isinstance(value, c):
                return True
        return False
    if type(value) is cls:
        return True
    if type(cls) is type:
        return issubclass(type(value), cls) or issubclass(value.__class__, cls)
    return bool(type(cls).__instancecheck__(cls, value))

def _issubclass(sub, cls):
    if type(cls).__name__ == 'UnionType':
        cls = tuple([type(None) if c is None else c for c in cls.__args__])
    if isinstance(cls, tuple):
        for c in cls:
            if issubclass(sub, c):
                return True
        return False
    return bool(type(cls).__subclasscheck__(cls, sub))

def _match_sequence(subject, count, star):
    abc = _modules().get('collections.abc')
    if abc is None or not isinstance(subject, abc.Sequence):
        return False
    return len(subject) >= count if star else len(subject) == count

def _match_class(subject, cls, positional, names):
    if not isinstance(cls, type):
        raise TypeError("called match pattern must be a class")
    if not isinstance(subject, cls):
        return None
    values = []
    if positional:
        for name in getattr(cls, '__match_args__', ())[:positional]:
            if name in names:
                raise TypeError(f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}")
        if cls in (bool, bytes, dict, float, frozenset, int, list, set, str, tuple):
            if positional > 1:
                raise TypeError(f"{cls.__name__}() accepts 1 positional sub-pattern ({positional} given)")
            values.append(subject)
        else:
            match_args = getattr(cls, '__match_args__', ())
            if positional > len(match_args):
                plural = '' if len(match_args) == 1 else 's'
                raise TypeError(f"{cls.__name__}() accepts {len(match_args)} positional sub-pattern{plural} ({positional} given)")
            for name in match_args[:positional]:
                if not hasattr(subject, name):
                    return None
                values.append(getattr(subject, name))
    for name in names:
        if not hasattr(subject, name):
            return None
        values.append(getattr(subject, name))
    return tuple(values)

# Modules

def _import(full, names, root):
    modules = _modules()
    parts = full.split('.')
    name = ''
    for part in parts:
        name = f'{name}.{part}' if name else part
        if name not in modules:
            _load_clean(modules, name)
        elif modules[name] is None:
            raise ModuleNotFoundError(f"import of {name} halted; None in sys.modules")
    if names is None:
        return modules[root]
    module = modules[full]
    if hasattr(module, '__path__'):
        for wanted in names:
            if wanted == '*':
                for each in getattr(module, '__all__', ()):
                    if not hasattr(module, each):
                        _try_load(modules, f'{full}.{each}')
            elif not hasattr(module, wanted) and f'{full}.{wanted}' not in modules:
                _try_load(modules, f'{full}.{wanted}')
    return module

def _try_load(modules, name):
    try:
        _load_clean(modules, name)
    except ModuleNotFoundError as e:
        if str(e) != f"No module named '{name}'":
            raise

def _load_clean(modules, name):
    _want(name)
    try:
        _load(name)
    except BaseException:
        modules.pop(name, None)
        raise

def quit(code=None):
    raise SystemExit(code)

def exit(code=None):
    raise SystemExit(code)

def open(file, mode='r', buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    # The module with files is run when it is asked for first.
    modules = _modules()
    if '_open' not in modules:
        _load_clean(modules, '_open')
    return modules['_open'].open(file, mode, buffering, encoding, errors, newline, closefd, opener)

# Texts that are compiled while a script runs. Names of a function around the call are seen, and not changed.

class _Code:
    __slots__ = ('co_filename', '_text', '_mode')

    def __init__(self, text, filename, mode):
        self.co_filename, self._text, self._mode = filename, text, mode

    def __repr__(self):
        return f"<code object <module> at {id(self):#x}, file \"{self.co_filename}\", line 1>"

_Code.__name__ = _Code.__qualname__ = 'code'

def compile(source, filename, mode, flags=0, dont_inherit=False, optimize=-1):
    if mode not in ('exec', 'eval', 'single'):
        raise ValueError("compile() mode must be 'exec', 'eval' or 'single'")
    text = _text_of(source, 'compile')
    _check_text(text, filename, mode == 'eval')
    return _Code(text, filename, mode)

def _text_of(source, name):
    if isinstance(source, (bytes, bytearray)):
        source = bytes(source).decode()
    if not isinstance(source, str):
        raise TypeError(f"{name}() arg 1 must be a string, bytes or code object")
    return source.lstrip(' \t') if name == 'eval' else source

def _execute(source, names, local, name):
    if names is None:
        names = globals()
        if local is None:
            local = locals()
    elif not isinstance(names, dict):
        raise TypeError(f"{name}() globals must be a dict, not {type(names).__name__}" if name == 'exec' else "globals must be a dict")
    if '__builtins__' not in names:
        names['__builtins__'] = _modules()['builtins']
    file, is_expression = '<string>', name == 'eval'
    if isinstance(source, _Code):
        file, is_expression, source = source.co_filename, source._mode == 'eval', source._text
    source = _text_of(source, name)
    if local is None or local is names:
        return _run_text(source, file, names, is_expression)
    both = {**names, **local}
    before = dict(both)
    try:
        return _run_text(source, file, both, is_expression)
    finally:
        for key, value in both.items():
            if key not in before or before[key] is not value:
                local[key] = value

def eval(source, globals=None, locals=None, /):
    return _execute(source, globals, locals, 'eval')

def exec(source, globals=None, locals=None, /, *, closure=None):
    _execute(source, globals, locals, 'exec')

# The texts of exceptions that nothing caught.

def _render(exception, seen=None):
    seen = [] if seen is None else seen
    while exception is not None and not any([exception is e for e in seen]):
        seen.append(exception)
        try:
            exception.__rendered__ = str(exception)
        except BaseException:
            pass
        if isinstance(exception, BaseExceptionGroup):
            for e in exception.exceptions:
                _render(e, seen)
        exception = exception.__cause__ or exception.__context__

def _sys_more(name):
    # An import asks every module whether it is a package: no file is fetched for that.
    if name[:2] == '__' and name[-6:] != 'hook__':
        raise AttributeError(f"module 'sys' has no attribute '{name}'")
    return _import('_sys', (), '_sys').find(name, _int_digits)

def _stream_more(stream, name):
    return _import('_sys', (), '_sys').stream(stream, name)

def _hook(hook, exception):
    hook(type(exception), exception, exception.__traceback__)
    raise SystemExit(1)

# `bytes`

def _bytes_hex(octets, sep=None, bytes_per_sep=1):
    if sep is None or not bytes_per_sep:
        return octets.hex()
    if isinstance(sep, bytes):
        sep = sep.decode()
    if len(sep) != 1:
        raise ValueError("sep must be length 1.")
    pairs = [octets[i:i + 1].hex() for i in range(len(octets))]
    n = abs(bytes_per_sep)
    first = len(pairs) % n if bytes_per_sep > 0 else 0
    parts = [''.join(pairs[:first])] if first else []
    for i in range(first, len(pairs), n):
        parts.append(''.join(pairs[i:i + n]))
    return sep.join(parts)

def _bytes_join(octets, iterable):
    return octets.join([bytes(x) if isinstance(x, (bytearray, memoryview)) else x for x in iterable])

def _contains_bytes(octets, part):
    if isinstance(part, (bytearray, memoryview)):
        return bytes(part) in octets
    if hasattr(part, '__index__'):
        return part.__index__() in octets
    raise TypeError(f"a bytes-like object is required, not '{type(part).__name__}'")

def _method_bytes_translate(self, table, /, delete=b''):
    if table is not None and len(table) != 256:
        raise ValueError("translation table must be 256 characters long")
    return bytes([b if table is None else table[b] for b in self if b not in delete])

def _method_bytes_maketrans(frm, to):
    if len(frm) != len(to):
        raise ValueError("maketrans arguments must have same length")
    table = list(range(256))
    for a, b in zip(frm, to):
        table[a] = b
    return bytes(table)

def _percent_bytes(template, values):
    text = '%%'.join([part.replace('%b', '%s').replace('%r', '%a') for part in template.decode('latin-1').split('%%')])
    kinds = [kind for kind, _ in _percent_kinds(text)]
    def plain(value, kind):
        if kind in 'sc' and isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value).decode('latin-1')
        if kind == 's':
            method = _lookup(value, '__bytes__')
            if method is None:
                raise TypeError(f"%b requires a bytes-like object, or an object that implements __bytes__, not '{type(value).__name__}'")
            return method().decode('latin-1')
        return value
    if isinstance(values, dict):
        values = {k.decode('latin-1'): plain(v, 's' if isinstance(v, (bytes, bytearray)) else 'a') for k, v in values.items()}
    else:
        values = values if isinstance(values, tuple) else (values,)
        kinds += 'a' * (len(values) - len(kinds))
        values = tuple([plain(v, kind) for v, kind in zip(values, kinds)])
    return (text % values).encode('latin-1')

# `except*`: what is left of a group while its handlers run.

class _Star:
    def __init__(self, exception):
        self.whole = self.rest = exception
        self.raised, self.again = [], []

    def __sub__(self, kinds):
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            if not (isinstance(kind, type) and issubclass(kind, BaseException)):
                raise TypeError("catching classes that do not inherit from BaseException is not allowed")
            if issubclass(kind, BaseExceptionGroup):
                raise TypeError("catching ExceptionGroup with except* is not allowed. Use except instead.")
        if self.rest is None:
            return None
        if isinstance(self.rest, BaseExceptionGroup):
            part, self.rest = self.rest.split(kinds)
        elif isinstance(self.rest, kinds):
            part, self.rest = BaseExceptionGroup('', [self.rest]), None
        else:
            part = None
        self.part = part
        return part

    def __or__(self, raised):
        (self.again if raised is self.part else self.raised).append(raised)
        return self

    def __invert__(self):
        return self.whole

    def __neg__(self):
        if not isinstance(self.whole, BaseExceptionGroup):
            return self.rest or (self.raised + self.again + [None])[0]
        leaves = []
        for group in self.again + [self.rest]:
            if group is not None:
                group.split(lambda e: leaves.append(e))
        kept = None
        if leaves:
            kept = self.whole.split(lambda e: any([e is leaf for leaf in leaves]))[0]
        raised = self.raised + ([] if kept is None else [kept])
        return (raised or [None])[0] if len(raised) < 2 else BaseExceptionGroup('', raised)
