"""Configuration in TOML."""
import re


class TOMLDecodeError(ValueError):
    pass


_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)?)?|\d\d:\d\d:\d\d(?:\.\d+)?")
_NUMBER = re.compile(r"0x[0-9A-Fa-f]+(?:_[0-9A-Fa-f]+)*|0o[0-7]+(?:_[0-7]+)*|0b[01]+(?:_[01]+)*|"
                     r"[+-]?(?:0|[1-9]\d*(?:_\d+)*)(\.\d+(?:_\d+)*)?([eE][+-]?\d+(?:_\d+)*)?|[+-]?(inf|nan)")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


def load(fp, /, *, parse_float=float):
    data = fp.read()
    if not isinstance(data, bytes):
        raise TypeError("File must be opened in binary mode, e.g. use `open('foo.toml', 'rb')`")
    return loads(data.decode(), parse_float=parse_float)


def loads(s, /, *, parse_float=float):
    if not isinstance(s, str):
        raise TypeError(f"Expected str object, not '{type(s).__qualname__}'")
    return _Reader(s.replace("\r\n", "\n"), parse_float).document()


class _Table(dict):
    """A table while it is read: `closed` where nothing may be added (a value in braces), `named` where its own header was there."""
    closed = named = dotted = False


class _Reader:
    def __init__(self, text, parse_float):
        self.text, self.at, self.parse_float = text, 0, parse_float

    def wrong(self, message, at=None):
        at = self.at if at is None else at
        where = "at end of document"
        if at < len(self.text):
            where = f"at line {self.text.count(chr(10), 0, at) + 1}, column {at - self.text.rfind(chr(10), 0, at)}"
        return TOMLDecodeError(f"{message} ({where})")

    def spaces(self):
        while self.text[self.at:self.at + 1] in (" ", "\t") and self.at < len(self.text):
            self.at += 1

    def end_of_line(self):
        self.spaces()
        if self.text.startswith("#", self.at):
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        if self.at < len(self.text) and self.text[self.at] != "\n":
            raise self.wrong("Expected newline or end of document after a statement")

    def document(self):
        root = here = _Table()
        while True:
            self.at = _BLANK.match(self.text, self.at).end()
            if self.at >= len(self.text):
                return _plain(root)
            if self.text[self.at] == "[":
                here = self.header(root)
            else:
                self.pair(here)
            self.end_of_line()

    def header(self, root):
        many = self.text.startswith("[[", self.at)
        start, self.at = self.at, self.at + 1 + many
        *path, last = self.key()
        close = "]]" if many else "]"
        if not self.text.startswith(close, self.at):
            raise self.wrong(f"Expected '{close}' at the end of {'an array' if many else 'a table'} declaration")
        self.at += len(close)
        here = root
        for part in path:
            here = here.setdefault(part, _Table())
            here = here[-1] if isinstance(here, list) and here else here
            if not isinstance(here, _Table) or here.closed:
                raise self.wrong("Cannot overwrite a value")
        found = here.get(last)
        if many:
            if found is not None and not isinstance(found, _Many):
                raise self.wrong("Cannot overwrite a value")
            here.setdefault(last, _Many()).append(_Table())
            return here[last][-1]
        if found is not None and (not isinstance(found, _Table) or found.closed):
            raise self.wrong("Cannot overwrite a value")
        if found is not None and (found.named or found.dotted):
            raise self.wrong(f"Cannot declare {tuple(path) + (last,)!r} twice", self.at - 1)
        made = here.setdefault(last, _Table())
        made.named = True
        return made

    def key(self):
        parts = []
        while True:
            self.spaces()
            quote = self.text[self.at:self.at + 1]
            if quote in ('"', "'") and quote:
                parts.append(self.string(False))
            else:
                found = _BARE.match(self.text, self.at)
                if not found:
                    raise self.wrong("Invalid initial character for a key part" if self.at < len(self.text) else "Invalid initial character for a key part")
                parts.append(found[0])
                self.at = found.end()
            self.spaces()
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def pair(self, here):
        *path, last = self.key()
        if not self.text.startswith("=", self.at):
            raise self.wrong("Expected '=' after a key in a key/value pair")
        self.at += 1
        self.spaces()
        for part in path:
            new = part not in here
            here = here.setdefault(part, _Table())
            if not isinstance(here, _Table) or here.closed or here.named and not new:
                raise self.wrong("Cannot overwrite a value")
            here.dotted = True
        value = self.value()
        if last in here:
            raise self.wrong("Cannot overwrite a value")
        here[last] = value

    def value(self):
        text, at = self.text, self.at
        first = text[at:at + 1]
        if first in ('"', "'") and first:
            return self.string(True)
        if first == "[":
            return self.array()
        if first == "{":
            return self.inline()
        for word, meant in (("true", True), ("false", False)):
            if text.startswith(word, at):
                self.at += len(word)
                return meant
        found = _DATE.match(text, at)
        if found:
            self.at = found.end()
            return self.date(found[0])
        found = _NUMBER.match(text, at)
        if not found:
            raise self.wrong("Invalid value")
        self.at = found.end()
        number = found[0].replace("_", "")
        if found[1] or found[2]:
            return self.parse_float(number)
        return float(number) if found[3] else int(number, 0 if number[:2] in ("0x", "0o", "0b") else 10)

    def date(self, text):
        import datetime
        try:
            if text[2] == ":":
                return datetime.time.fromisoformat(text)
            return datetime.date.fromisoformat(text) if len(text) == 10 else datetime.datetime.fromisoformat(text.replace("z", "Z"))
        except ValueError as e:
            raise self.wrong("Invalid date or datetime") from e

    def array(self):
        self.at += 1
        made = []
        while True:
            self.at = _BLANK.match(self.text, self.at).end()
            if self.text.startswith("]", self.at):
                self.at += 1
                return made
            if made and not comma:
                raise self.wrong("Unclosed array")
            made.append(self.value())
            self.at = _BLANK.match(self.text, self.at).end()
            comma = self.text.startswith(",", self.at)
            self.at += comma

    def inline(self):
        self.at += 1
        made = _Table()
        self.spaces()
        while not self.text.startswith("}", self.at):
            self.pair(made)
            self.spaces()
            if self.text.startswith(",", self.at):
                self.at += 1
                self.spaces()
                if self.text.startswith("}", self.at):
                    raise self.wrong("Invalid initial character for a key part")
            elif not self.text.startswith("}", self.at):
                raise self.wrong("Unclosed inline table")
        self.at += 1
        _close(made)
        return made

    def string(self, lines):
        text, quote = self.text, self.text[self.at]
        long = lines and text.startswith(quote * 3, self.at)
        close, start, out = quote * (3 if long else 1), self.at, []
        self.at += len(close)
        if long and text.startswith("\n", self.at):
            self.at += 1
        while True:
            if self.at >= len(text) or text[self.at] == "\n" and not long:
                raise self.wrong("Unterminated string" if self.at >= len(text) else "Illegal character '\\n'")
            if text.startswith(close, self.at):
                # Up to two quotes before the end belong to the text.
                while long and text.startswith(quote, self.at + 3):
                    out.append(quote)
                    self.at += 1
                self.at += len(close)
                return "".join(out)
            if text[self.at] == "\\" and quote == '"':
                out.append(self.escape(long))
            else:
                out.append(text[self.at])
                self.at += 1

    def escape(self, long):
        letter = self.text[self.at + 1:self.at + 2]
        gap = re.compile(r"\\[ \t]*\n[ \t\n]*").match(self.text, self.at) if long else None
        if gap:
            self.at = gap.end()
            return ""
        if letter in ("u", "U"):
            digits = self.text[self.at + 2:self.at + (6 if letter == "u" else 10)]
            if not re.fullmatch("[0-9A-Fa-f]{4}|[0-9A-Fa-f]{8}", digits):
                raise self.wrong("Invalid hex value")
            self.at += 2 + len(digits)
            return chr(int(digits, 16))
        if letter not in _ESCAPES or not letter:
            raise self.wrong("Unescaped '\\' in a string")
        self.at += 2
        return _ESCAPES[letter]


class _Many(list):
    """Tables of `[[..]]`, which may become more; a value in brackets may not."""


def _close(table):
    table.closed = True
    for value in table.values():
        if isinstance(value, _Table):
            _close(value)


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
