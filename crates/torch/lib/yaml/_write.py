"""Writes YAML with PyYAML's choices of styles, quotes and line breaks."""
from yaml._read import YAMLError, resolve

_ESCAPES = {"\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", "\x1b": "e", '"': '"', "\\": "\\",
            "\x85": "N", "\xa0": "_", "\u2028": "L", "\u2029": "P"}
_BREAKS = "\n\x85\u2028\u2029"


class RepresenterError(YAMLError):
    __module__ = "yaml.representer"


def _float(value):
    if value != value:
        return ".nan"
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0 else "-.inf"
    text = repr(value).lower()
    return text.replace("e", ".0e", 1) if "." not in text and "e" in text else text


def _analyze(text, unicode):
    """Which styles a text may have: plain in flow, plain in blocks, single quotes; and whether it has several lines."""
    if not text:
        return False, True, True, False
    block = flow = text.startswith(("---", "..."))
    breaks = special = leading = leading_break = trailing = trailing_break = break_space = space_break = False
    before, after_space = True, len(text) == 1 or text[1] in "\0 \t\r" + _BREAKS
    was_space = was_break = False
    for i, c in enumerate(text):
        if i == 0:
            if c in "#,[]{}&*!|>'\"%@`":
                flow = block = True
            if c in "?:":
                flow = True
                block = block or after_space
            if c == "-" and after_space:
                flow = block = True
        else:
            if c in ",?[]{}":
                flow = True
            if c == ":":
                flow = True
                block = block or after_space
            if c == "#" and before:
                flow = block = True
        if c in _BREAKS:
            breaks = True
        if not (c == "\n" or "\x20" <= c <= "\x7e"):
            printable = c == "\x85" or "\xa0" <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or "\U00010000" <= c < "\U0010ffff"
            if not (printable and c != "\ufeff" and unicode):
                special = True
        if c == " ":
            leading = leading or i == 0
            trailing = trailing or i == len(text) - 1
            break_space = break_space or was_break
        elif c in _BREAKS:
            leading_break = leading_break or i == 0
            trailing_break = trailing_break or i == len(text) - 1
            space_break = space_break or was_space
        was_space, was_break = c == " ", c in _BREAKS
        before = c in "\0 \t\r" + _BREAKS
        after_space = i + 2 >= len(text) or text[i + 2] in "\0 \t\r" + _BREAKS
    in_flow = in_block = single = True
    if leading or leading_break or trailing or trailing_break:
        in_flow = in_block = False
    if break_space:
        in_flow = in_block = single = False
    if space_break or special:
        in_flow = in_block = single = False
    if breaks:
        in_flow = in_block = False
    return in_flow and not flow, in_block and not block, single, breaks


