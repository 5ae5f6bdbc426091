"""Regular expressions, over the programs of _re."""
import _re
from functools import lru_cache as _lru_cache
from enum import IntFlag as _IntFlag
from types import MappingProxyType


class RegexFlag(_IntFlag):
    NOFLAG = 0
    ASCII = A = 256
    IGNORECASE = I = 2
    LOCALE = L = 4
    UNICODE = U = 32
    MULTILINE = M = 8
    DOTALL = S = 16
    VERBOSE = X = 64
    DEBUG = 128

    def __repr__(self):
        names = [f"re.{n}" for n in ("ASCII", "IGNORECASE", "LOCALE", "UNICODE", "MULTILINE", "DOTALL", "VERBOSE", "DEBUG") if self._value_ & getattr(RegexFlag, n)._value_]
        return "|".join(names) or "re.NOFLAG"

    __str__ = object.__str__


NOFLAG = RegexFlag.NOFLAG
A = ASCII = RegexFlag.ASCII
I = IGNORECASE = RegexFlag.IGNORECASE
L = LOCALE = RegexFlag.LOCALE
U = UNICODE = RegexFlag.UNICODE
M = MULTILINE = RegexFlag.MULTILINE
S = DOTALL = RegexFlag.DOTALL
X = VERBOSE = RegexFlag.VERBOSE
DEBUG = RegexFlag.DEBUG

_SEARCH, _MATCH, _FULL, _ADVANCE = 0, 1, 2, 3


class error(Exception):
    __module__ = "re"

    def __init__(self, msg, pattern=None, pos=None):
        self.msg, self.pattern, self.pos = msg, pattern, pos
        if pattern is not None and pos is not None:
            msg = f"{msg} at position {pos}"
            newline = "\n"
            self.lineno = pattern.count(newline, 0, pos) + 1
            self.colno = pos - pattern.rfind(newline, 0, pos)
            if newline in pattern:
                msg = f"{msg} (line {self.lineno}, column {self.colno})"
        super().__init__(msg)


PatternError = error


class Match:
    def __init__(self, re, string, pos, endpos, spans):
        self.re, self.string, self.pos, self.endpos = re, string, pos, endpos
        self._spans = spans

    def _index(self, group):
        if isinstance(group, str):
            group = self.re.groupindex.get(group, -1)
        elif not isinstance(group, int):
            raise IndexError("no such group")
        if not 0 <= group < len(self._spans):
            raise IndexError("no such group")
        return group

    def _text(self, group, default=None):
        start, end = self._spans[group]
        return default if start < 0 else self.string[start:end]

    def group(self, *groups):
        if not groups:
            start, end = self._spans[0]
            return self.string[start:end]
        if len(groups) == 1:
            return self._text(self._index(groups[0]))
        return tuple([self._text(self._index(g)) for g in groups])

    def __getitem__(self, group):
        return self._text(self._index(group))

    def groups(self, default=None):
        return tuple([self._text(i, default) for i in range(1, len(self._spans))])

    def groupdict(self, default=None):
        return {name: self._text(i, default) for name, i in self.re.groupindex.items()}

    def start(self, group=0):
        return self._spans[self._index(group)][0]

    def end(self, group=0):
        return self._spans[self._index(group)][1]

    def span(self, group=0):
        return self._spans[self._index(group)]

    def expand(self, template):
        return _expand(_template(self.re, template), self)

    @property
    def lastindex(self):
        best = None
        for i, (start, end) in enumerate(self._spans):
            if i and start >= 0 and (best is None or end > self._spans[best][1] or end == self._spans[best][1] and start > self._spans[best][0] and False):
                best = i
        return best

    @property
    def lastgroup(self):
        return next((n for n, i in self.re.groupindex.items() if i == self.lastindex), None)

    @property
    def regs(self):
        return tuple(self._spans)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"<re.Match object; span={self.span()!r}, match={self.group()!r}>"


