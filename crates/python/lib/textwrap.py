"""Wrapping and indenting text."""

_SPACES = "\t\n\x0b\x0c\r "


def _chunks(text):
    # Words (split after hyphens between letters) and white space in turn.
    out, at = [], 0
    while at < len(text):
        end = at
        space = text[at] in _SPACES
        while end < len(text) and (text[end] in _SPACES) == space:
            end += 1
        out.extend([text[at:end]] if space else _hyphens(text[at:end]))
        at = end
    return out


def _hyphens(word):
    parts, start = [], 0
    i = 1
    while i < len(word) - 1:
        if word[i] == "-":
            run = i
            while run < len(word) and word[run] == "-":
                run += 1
            if run - i >= 2 and run < len(word) and i > start and (word[i - 1].isalnum() or word[i - 1] in "_!\"'&.,?") and (word[run].isalnum() or word[run] == "_"):
                parts += [word[start:i], word[i:run]]
                start = run
                i = run
                continue
            letters = [c for c in word[start:i]]
            if run - i == 1 and len(letters) >= 2 and letters[-1].isalpha() and (letters[-2].isalpha()) and word[i + 1:i + 2].isalpha() and (word[i + 2:i + 3].isalpha() or word[i + 2:i + 3] == "-"):
                parts.append(word[start:i + 1])
                start = i + 1
            i = run
            continue
        i += 1
    parts.append(word[start:])
    return [p for p in parts if p]


class TextWrapper:
    def __init__(self, width=70, initial_indent="", subsequent_indent="", expand_tabs=True, replace_whitespace=True,
                 fix_sentence_endings=False, break_long_words=True, drop_whitespace=True, break_on_hyphens=True, tabsize=8,
                 *, max_lines=None, placeholder=" [...]"):
        self.width = width
        self.initial_indent = initial_indent
        self.subsequent_indent = subsequent_indent
        self.expand_tabs = expand_tabs
        self.replace_whitespace = replace_whitespace
        self.fix_sentence_endings = fix_sentence_endings
        self.break_long_words = break_long_words
        self.drop_whitespace = drop_whitespace
        self.break_on_hyphens = break_on_hyphens
        self.tabsize = tabsize
        self.max_lines = max_lines
        self.placeholder = placeholder

    def wrap(self, text):
        if self.expand_tabs:
            text = text.expandtabs(self.tabsize)
        if self.replace_whitespace:
            text = "".join([" " if c in _SPACES else c for c in text])
        if self.break_on_hyphens:
            chunks = _chunks(text)
        else:
            chunks, at = [], 0
            while at < len(text):
                end = at
                while end < len(text) and (text[end] in _SPACES) == (text[at] in _SPACES):
                    end += 1
                chunks.append(text[at:end])
                at = end
        if self.width <= 0:
            raise ValueError(f"invalid width {self.width!r} (must be > 0)")
        if self.max_lines is not None:
            indent = self.subsequent_indent if self.max_lines > 1 else self.initial_indent
            if len(indent) + len(self.placeholder.lstrip()) > self.width:
                raise ValueError("placeholder too large for max width")
        return self._wrap_chunks(chunks[::-1])

    def _wrap_chunks(self, chunks):
        lines = []
        while chunks:
            line, length = [], 0
            indent = self.subsequent_indent if lines else self.initial_indent
            width = self.width - len(indent)
            if self.drop_whitespace and chunks[-1].strip() == "" and lines:
                chunks.pop()
            while chunks and length + len(chunks[-1]) <= width:
                length += len(chunks[-1])
                line.append(chunks.pop())
            if chunks and len(chunks[-1]) > width:
                room = max(width, 1) - length if width >= 1 else 1
                if self.break_long_words:
                    chunk, end = chunks[-1], room
                    if self.break_on_hyphens and len(chunk) > room:
                        hyphen = chunk.rfind("-", 0, room)
                        if hyphen > 0 and any(c != "-" for c in chunk[:hyphen]):
                            end = hyphen + 1
                    line.append(chunk[:end])
                    chunks[-1] = chunk[end:]
                elif not line:
                    line.append(chunks.pop())
                length = sum(map(len, line))
            if self.drop_whitespace and line and line[-1].strip() == "":
                length -= len(line[-1])
                line.pop()
            if not line:
                continue
            last = not chunks or self.drop_whitespace and len(chunks) == 1 and not chunks[0].strip()
            if self.max_lines is None or len(lines) + 1 < self.max_lines or last and length <= width:
                lines.append(indent + "".join(line))
                continue
            while line:
                if line[-1].strip() and length + len(self.placeholder) <= width:
                    line.append(self.placeholder)
                    lines.append(indent + "".join(line))
                    break
                length -= len(line[-1])
                line.pop()
            else:
                if lines:
                    previous = lines[-1].rstrip()
                    if len(previous) + len(self.placeholder) <= self.width:
                        lines[-1] = previous + self.placeholder
                        break
                lines.append(indent + self.placeholder.lstrip())
            break
        return lines

    def fill(self, text):
        return "\n".join(self.wrap(text))


def wrap(text, width=70, **kwargs):
    return TextWrapper(width=width, **kwargs).wrap(text)


def fill(text, width=70, **kwargs):
    return TextWrapper(width=width, **kwargs).fill(text)


def shorten(text, width, **kwargs):
    return TextWrapper(width=width, max_lines=1, **kwargs).fill(" ".join(text.strip().split()))


def dedent(text):
    lines = text.split("\n")
    margin = None
    for i, line in enumerate(lines):
        body = line.lstrip(" \t")
        if not body:
            lines[i] = ""
            continue
        indent = line[:len(line) - len(body)]
        if margin is None or margin.startswith(indent):
            margin = indent
        elif not indent.startswith(margin):
            n = 0
            while n < min(len(margin), len(indent)) and margin[n] == indent[n]:
                n += 1
            margin = margin[:n]
    if margin:
        lines = [line[len(margin):] if line.startswith(margin) else line for line in lines]
    return "\n".join(lines)


def indent(text, prefix, predicate=None):
    if predicate is None:
        predicate = str.strip
    return "".join([prefix + line if predicate(line) else line for line in text.splitlines(True)])
