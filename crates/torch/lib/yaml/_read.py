"""Reads YAML: blocks by their columns, flow collections, scalars by YAML 1.1's rules."""
import re


class YAMLError(Exception):
    __module__ = "yaml.error"


class MarkedYAMLError(YAMLError):
    __module__ = "yaml.error"

    def __init__(self, context=None, context_mark=None, problem=None, problem_mark=None, note=None):
        self.context, self.context_mark, self.problem, self.problem_mark = context, context_mark, problem, problem_mark

    def __str__(self):
        return "\n".join(str(part) for part in (self.context, self.context_mark, self.problem, self.problem_mark) if part is not None)


class ScannerError(MarkedYAMLError):
    __module__ = "yaml.scanner"


class ParserError(MarkedYAMLError):
    __module__ = "yaml.parser"


class ComposerError(MarkedYAMLError):
    __module__ = "yaml.composer"


class ConstructorError(MarkedYAMLError):
    __module__ = "yaml.constructor"


class Mark:
    def __init__(self, name, text, at):
        self.name, self.index = name, at
        begin = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        self.line, self.column = text.count("\n", 0, at), at - begin
        self._snippet = text[begin:] if end < 0 else text[begin:end]

    def __str__(self):
        where = f"  in {self.name}, line {self.line + 1}, column {self.column + 1}"
        if self.name not in ('"<unicode string>"', '"<byte string>"'):
            return where
        return f"{where}:\n    {self._snippet}\n    {' ' * self.column}^"


_BOOLS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}
_BOOL = re.compile("yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF")
_INT = re.compile(r"[-+]?(0b[0-1_]+|0x[0-9a-fA-F_]+|0[0-7_]+|0|[1-9][0-9_]*|[1-9][0-9_]*(:[0-5]?[0-9])+)")
_FLOAT = re.compile(r"[-+]?([0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?|[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*|\.inf|\.Inf|\.INF)"
                    r"|\.[0-9][0-9_]*([eE][-+][0-9]+)?|\.nan|\.NaN|\.NAN")
_DATE = re.compile(r"(\d\d\d\d)-(\d\d?)-(\d\d?)(?:(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?(?:[ \t]*(Z|([-+])(\d\d?)(?::(\d\d))?))?)?")
_ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b", " ": " ",
            '"': '"', "\\": "\\", "/": "/", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"}


def resolve(text):
    """The tag of a plain scalar."""
    if text in ("", "~", "null", "Null", "NULL"):
        return "null"
    for tag, pattern in (("bool", _BOOL), ("int", _INT), ("float", _FLOAT), ("timestamp", _DATE)):
        if pattern.fullmatch(text):
            return tag
    return {"<<": "merge", "=": "value"}.get(text, "str")


def construct(tag, text):
    if tag == "null":
        return None
    if tag == "bool":
        return _BOOLS[text.lower()]
    if tag == "int":
        return _int(text.replace("_", ""))
    if tag == "float":
        return _float(text.replace("_", "").lower())
    if tag == "timestamp":
        return _timestamp(_DATE.fullmatch(text))
    return text


def _by_sixties(text, number):
    value = 0
    for part in text.split(":"):
        value = value * 60 + number(part)
    return value


def _int(text):
    sign = -1 if text[0] == "-" else 1
    text = text.lstrip("+-")
    if ":" in text:
        return sign * _by_sixties(text, int)
    if text.startswith(("0b", "0x")):
        return sign * int(text[2:], 2 if text[1] == "b" else 16)
    return sign * int(text, 8 if text[0] == "0" else 10)


def _float(text):
    sign = -1.0 if text[0] == "-" else 1.0
    text = text.lstrip("+-")
    if ":" in text:
        return sign * _by_sixties(text, float)
    return sign * float(text.lstrip(".") if text in (".inf", ".nan") else text)


