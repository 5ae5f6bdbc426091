"""Printing of nested data over several lines."""
import sys as _sys


class PrettyPrinter:
    def __init__(self, indent=1, width=80, depth=None, stream=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
        if indent < 0:
            raise ValueError("indent must be >= 0")
        if depth is not None and depth <= 0:
            raise ValueError("depth must be > 0")
        if not width:
            raise ValueError("width must be != 0")
        self._indent, self._width, self._depth, self._stream = indent, width, depth, stream
        self._compact, self._sort = compact, sort_dicts

    def pprint(self, object):
        (self._stream or _sys.stdout).write(self.pformat(object) + "\n")

    def pformat(self, object):
        out = []
        self._format(object, out, 0, 0, (), 0)
        return "".join(out)

    def _key(self, k):
        return (str(type(k)), k)

    def _sorted(self, items):
        items = list(items)
        if not self._sort:
            return items
        try:
            return sorted(items, key=lambda kv: kv[0])
        except TypeError:
            return sorted(items, key=lambda kv: (str(type(kv[0])), repr(kv[0])))

    def _repr(self, o, seen, level):
        kind = type(o)
        if kind in (dict, list, tuple) and kind.__repr__ is kind.__repr__:
            if o and self._depth and level >= self._depth:
                return {dict: "{...}", list: "[...]", tuple: "(...)"}[kind]
            if id(o) in seen:
                return f"<Recursion on {kind.__name__} with id={id(o)}>"
            seen = seen + (id(o),)
            if kind is dict:
                return "{" + ", ".join([f"{self._repr(k, seen, level + 1)}: {self._repr(v, seen, level + 1)}" for k, v in self._sorted(o.items())]) + "}"
            parts = ", ".join([self._repr(v, seen, level + 1) for v in o])
            if kind is list:
                return f"[{parts}]"
            return f"({parts},)" if len(o) == 1 else f"({parts})"
        return repr(o)

    def _format(self, o, out, indent, allowance, seen, level):
        text = self._repr(o, seen, level)
        room = self._width - indent - allowance
        if len(text) <= room or id(o) in seen or (self._depth and level >= self._depth):
            out.append(text)
            return
        inner = seen + (id(o),)
        kind = type(o)
        name = kind.__name__
        if isinstance(o, dict) and name in ("OrderedDict", "defaultdict", "Counter"):
            if not o:
                out.append(text)
                return
            head = name + "("
            if name == "defaultdict":
                factory = self._repr(o.default_factory, inner, level + 1)
                out.append(f"{head}{factory},\n{' ' * (indent + len(head))}")
                self._format(dict(o), out, indent + len(head), allowance + 1, inner, level)
            elif name == "OrderedDict":
                out.append(head)
                self._items([(k, v) for k, v in o.items()], out, "[", "]", indent + len(head), allowance + 1, inner, level + 1)
            else:
                out.append(head + "{" + " " * max(self._indent - 1, 0))
                self._pairs(o.most_common(), out, indent + len(head), allowance + 1, inner, level + 1)
                out.append("}")
            out.append(")")
        elif kind is dict:
            out.append("{" + " " * max(self._indent - 1, 0))
            if o:
                self._pairs(self._sorted(o.items()), out, indent, allowance + 1, inner, level + 1)
            out.append("}")
        elif kind is list:
            self._items(o, out, "[", "]", indent, allowance, inner, level + 1)
        elif kind is tuple:
            self._items(o, out, "(", ",)" if len(o) == 1 else ")", indent, allowance, inner, level + 1)
        elif kind in (set, frozenset) and o:
            head, end = ("{", "}") if kind is set else ("frozenset({", "})")
            try:
                values = sorted(o)
            except TypeError:
                values = sorted(o, key=repr)
            self._items(values, out, head, end, indent + len(head) - 1, allowance, inner, level + 1)
        elif kind is str and o:
            self._text(o, out, indent, allowance, level + 1)
        elif hasattr(kind, "__dataclass_fields__") and kind.__repr__.__qualname__.startswith("_make_repr"):
            self._object(o, [(f.name, getattr(o, f.name)) for f in o.__dataclass_fields__.values() if f.repr and f._kind == 0], out, indent, allowance, inner, level)
        elif name == "SimpleNamespace":
            self._object(o, list(o.__dict__.items()), out, indent, allowance, inner, level, "namespace")
        elif name == "deque":
            out.append("deque(")
            self._items(list(o), out, "[", "]", indent + 6, allowance + 1, inner, level + 1)
            out.append(")" if o.maxlen is None else f",\n{' ' * (indent + 6)}maxlen={o.maxlen})")
        else:
            out.append(text)

    def _object(self, o, fields, out, indent, allowance, seen, level, name=None):
        name = name or type(o).__name__
        indent += len(name) + 1
        out.append(name + "(")
        for i, (key, value) in enumerate(fields):
            last = i == len(fields) - 1
            out.append(key + "=")
            self._format(value, out, indent + len(key) + 1, allowance if last else 1, seen, level)
            if not last:
                out.append(",\n" + " " * indent)
        out.append(")")

    def _pairs(self, items, out, indent, allowance, seen, level):
        indent += self._indent
        for i, (k, v) in enumerate(items):
            last = i == len(items) - 1
            key = self._repr(k, seen, level)
            out.append(key + ": ")
            self._format(v, out, indent + len(key) + 2, allowance if last else 1, seen, level)
            if not last:
                out.append(",\n" + " " * indent)

    def _items(self, items, out, start, end, indent, allowance, seen, level):
        out.append(start)
        indent += self._indent
        if self._indent > 1:
            out.append(" " * (self._indent - 1))
        allowance += len(end)
        separator = ",\n" + " " * indent
        room = width = self._width - indent + 1
        delimiter = ""
        items = list(items)
        for i, v in enumerate(items):
            last = i == len(items) - 1
            if last:
                room -= allowance
                width -= allowance
            if self._compact:
                text = self._repr(v, seen, level)
                w = len(text) + 2
                if width < w:
                    width = room
                    if delimiter:
                        delimiter = separator
                if width >= w:
                    width -= w
                    out.append(delimiter + text)
                    delimiter = ", "
                    continue
            out.append(delimiter)
            delimiter = separator
            self._format(v, out, indent, allowance if last else 1, seen, level)
        out.append(end)

    def _text(self, s, out, indent, allowance, level):
        chunks, lines = [], s.splitlines(True)
        if level == 1:
            indent += 1
            allowance += 1
        room = most = self._width - indent
        text = ""
        for i, line in enumerate(lines):
            text = repr(line)
            if i == len(lines) - 1:
                most -= allowance
            if len(text) <= most:
                chunks.append(text)
                continue
            parts, word = [], ""
            j = 0
            while j < len(line):
                k = j
                while k < len(line) and not line[k].isspace():
                    k += 1
                while k < len(line) and line[k].isspace():
                    k += 1
                parts.append(line[j:k])
                j = k
            current, limit = "", room
            for n, part in enumerate(parts):
                candidate = current + part
                if n == len(parts) - 1 and i == len(lines) - 1:
                    limit -= allowance
                if len(repr(candidate)) > limit:
                    if current:
                        chunks.append(repr(current))
                    current = part
                else:
                    current = candidate
            if current:
                chunks.append(repr(current))
        if len(chunks) == 1:
            out.append(text)
            return
        out.append(("(" if level == 1 else "") + ("\n" + " " * indent).join(chunks) + (")" if level == 1 else ""))


def pprint(object, stream=None, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
    PrettyPrinter(indent, width, depth, stream, compact=compact, sort_dicts=sort_dicts).pprint(object)


def pformat(object, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
    return PrettyPrinter(indent, width, depth, compact=compact, sort_dicts=sort_dicts).pformat(object)


def pp(object, *args, sort_dicts=False, **kwargs):
    pprint(object, *args, sort_dicts=sort_dicts, **kwargs)


def saferepr(object):
    return PrettyPrinter()._repr(object, (), 0)
