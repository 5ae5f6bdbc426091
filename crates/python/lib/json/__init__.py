"""JSON."""

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SPACE = " \t\n\r"


class JSONDecodeError(ValueError):
    def __init__(self, msg, doc, pos):
        lineno = doc.count("\n", 0, pos) + 1
        colno = pos - doc.rfind("\n", 0, pos)
        ValueError.__init__(self, f"{msg}: line {lineno} column {colno} (char {pos})")
        self.msg, self.doc, self.pos, self.lineno, self.colno = msg, doc, pos, lineno, colno

    def __reduce__(self):
        return self.__class__, (self.msg, self.doc, self.pos)


def _quote(s, ascii):
    if s.isascii() and s.isprintable() and '"' not in s and "\\" not in s:
        return f'"{s}"'
    out = []
    for c in s:
        if c in _ESCAPES:
            out.append(_ESCAPES[c])
        elif c < " " or ascii and c > "~":
            n = ord(c)
            if n < 0x10000:
                out.append(f"\\u{n:04x}")
            else:
                n -= 0x10000
                out.append(f"\\u{0xd800 | n >> 10:04x}\\u{0xdc00 | n & 0x3ff:04x}")
        else:
            out.append(c)
    return f'"{"".join(out)}"'


class JSONEncoder:
    item_separator = ", "
    key_separator = ": "

    def __init__(self, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, sort_keys=False, indent=None, separators=None, default=None):
        self.skipkeys = skipkeys
        self.ensure_ascii = ensure_ascii
        self.check_circular = check_circular
        self.allow_nan = allow_nan
        self.sort_keys = sort_keys
        self.indent = indent
        if separators is not None:
            self.item_separator, self.key_separator = separators
        elif indent is not None:
            self.item_separator = ","
        if default is not None:
            self.default = default

    def default(self, o):
        raise TypeError(f"Object of type {o.__class__.__name__} is not JSON serializable")

    def encode(self, o):
        return "".join(self.iterencode(o))

    def iterencode(self, o):
        indent = self.indent
        if indent is not None and not isinstance(indent, str):
            indent = " " * indent
        return self._value(o, 0, indent, {})

    def _float(self, x):
        if x != x:
            text = "NaN"
        elif x in (float("inf"), float("-inf")):
            text = "Infinity" if x > 0 else "-Infinity"
        else:
            return float.__repr__(x)
        if not self.allow_nan:
            raise ValueError("Out of range float values are not JSON compliant: " + repr(x))
        return text

    def _scalar(self, o):
        if isinstance(o, str):
            return _quote(o if type(o) is str else str.__str__(o), self.ensure_ascii)
        if o is None:
            return "null"
        if o is True:
            return "true"
        if o is False:
            return "false"
        if isinstance(o, int):
            return int.__repr__(o)
        if isinstance(o, float):
            return self._float(o)
        return None

    def _key(self, k):
        if isinstance(k, str):
            return k
        if isinstance(k, float):
            return self._float(k)
        if k is True or k is False or k is None or isinstance(k, int):
            return self._scalar(k)
        if self.skipkeys:
            return None
        raise TypeError(f"keys must be str, int, float, bool or None, not {k.__class__.__name__}")

    def _value(self, o, level, indent, marks):
        text = self._scalar(o)
        if text is not None:
            yield text
            return
        if self.check_circular:
            if id(o) in marks:
                raise ValueError("Circular reference detected")
            marks[id(o)] = o
        if isinstance(o, (list, tuple)):
            yield from self._items(o, level, indent, marks)
        elif isinstance(o, dict):
            yield from self._pairs(o, level, indent, marks)
        else:
            yield from self._value(self.default(o), level, indent, marks)
        if self.check_circular:
            del marks[id(o)]

    def _items(self, o, level, indent, marks):
        if not o:
            yield "[]"
            return
        separator = self.item_separator
        if indent is None:
            start, end = "[", "]"
        else:
            line = "\n" + indent * (level + 1)
            start, separator, end = "[" + line, separator + line, "\n" + indent * level + "]"
        yield start
        first = True
        for v in o:
            if not first:
                yield separator
            first = False
            text = self._scalar(v)
            if text is not None:
                yield text
            else:
                yield from self._value(v, level + 1, indent, marks)
        yield end

    def _pairs(self, o, level, indent, marks):
        if not o:
            yield "{}"
            return
        separator = self.item_separator
        if indent is None:
            start, end = "{", "}"
        else:
            line = "\n" + indent * (level + 1)
            start, separator, end = "{" + line, separator + line, "\n" + indent * level + "}"
        yield start
        first = True
        for k, v in sorted(o.items()) if self.sort_keys else o.items():
            k = self._key(k)
            if k is None:
                continue
            if not first:
                yield separator
            first = False
            yield _quote(k, self.ensure_ascii)
            yield self.key_separator
            yield from self._value(v, level + 1, indent, marks)
        yield end


def dumps(obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None, indent=None, separators=None, default=None, sort_keys=False, **kw):
    return (cls or JSONEncoder)(skipkeys=skipkeys, ensure_ascii=ensure_ascii, check_circular=check_circular, allow_nan=allow_nan,
                                indent=indent, separators=separators, default=default, sort_keys=sort_keys, **kw).encode(obj)


def dump(obj, fp, **kw):
    fp.write(dumps(obj, **kw))