class Pattern:
    def __init__(self, pattern, flags):
        self.pattern = pattern
        self._octets = isinstance(pattern, bytes)
        made = _re.compile(pattern.decode("latin-1") if self._octets else pattern, int(flags) | 256 * self._octets)
        if made[0] is None:
            raise error(made[1], pattern, made[2])
        self._program, self.groups, names, value = made
        self.groupindex = MappingProxyType(dict(names))
        self.flags = value & ~256 if self._octets else value if value & 256 else value | 32

    def _run(self, string, pos, endpos, mode):
        if self._octets:
            if isinstance(string, str):
                raise TypeError("cannot use a bytes pattern on a string-like object")
            spans = self._program.run(bytes(string).decode("latin-1"), pos, endpos, mode)
            return None if spans is None else Match(self, string, 0, len(string), spans)
        if not isinstance(string, str):
            if isinstance(string, bytes):
                raise TypeError("cannot use a string pattern on a bytes-like object")
            raise TypeError(f"expected string or bytes-like object, got '{type(string).__name__}'")
        spans = self._program.run(string, pos, endpos, mode)
        return None if spans is None else Match(self, string, 0, len(string), spans)

    def search(self, string, pos=0, endpos=None):
        return self._run(string, pos, endpos, _SEARCH)

    def match(self, string, pos=0, endpos=None):
        return self._run(string, pos, endpos, _MATCH)

    def fullmatch(self, string, pos=0, endpos=None):
        return self._run(string, pos, endpos, _FULL)

    def finditer(self, string, pos=0, endpos=None):
        mode = _SEARCH
        while True:
            m = self._run(string, pos, endpos, mode)
            if m is None:
                return
            yield m
            start, pos = m._spans[0]
            mode = _ADVANCE if start == pos else _SEARCH

    def findall(self, string, pos=0, endpos=None):
        if self.groups == 0:
            return [m.group() for m in self.finditer(string, pos, endpos)]
        if self.groups == 1:
            return [m._text(1, string[:0]) for m in self.finditer(string, pos, endpos)]
        return [m.groups(string[:0]) for m in self.finditer(string, pos, endpos)]

    def split(self, string, maxsplit=0):
        out, last, n = [], 0, 0
        for m in self.finditer(string):
            if maxsplit and n >= maxsplit or maxsplit < 0:
                break
            start, end = m._spans[0]
            out.append(string[last:start])
            out.extend(m.groups())
            last = end
            n += 1
        out.append(string[last:])
        return out

    def subn(self, repl, string, count=0):
        if self._octets:
            if not callable(repl):
                template = repl.decode("latin-1")
                repl = lambda m: _expand(_template(self, template), m)
            else:
                given = repl
                repl = lambda m: given(m).decode("latin-1")
        elif isinstance(repl, bytes):
            raise TypeError("sequence item 0: expected str instance, bytes found")
        if not callable(repl):
            if isinstance(repl, str) and "\\" not in repl:
                text = repl
                repl = lambda m: text
            else:
                parts = _template(self, repl)
                repl = lambda m: _expand(parts, m)
        out, last, n = [], 0, 0
        for m in self.finditer(string):
            if count and n >= count or count < 0:
                break
            start, end = m._spans[0]
            out.append(string[last:start])
            out.append(repl(m))
            last = end
            n += 1
        out.append(string[last:])
        if self._octets:
            return b"".join([x.encode("latin-1") if isinstance(x, str) else bytes(x) for x in out]), n
        return "".join(out), n

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def scanner(self, string):
        return self.finditer(string)

    def __eq__(self, other):
        return isinstance(other, Pattern) and (self.pattern, self.flags) == (other.pattern, other.flags)

    def __hash__(self):
        return hash((self.pattern, self.flags))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        text = repr(self.pattern)
        if len(text) > 200:
            text = text[:200]
        flags = RegexFlag(self.flags & ~32)
        return f"re.compile({text}, {flags!r})" if flags else f"re.compile({text})"


_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "b": "\b", "\\": "\\"}


@_lru_cache(512)
def _template(pattern, text):
    # Literals and numbers of groups.
    out, i = [], 0
    while i < len(text):
        j = text.find("\\", i)
        if j < 0:
            out.append(text[i:])
            break
        if j > i:
            out.append(text[i:j])
        c = text[j + 1:j + 2]
        i = j + 2
        if not c:
            raise error("bad escape (end of pattern)", text, j)
        if c == "g":
            if text[i:i + 1] != "<":
                raise error("missing <", text, i)
            end = text.find(">", i)
            name = text[i + 1:end] if end >= 0 else text[i + 1:]
            if end < 0:
                raise error("missing >, unterminated name" if name else "missing group name", text, i + 1)
            if not name:
                raise error("missing group name", text, i + 1)
            if name.isdigit():
                number = int(name)
                if number > pattern.groups:
                    raise error(f"invalid group reference {number}", text, i + 1)
            elif not name.isidentifier():
                raise error(f"bad character in group name {name!r}", text, i + 1)
            elif name not in pattern.groupindex:
                raise IndexError(f"unknown group name {name!r}")
            else:
                number = pattern.groupindex[name]
            out.append(number)
            i = end + 1
        elif c == "0":
            digits = c
            while len(digits) < 3 and text[i:i + 1] in "01234567" and i < len(text):
                digits += text[i]
                i += 1
            out.append(chr(int(digits, 8)))
        elif c in "123456789":
            number = c
            if i < len(text) and text[i] in "0123456789":
                number += text[i]
                i += 1
                if c in "0123" and number[1] in "01234567" and text[i:i + 1] in "01234567" and i < len(text):
                    out.append(chr(int(number + text[i], 8)))
                    i += 1
                    continue
            if int(number) > pattern.groups:
                raise error(f"invalid group reference {number}", text, j + 1)
            out.append(int(number))
        elif c in _PLAIN:
            out.append(_PLAIN[c])
        elif c.isalpha() and c.isascii():
            raise error(f"bad escape \\{c}", text, j)
        else:
            out.append("\\" + c)
    return out


def _expand(parts, m):
    parts = [p if isinstance(p, str) else m._text(p, "") for p in parts]
    return "".join([p if isinstance(p, str) else p.decode("latin-1") for p in parts])


@_lru_cache(512)
def _compile(pattern, flags):
    if not isinstance(pattern, (str, bytes)):
        raise TypeError("first argument must be string or compiled pattern")
    return Pattern(pattern, flags)


def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        if flags:
            raise ValueError("cannot process flags argument with a compiled pattern")
        return pattern
    return _compile(pattern, int(flags))


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def fullmatch(pattern, string, flags=0):
    return compile(pattern, flags).fullmatch(string)


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def sub(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).subn(repl, string, count)


def split(pattern, string, maxsplit=0, flags=0):
    return compile(pattern, flags).split(string, maxsplit)


def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


def purge():
    pass


def escape(pattern):
    return "".join(["\\" + c if c in "()[]{}?*+-|^$\\.&~# \t\n\r\v\f" else c for c in pattern])