class Writer:
    def __init__(self, dumper, style, flow, indent, width, unicode, sort_keys):
        self.dumper, self.style, self.flow_style, self.sort_keys = dumper, style, flow, sort_keys
        self.step = indent if indent and 1 < indent < 10 else 2
        self.width = width if width and width > self.step * 2 else 80
        self.unicode = unicode
        self.out, self.column, self.whitespace, self.indention, self.open_ended = [], 0, True, True, False
        self.indent, self.flow, self.seen, self.names, self.kept = None, 0, {}, {}, []

    def document(self, data, start, end, last):
        self.count(data)
        if start:
            self.put("---")
            self.whitespace = self.indention = False
        self.root = self.is_leaf(data)
        self.node(data)
        self.line_break() if self.column else None
        if end or self.open_ended and last:
            self.out.append("...\n")
        return "".join(self.out)

    # What of the values is printed more than once.

    def plain(self, data):
        """A value as this prints it, by what the script registered for its class."""
        for kind, represent in type(self.dumper)._representers.items():
            if type(data) is kind:
                return represent(self.dumper, data)
        if data is None or isinstance(data, (bool, str, bytes)) and type(data) in (bool, str, bytes):
            return data
        if type(data) in (int, float, dict, list, tuple, set):
            return data
        import datetime
        if isinstance(data, (datetime.date, datetime.datetime)):
            return data
        if type(data).__name__ == "OrderedDict" and type(self.dumper).__name__ == "Dumper" or type(self.dumper).__name__ == "Dumper" and not isinstance(data, (str, int, float)):
            raise NotImplementedError(f"yaml.dump of a {type(data).__name__}: objects of Python's are not written; make a dict, a list or a text of it")
        raise RepresenterError("cannot represent an object", data)

    def count(self, data):
        data = self.plain(data)
        if isinstance(data, (dict, list, set)) or isinstance(data, tuple) and data:
            if self.dumper.ignore_aliases(data):
                pass
            elif id(data) in self.seen:
                self.seen[id(data)] += 1
                return
            else:
                self.seen[id(data)] = 1
            self.kept.append(data)
            for each in data.items() if isinstance(data, dict) else data:
                for part in each if isinstance(data, dict) else [each]:
                    self.count(part)

    def node(self, data, mapping=False, key=False):
        data = self.plain(data)
        if self.seen.get(id(data), 0) > 1 and isinstance(data, (dict, list, set, tuple)):
            known = id(data) in self.names
            name = self.names.setdefault(id(data), f"id{len(self.names) + 1:03d}")
            self.indicator(("*" if known else "&") + name, True)
            if known:
                return
        if isinstance(data, (dict, set)):
            items = list(data.items()) if isinstance(data, dict) else [(k, None) for k in data]
            if self.sort_keys:
                try:
                    items = sorted(items, key=lambda pair: pair[0])
                except TypeError:
                    pass
            if isinstance(data, set):
                self.indicator("!!set", True)
            leaf = all(self.is_leaf(k) and self.is_leaf(v) for k, v in items)
            flow = self.flow or not items or (leaf if self.flow_style is None else self.flow_style)
            self.flow_mapping(items) if flow else self.block_mapping(items)
        elif isinstance(data, (list, tuple)):
            if isinstance(data, tuple) and type(self.dumper).__name__ == "Dumper":
                self.indicator("!!python/tuple", True)
            flow = self.flow or not data or (all(map(self.is_leaf, data)) if self.flow_style is None else self.flow_style)
            self.flow_sequence(data) if flow else self.block_sequence(data, mapping)
        else:
            self.scalar(data, key)

    def is_leaf(self, data):
        return not isinstance(self.plain(data), (dict, list, tuple, set))

    # Collections.

    def deeper(self, flow=False, indentless=False):
        before = self.indent
        if self.indent is None:
            self.indent = self.step if flow else 0
        elif not self.dumper.increase_indent(flow, indentless):
            self.indent += self.step
        return before

    def block_sequence(self, items, mapping):
        before = self.deeper(indentless=mapping and not self.indention)
        for item in items:
            self.write_indent()
            self.indicator("-", True, indention=True)
            self.node(item)
        self.indent = before

    def block_mapping(self, items):
        before = self.deeper()
        for key, value in items:
            self.write_indent()
            if self.is_simple(key):
                self.node(key, key=True)
                self.indicator(":", False)
            else:
                self.indicator("?", True, indention=True)
                self.node(key)
                self.write_indent()
                self.indicator(":", True, indention=True)
            self.node(value, mapping=True)
        self.indent = before

    def is_simple(self, key):
        key = self.plain(key)
        if isinstance(key, (dict, list, tuple, set)):
            return not key
        return key != "" and len(str(key)) < 128 and not (isinstance(key, str) and any(c in _BREAKS for c in key))

    def flow_sequence(self, items):
        self.indicator("[", True, whitespace=True)
        self.flow += 1
        before = self.deeper(True)
        for i, item in enumerate(items):
            if i:
                self.indicator(",", False)
            if self.column > self.width:
                self.write_indent()
            self.node(item)
        self.indent = before
        self.flow -= 1
        self.indicator("]", False)

    def flow_mapping(self, items):
        self.indicator("{", True, whitespace=True)
        self.flow += 1
        before = self.deeper(True)
        for i, (key, value) in enumerate(items):
            if i:
                self.indicator(",", False)
            if self.column > self.width:
                self.write_indent()
            self.node(key, key=True)
            self.indicator(":", False)
            self.node(value)
        self.indent = before
        self.flow -= 1
        self.indicator("}", False)

    # Scalars.

    def scalar(self, data, key):
        if isinstance(data, bytes):
            import base64
            self.indicator("!!binary", True)
            before = self.deeper(True)
            self.literal(base64.encodebytes(data).decode())
            self.indent = before
            return
        if isinstance(data, str):
            tag, text = "str", data
        elif data is None:
            tag, text = "null", "null"
        elif isinstance(data, bool):
            tag, text = "bool", "true" if data else "false"
        elif isinstance(data, int):
            tag, text = "int", str(data)
        elif isinstance(data, float):
            tag, text = "float", _float(data)
        else:
            tag, text = "timestamp", data.isoformat(" ") if hasattr(data, "hour") else data.isoformat()
        before = self.deeper(True)
        self.styled(tag, text, key)
        self.indent = before

    def styled(self, tag, text, key):
        in_flow, in_block, single, lines = _analyze(text, self.unicode)
        wanted = self.style
        if wanted is None and resolve(text) == tag and not (key and lines) and (in_flow if self.flow else in_block) and (text or not self.flow and not key):
            self.write_plain(text, not key)
            self.open_ended = self.root
            return None
        if wanted in ("|", ">") and not self.flow and not key and tag == "str" and single | lines:
            return self.literal(text) if wanted == "|" else self.write_double(text, not key)
        if tag != "str":
            self.indicator("!!" + tag, True)
        if single and wanted != '"' and not (key and lines):
            return self.write_single(text, not key)
        self.write_double(text, not key)

    def put(self, text):
        self.out.append(text)
        self.column += len(text)

    def indicator(self, text, space, whitespace=False, indention=False):
        self.put(text if self.whitespace or not space else " " + text)
        self.whitespace = whitespace
        self.indention = self.indention and indention
        self.open_ended = False

    def line_break(self):
        self.out.append("\n")
        self.column, self.whitespace, self.indention = 0, True, True

    def write_indent(self):
        indent = self.indent or 0
        if not self.indention or self.column > indent or self.column == indent and not self.whitespace:
            self.line_break()
        if self.column < indent:
            self.whitespace = True
            self.put(" " * (indent - self.column))

    def write_plain(self, text, split):
        if not text:
            return
        if not self.whitespace:
            self.put(" ")
        self.whitespace = self.indention = False
        start, spaces = 0, False
        for end in range(len(text) + 1):
            c = text[end] if end < len(text) else None
            if spaces:
                if c != " ":
                    if start + 1 == end and self.column > self.width and split:
                        self.write_indent()
                        self.whitespace = self.indention = False
                    else:
                        self.put(text[start:end])
                    start = end
            elif c is None or c == " ":
                self.put(text[start:end])
                start = end
            if c is not None:
                spaces = c == " "

    def write_single(self, text, split):
        self.indicator("'", True)
        start, spaces, breaks = 0, False, False
        for end in range(len(text) + 1):
            c = text[end] if end < len(text) else None
            if spaces:
                if c is None or c != " ":
                    if start + 1 == end and self.column > self.width and split and start != 0 and end != len(text):
                        self.write_indent()
                    else:
                        self.put(text[start:end])
                    start = end
            elif breaks:
                if c is None or c not in _BREAKS:
                    if text[start] == "\n":
                        self.line_break()
                    for _ in text[start:end]:
                        self.line_break()
                    self.write_indent()
                    start = end
            elif c is None or c in " '" + _BREAKS:
                if start < end:
                    self.put(text[start:end])
                    start = end
            if c == "'":
                self.put("''")
                start = end + 1
            if c is not None:
                spaces, breaks = c == " ", c in _BREAKS
        self.indicator("'", False)

    def write_double(self, text, split):
        self.indicator('"', True)
        start = 0
        for end in range(len(text) + 1):
            c = text[end] if end < len(text) else None
            shown = c is not None and ("\x20" <= c <= "\x7e" or self.unicode and ("\xa0" <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd"))
            if c is None or c in '"\\\x85\u2028\u2029\ufeff' or not shown:
                if start < end:
                    self.put(text[start:end])
                    start = end
                if c is not None:
                    n = ord(c)
                    self.put("\\" + (_ESCAPES.get(c) or (f"x{n:02X}" if n < 256 else f"u{n:04X}" if n < 65536 else f"U{n:08X}")))
                    start = end + 1
            if 0 < end < len(text) - 1 and (c == " " or start >= end) and self.column + (end - start) > self.width and split:
                self.put(text[start:end] + "\\")
                start = max(start, end)
                self.write_indent()
                self.whitespace = self.indention = False
                if text[start] == " ":
                    self.put("\\")
        self.indicator('"', False)

    def literal(self, text):
        hint = str(self.step) if text[:1] in tuple(" " + _BREAKS) else ""
        hint += "-" if text[-1:] not in tuple(_BREAKS) else "+" if len(text) == 1 or text[-2] in _BREAKS else ""
        self.indicator("|" + hint, True)
        for line in text.split("\n")[:-1] if text.endswith("\n") else text.split("\n"):
            self.line_break()
            if line:
                self.put(" " * self.indent + line)
        self.whitespace = self.indention = False