class JSONDecoder:
    def __init__(self, *, object_hook=None, parse_float=None, parse_int=None, parse_constant=None, strict=True, object_pairs_hook=None):
        self.object_hook = object_hook
        self.parse_float = parse_float or float
        self.parse_int = parse_int or int
        self.parse_constant = parse_constant or {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__
        self.strict = strict
        self.object_pairs_hook = object_pairs_hook

    def decode(self, s):
        value, end = self.raw_decode(s, self._space(s, 0))
        end = self._space(s, end)
        if end != len(s):
            raise JSONDecodeError("Extra data", s, end)
        return value

    def raw_decode(self, s, idx=0):
        try:
            return self._value(s, idx)
        except StopIteration as e:
            raise JSONDecodeError("Expecting value", s, e.value) from None

    def _space(self, s, i):
        while i < len(s) and s[i] in _SPACE:
            i += 1
        return i

    def _value(self, s, i):
        c = s[i:i + 1]
        if c == '"':
            return self._string(s, i + 1)
        if c == "{":
            return self._object(s, i + 1)
        if c == "[":
            return self._array(s, i + 1)
        for word, value in (("null", None), ("true", True), ("false", False)):
            if s.startswith(word, i):
                return value, i + len(word)
        for word in ("NaN", "Infinity", "-Infinity"):
            if s.startswith(word, i):
                return self.parse_constant(word), i + len(word)
        return self._number(s, i)

    def _number(self, s, i):
        n, start = len(s), i
        if s[i:i + 1] == "-":
            i += 1
        digits = i
        while i < n and "0" <= s[i] <= "9":
            i += 1
        if i == digits:
            raise JSONDecodeError("Expecting value", s, start)
        if s[digits] == "0":
            i = digits + 1
        whole = i
        if s[i:i + 1] == "." and "0" <= s[i + 1:i + 2] <= "9":
            i += 1
            while i < n and "0" <= s[i] <= "9":
                i += 1
        if s[i:i + 1] in ("e", "E"):
            j = i + 1
            if s[j:j + 1] in ("+", "-"):
                j += 1
            if "0" <= s[j:j + 1] <= "9":
                i = j
                while i < n and "0" <= s[i] <= "9":
                    i += 1
        text = s[start:i]
        return (self.parse_int if i == whole else self.parse_float)(text), i

    def _string(self, s, i):
        begin, out = i - 1, []
        while True:
            j = i
            while j < len(s) and s[j] != '"' and s[j] != "\\" and s[j] >= " ":
                j += 1
            if j > i:
                out.append(s[i:j])
            if j >= len(s):
                raise JSONDecodeError("Unterminated string starting at", s, begin)
            c = s[j]
            i = j + 1
            if c == '"':
                return "".join(out), i
            if c != "\\":
                if self.strict:
                    raise JSONDecodeError("Invalid control character at", s, j)
                out.append(c)
                continue
            c = s[i:i + 1]
            if not c:
                raise JSONDecodeError("Unterminated string starting at", s, begin)
            if c != "u":
                if c not in _UNESCAPES:
                    raise JSONDecodeError("Invalid \\escape", s, j)
                out.append(_UNESCAPES[c])
                i += 1
                continue
            n = self._hex(s, i)
            i += 5
            if 0xD800 <= n <= 0xDBFF and s[i:i + 2] == "\\u":
                low = self._hex(s, i + 1)
                if 0xDC00 <= low <= 0xDFFF:
                    n = 0x10000 + ((n - 0xD800) << 10 | low - 0xDC00)
                    i += 6
            out.append(chr(n))

    def _hex(self, s, i):
        digits = s[i + 1:i + 5]
        if len(digits) == 4 and all(c in "0123456789abcdefABCDEF" for c in digits):
            return int(digits, 16)
        raise JSONDecodeError("Invalid \\uXXXX escape", s, i)

    def _array(self, s, i):
        values = []
        i = self._space(s, i)
        if s[i:i + 1] == "]":
            return values, i + 1
        while True:
            value, i = self._value(s, i)
            values.append(value)
            i = self._space(s, i)
            c = s[i:i + 1]
            if c == "]":
                return values, i + 1
            if c != ",":
                raise JSONDecodeError("Expecting ',' delimiter", s, i)
            comma = i
            i = self._space(s, i + 1)
            if s[i:i + 1] == "]" and False:
                raise JSONDecodeError("Illegal trailing comma before end of array", s, comma)

    def _object(self, s, i):
        pairs = []
        i = self._space(s, i)
        if s[i:i + 1] != "}":
            while True:
                if s[i:i + 1] != '"':
                    raise JSONDecodeError("Expecting property name enclosed in double quotes", s, i)
                key, i = self._string(s, i + 1)
                i = self._space(s, i)
                if s[i:i + 1] != ":":
                    raise JSONDecodeError("Expecting ':' delimiter", s, i)
                value, i = self._value(s, self._space(s, i + 1))
                pairs.append((key, value))
                i = self._space(s, i)
                c = s[i:i + 1]
                if c == "}":
                    break
                if c != ",":
                    raise JSONDecodeError("Expecting ',' delimiter", s, i)
                i = self._space(s, i + 1)
        i += 1
        if self.object_pairs_hook is not None:
            return self.object_pairs_hook(pairs), i
        value = dict(pairs)
        return (value if self.object_hook is None else self.object_hook(value)), i


def loads(s, *, cls=None, object_hook=None, parse_float=None, parse_int=None, parse_constant=None, object_pairs_hook=None, **kw):
    if isinstance(s, str):
        if s.startswith("\ufeff"):
            raise JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", s, 0)
    elif isinstance(s, (bytes, bytearray)):
        s = s.decode("utf-8")
    else:
        raise TypeError(f"the JSON object must be str, bytes or bytearray, not {s.__class__.__name__}")
    return (cls or JSONDecoder)(object_hook=object_hook, parse_float=parse_float, parse_int=parse_int, parse_constant=parse_constant,
                                object_pairs_hook=object_pairs_hook, **kw).decode(s)


def load(fp, **kw):
    return loads(fp.read(), **kw)