def _timestamp(found):
    import datetime
    year, month, day, hour, minute, second, fraction, zone, sign, zh, zm = found.groups()
    if hour is None:
        return datetime.date(int(year), int(month), int(day))
    micro = int((fraction or "")[:6].ljust(6, "0"))
    tz = None
    if sign:
        offset = datetime.timedelta(hours=int(zh), minutes=int(zm or 0))
        tz = datetime.timezone(-offset if sign == "-" else offset)
    elif zone:
        tz = datetime.timezone.utc
    return datetime.datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), micro, tzinfo=tz)


class Node:
    """A value whose tag a constructor of the script asks about."""

    def __init__(self, tag, value, kind):
        self.tag, self.value, self.id = tag, value, kind


class Parser:
    def __init__(self, text, name, loader):
        self.text, self.name, self.at = text.replace("\r\n", "\n").lstrip("\ufeff"), name, 0
        self.end = len(self.text)
        self.anchors, self.loader = {}, loader

    # What a loader's methods give to a constructor of the script.
    def construct_scalar(self, node):
        return node.value

    construct_sequence = construct_mapping = construct_object = construct_scalar

    def fail(self, problem, at=None, context=None, began=None, kind=ScannerError):
        mark = lambda place: None if place is None else Mark(self.name, self.text, place)
        raise kind(context, mark(began), problem, mark(self.at if at is None else at))

    def peek(self, n=0):
        at = self.at + n
        return self.text[at] if at < self.end else ""

    def column(self):
        return self.at - (self.text.rfind("\n", 0, self.at) + 1)

    def blank(self, n=0):
        return self.peek(n) in ("", " ", "\n", "\t")

    def spaces(self):
        """Skips what stands between tokens of a line; whether the line ends here."""
        while self.peek() and self.peek() in " \t":
            self.at += 1
        if self.peek() == "#" and (self.at == 0 or self.text[self.at - 1] in " \t\n"):
            found = self.text.find("\n", self.at)
            self.at = self.end if found < 0 else found
        return self.peek() in ("", "\n")

    def skip(self):
        """Goes to the next token; whether there is one in this document."""
        while self.spaces() and self.at < self.end:
            self.at += 1
        if self.at < self.end:
            indent = self.text[self.at - self.column():self.at]
            if "\t" in indent and not indent.strip():
                self.fail("found character '\\t' that cannot start any token", self.at - self.column() + indent.index("\t"), "while scanning for the next token")
        return self.at < self.end and not self.marker()

    def marker(self):
        return self.text.startswith(("---", "..."), self.at) and self.column() == 0 and self.blank(3)

    def documents(self):
        while True:
            more = self.skip()
            while self.peek() == "%":
                self.at = self.text.find("\n", self.at)
                more = self.skip()
            explicit = not more and self.text.startswith("---", self.at) and self.at < self.end
            if not more and self.text.startswith("...", self.at) and self.at < self.end:
                self.at += 3
                continue
            if not more and not explicit:
                return
            if explicit:
                self.at += 3
                more = self.skip()
            self.anchors = {}
            yield self.block(0, -1) if more else None
            if self.skip():
                if self.peek() in "]}":
                    self.fail(f"expected '<document start>', but found {self.peek()!r}", kind=ParserError)
                self.fail("expected '<document start>', but found " + self.found(), kind=ParserError)

    def found(self):
        c = self.peek()
        return "'<block sequence start>'" if c == "-" and self.blank(1) else repr(c) if c in ",]}" else "'<block mapping start>'" if self.key_here() else "'<scalar>'"

    def properties(self):
        anchor = tag = None
        while self.peek() in ("&", "!"):
            found = re.compile(r"[^\s,\[\]{}]+" if self.peek() == "&" else r"\S+").match(self.text, self.at)
            if self.peek() == "&":
                anchor = found[0][1:]
            else:
                tag = found[0]
            self.at += len(found[0])
            while self.peek() in (" ", "\t"):
                self.at += 1
        return anchor, tag

    def block(self, low, parent, same_line=False):
        """A node whose lines stand at `low` or further right; a block scalar's further right than `parent`."""
        began = self.tag_at = self.at
        anchor, tag = self.properties()
        if (anchor or tag) and not same_line and self.key_here() and not self.spaces():
            # Of the first key, not of the mapping.
            self.at, anchor, tag = began, None, None
            return self.mapping(self.column())
        if (anchor or tag) and self.spaces():
            if not self.skip() or self.column() < low and not (self.column() == parent and self.peek() == "-" and self.blank(1)):
                return self.finish(anchor, tag, "", "plain")
            same_line = False
        c = self.peek()
        if c == "-" and self.blank(1):
            if same_line:
                self.fail("sequence entries are not allowed here")
            return self.sequence(self.column(), anchor, tag)
        if c in ("|", ">"):
            return self.finish(anchor, tag, self.literal(parent, c == ">"), "quoted")
        if c == "?" and self.blank(1) or self.key_here():
            if same_line:
                self.at = self.key_here() if c != "?" else self.at
                self.fail("mapping values are not allowed here")
            return self.mapping(self.column(), anchor, tag)
        return self.scalar_or_flow(low, anchor, tag)

    def scalar_or_flow(self, low, anchor, tag, flow=False):
        c = self.peek()
        if c == "*":
            return self.alias()
        if c in ("[", "{"):
            value = self.flow_sequence() if c == "[" else self.flow_mapping()
            if not flow and not self.spaces() and self.peek() != "#":
                self.fail("expected <block end>, but found " + self.found(), kind=ParserError)
            return self.finish(anchor, tag, value, "flow")
        if c in ("'", '"'):
            text = self.quoted()
            if not flow and not self.spaces():
                self.fail("expected <block end>, but found " + self.found(), kind=ParserError)
            return self.finish(anchor, tag, text, "quoted")
        if c and c in "%@`" or c in ("", ","):
            self.fail(f"found character {c!r} that cannot start any token", context="while scanning for the next token")
        return self.finish(anchor, tag, self.plain(low, flow), "plain")

    def alias(self):
        found = re.compile(r"\*[^\s,\[\]{}:]+").match(self.text, self.at)
        if found is None or found[0][1:] not in self.anchors:
            self.fail(f"found undefined alias {found and found[0][1:]!r}", kind=ComposerError)
        self.at += len(found[0])
        return self.anchors[found[0][1:]]

    def finish(self, anchor, tag, value, style):
        if tag is not None or style == "plain":
            value = self.tagged(tag, value, style)
        if anchor:
            self.anchors[anchor] = value
        return value

    def tagged(self, tag, value, style):
        own = getattr(self.loader, "_constructors", {})
        if tag in own:
            kind = "mapping" if isinstance(value, dict) else "sequence" if isinstance(value, list) else "scalar"
            return own[tag](self, Node(tag, value, kind))
        if tag is None:
            kind = resolve(value)
            return construct(kind, value) if kind not in ("merge", "value") else value
        kind = tag.removeprefix("!!").removeprefix("!<tag:yaml.org,2002:").rstrip(">")
        if tag == "!" or kind == "str":
            return value
        if kind == "set":
            return set(value)
        if kind == "python/tuple" and self.loader.__name__ not in ("SafeLoader", "CSafeLoader"):
            return tuple(value)
        if kind in ("null", "bool", "int", "timestamp"):
            return construct(kind, value)
        if kind == "float":
            return _float(value.lower())
        if kind in ("seq", "map", "omap"):
            return value
        if kind == "binary":
            import base64
            return base64.b64decode(value)
        name = tag.replace("!!", "tag:yaml.org,2002:")
        self.fail(f"could not determine a constructor for the tag {name!r}", self.tag_at, kind=ConstructorError)

    def sequence(self, column, anchor=None, tag=None):
        items = []
        if anchor:
            self.anchors[anchor] = items
        while self.skip() and self.column() == column and self.peek() == "-" and self.blank(1):
            self.at += 1
            if self.spaces():
                if not self.skip() or self.column() <= column:
                    items.append(None)
                    continue
            items.append(self.block(column + 1, column))
        if self.skip() and self.column() > column:
            self.fail("expected <block end>, but found " + self.found(), context="while parsing a block collection", began=self.at, kind=ParserError)
        return self.tagged(tag, items, "block") if tag else items

    def key_here(self):
        """Where the colon of a key that begins here stands, or nothing."""
        at, c = self.at, self.peek()
        found = re.compile(r"(?:[&!]\S+[ \t]+)*").match(self.text, at)
        at = found.end()
        c = self.text[at:at + 1]
        if c == '"':
            found = re.compile(r'"(?:[^"\\\n]|\\.)*"').match(self.text, at)
        elif c == "'":
            found = re.compile(r"'(?:[^'\n]|'')*'").match(self.text, at)
        elif c in ("[", "{"):
            found = re.compile(r"[\[{][^\n]*?[\]}](?=[ \t]*:(?:\s|$))").match(self.text, at)
        elif c in ("|", ">", "#", "", ",", "%", "@", "`"):
            found = None
        else:
            found = re.compile(r"(?:[^\s:#]|:(?=\S)|(?<=\S)#)(?:[^\n:#]|:(?=\S)|(?<=\S)#)*").match(self.text, at) if not re.compile(r"[-?](?:\s|$)").match(self.text, at) else None
            if c == ":" and re.compile(r":(?:\s|$)").match(self.text, at):
                return at
        if found is None:
            return None
        colon = re.compile(r"[ \t]*:(?=\s|$)").match(self.text, found.end())
        return colon.end() - 1 if colon else None

    def mapping(self, column, anchor=None, tag=None):
        made, merged, began = {}, [], self.at
        if anchor:
            self.anchors[anchor] = made
        while self.skip() and self.column() == column:
            if self.peek() == "?" and self.blank(1):
                self.at += 1
                key = self.value(column, False)
                if self.skip() and self.column() == column and self.peek() == ":" and self.blank(1):
                    self.at += 1
                    self.put(made, merged, key, self.value(column, False))
                else:
                    self.put(made, merged, key, None)
                continue
            colon = self.key_here()
            if colon is None:
                if self.peek() == "-" and self.blank(1):
                    self.fail("expected <block end>, but found '-'", context="while parsing a block mapping", began=began, kind=ParserError)
                here = self.at
                self.plain(column, False) if self.peek() not in "'\"[{" else None
                self.fail("could not find expected ':'", context="while scanning a simple key", began=here)
            key = self.key(colon)
            self.at = colon + 1
            self.put(made, merged, key, self.value(column, True))
        if self.skip() and self.column() > column:
            self.fail("expected <block end>, but found " + self.found(), context="while parsing a block mapping", began=began, kind=ParserError)
        made = self.merge(made, merged)
        return self.tagged(tag, made, "block") if tag else made

    def key(self, colon):
        anchor, tag = self.properties()
        c = self.peek()
        if c == "*":
            return self.alias()
        if c in ("'", '"'):
            return self.finish(anchor, tag, self.quoted(), "quoted")
        if c in ("[", "{"):
            return self.hashable(self.flow_sequence() if c == "[" else self.flow_mapping())
        text = self.text[self.at:colon].rstrip(" \t")
        return "<<" if text == "<<" else self.finish(anchor, tag, text, "plain")

    def hashable(self, value):
        if isinstance(value, list):
            return tuple(value)
        return value

    def put(self, made, merged, key, value):
        if key == "<<":
            merged.append(value)
            return
        try:
            made[key] = value
        except TypeError:
            self.fail("found unhashable key", context="while constructing a mapping", kind=ConstructorError)

    def merge(self, made, merged):
        if not merged:
            return made
        own = dict(made)
        made.clear()
        for value in merged:
            for each in [value] if isinstance(value, dict) else reversed(value if isinstance(value, list) else [value]):
                if not isinstance(each, dict):
                    self.fail("expected a mapping or list of mappings for merging, but found scalar", context="while constructing a mapping",
                              kind=ConstructorError)
                made.update(each)
        made.update(own)
        return made

    def value(self, column, same_line):
        if self.spaces():
            if not self.skip():
                return None
            c = self.column()
            if c > column:
                return self.block(column + 1, column)
            if c == column and self.peek() == "-" and self.blank(1) and same_line:
                return self.sequence(c)
            return None
        return self.block(column + 1, column, same_line)

    def literal(self, parent, fold):
        self.at += 1
        chomp, indent = "", 0
        while self.peek() and self.peek() in "+-123456789":
            if self.peek() in "+-":
                chomp = self.peek()
            else:
                indent = max(parent, 0) + int(self.peek())
            self.at += 1
        if not self.spaces():
            self.fail(f"expected chomping or indentation indicators, but found {self.peek()!r}", context="while scanning a block scalar")
        lines = self.text[self.at + 1:].split("\n")
        taken, size = [], self.at + 1
        for line in lines:
            blank = not line.strip(" ")
            own = len(line) - len(line.lstrip(" "))
            if not indent and not blank:
                if own <= parent:
                    break
                indent = own
            if not blank and own < indent:
                break
            taken.append(line[indent:] if not blank or len(line) > indent else "")
            size += len(line) + 1
        self.at = min(size, self.end)
        ended = size <= self.end
        if taken and taken[-1] == "" and not ended:
            taken.pop()
        content = list(taken)
        while content and content[-1] == "":
            content.pop()
        trail = len(taken) - len(content)
        text = self.folded(content) if fold else "\n".join(content)
        if chomp == "+":
            return text + "\n" * (trail + (1 if content else 0))
        return text + ("\n" if chomp == "" and content and (ended or trail or self.text.endswith("\n")) else "")

    def folded(self, lines):
        text, breaks, last = "", 0, None
        for line in lines:
            if line == "":
                breaks += 1
                continue
            if last is None:
                text = "\n" * breaks + line
            elif last[0] in " \t" or line[0] in " \t":
                text += "\n" * (breaks + 1) + line
            else:
                text += ("\n" * breaks or " ") + line
            breaks, last = 0, line
        return text

    def fold_lines(self, parts):
        """Lines of a flow scalar: one break is a space, more are one less."""
        text, breaks = parts[0], 0
        for part in parts[1:]:
            breaks += 1
            if part:
                text += " " if breaks == 1 else "\n" * (breaks - 1)
                text, breaks = text + part, 0
        return text + ("" if not breaks else " " if breaks == 1 else "\n" * (breaks - 1))

    def quoted(self):
        quote, began = self.peek(), self.at
        self.at += 1
        parts, text = [], ""
        while True:
            c = self.peek()
            if c == "":
                kind = "double" if quote == '"' else "single"
                self.fail("found unexpected end of stream", context="while scanning a quoted scalar", began=began)
            self.at += 1
            if c == quote:
                if quote == "'" and self.peek() == "'":
                    text, self.at = text + "'", self.at + 1
                    continue
                parts.append(text)
                return self.fold_lines(parts)
            if c == "\n":
                parts.append(text.rstrip(" \t") if not parts else text.strip(" \t"))
                text = ""
                while self.peek() and self.peek() in " \t":
                    self.at += 1
            elif c == "\\" and quote == '"':
                text += self.escape(began)
            else:
                text += c

    def escape(self, began):
        c = self.peek()
        self.at += 1
        if c in "xuU" and c:
            size = {"x": 2, "u": 4, "U": 8}[c]
            digits = self.text[self.at:self.at + size]
            self.at += size
            return chr(int(digits, 16))
        if c == "\n":
            while self.peek() and self.peek() in " \t":
                self.at += 1
            return ""
        if c not in _ESCAPES:
            self.fail(f"found unknown escape character {c!r}", self.at - 1, "while scanning a double-quoted scalar", began)
        return _ESCAPES[c]

    def plain(self, low, flow):
        ends = r"(?:[^\s:#,\[\]{}]|:(?![\s,\[\]{}]|$)|(?<=\S)#)" if flow else r"(?:[^\s:#]|:(?=\S)|(?<=\S)#)"
        line = re.compile(ends + r"+(?:[ \t]+" + ends + r"+)*")
        parts = []
        while True:
            found = line.match(self.text, self.at)
            if found is None:
                break
            parts.append(found[0])
            self.at = after = found.end()
            if not re.compile(r"[ \t]*(?:\n|$)").match(self.text, self.at):
                if not flow and re.compile(r"[ \t]*:(?:\s|$)").match(self.text, self.at):
                    self.at = self.text.index(":", self.at)
                    self.fail("mapping values are not allowed here")
                break
            empty = 0
            at = self.text.find("\n", self.at)
            while at >= 0 and re.compile(r"\n[ \t]*(?=\n)").match(self.text, at):
                empty += 1
                at = self.text.find("\n", at + 1)
            if at < 0:
                break
            self.at = at + 1
            while self.peek() and self.peek() in " \t":
                self.at += 1
            if self.at >= self.end or self.marker() or self.peek() == "#" or not flow and (self.column() < low or self.key_here() is not None):
                if self.at < self.end and not flow and self.column() >= low and self.key_here() is not None and not self.marker() and self.peek() != "#":
                    self.at = self.key_here()
                    self.fail("mapping values are not allowed here")
                self.at = after
                break
            if line.match(self.text, self.at) is None:
                break
            parts.extend([""] * empty)
        return self.fold_lines(parts) if parts else ""

    def flow_skip(self, what, began):
        while self.spaces() and self.at < self.end:
            self.at += 1
        if self.at >= self.end:
            self.fail(f"expected ',' or '{']' if what == 'sequence' else '}'}', but got '<stream end>'", context=f"while parsing a flow {what}", began=began, kind=ParserError)

    def flow_node(self):
        anchor, tag = self.properties()
        if self.peek() in (",", "]", "}") or self.peek() == ":" and self.blank(1):
            return self.finish(anchor, tag, "", "plain")
        return self.scalar_or_flow(0, anchor, tag, True)

    def flow_sequence(self):
        began, items = self.at, []
        self.at += 1
        while True:
            self.flow_skip("sequence", began)
            if self.peek() == "]":
                self.at += 1
                return items
            item = self.flow_node()
            self.flow_skip("sequence", began)
            if self.peek() == ":":
                self.at += 1
                self.flow_skip("sequence", began)
                item = {item: self.flow_node()}
                self.flow_skip("sequence", began)
            items.append(item)
            self.comma("sequence", "]", began)

    def comma(self, what, close, began):
        if self.peek() == ",":
            self.at += 1
        elif self.peek() != close:
            self.fail(f"expected ',' or '{close}', but got {self.found()}", context=f"while parsing a flow {what}", began=began, kind=ParserError)

    def flow_mapping(self):
        began, made, merged = self.at, {}, []
        self.at += 1
        while True:
            self.flow_skip("mapping", began)
            if self.peek() == "}":
                self.at += 1
                return self.merge(made, merged)
            key, value = self.hashable(self.flow_node()), None
            self.flow_skip("mapping", began)
            if self.peek() == ":":
                self.at += 1
                self.flow_skip("mapping", began)
                value = self.flow_node()
                self.flow_skip("mapping", began)
            self.put(made, merged, key, value)
            self.comma("mapping", "}", began)
