"""Constants and templates."""

whitespace = " \t\n\r\v\f"
ascii_lowercase = "abcdefghijklmnopqrstuvwxyz"
ascii_uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ascii_letters = ascii_lowercase + ascii_uppercase
digits = "0123456789"
hexdigits = digits + "abcdefABCDEF"
octdigits = "01234567"
punctuation = r"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~"""
printable = digits + ascii_letters + punctuation + whitespace


def capwords(s, sep=None):
    return (sep or " ").join(map(str.capitalize, s.split(sep)))


_START = ascii_letters + "_"
_REST = _START + digits


class Template:
    delimiter = "$"

    def __init__(self, template):
        self.template = template

    def _parts(self):
        # Literals, and (start, text, name or None); an empty name is an escaped delimiter.
        t, d, at = self.template, self.delimiter, 0
        while True:
            i = t.find(d, at)
            if i < 0:
                yield t[at:]
                return
            yield t[at:i]
            j = i + len(d)
            if t.startswith(d, j):
                yield i, t[i:j + len(d)], ""
                at = j + len(d)
                continue
            braced = t[j:j + 1] == "{"
            j += braced
            k = j
            while k < len(t) and t[k] in (_START if k == j else _REST):
                k += 1
            if k > j and (not braced or t[k:k + 1] == "}"):
                yield i, t[i:k + braced], t[j:k]
                at = k + braced
            else:
                yield i, t[i:i + len(d)], None
                at = i + len(d)

    def _invalid(self, i):
        i += len(self.delimiter)
        lines = self.template[:i].splitlines(keepends=True)
        if not lines:
            colno, lineno = 1, 1
        else:
            colno, lineno = i - len("".join(lines[:-1])), len(lines)
        raise ValueError("Invalid placeholder in string: line %d, col %d" % (lineno, colno))

    def _fill(self, mapping, kws, safe):
        values = {**mapping, **kws} if mapping is not None else kws
        out = []
        for part in self._parts():
            if isinstance(part, str):
                out.append(part)
                continue
            i, text, name = part
            if name == "":
                out.append(self.delimiter)
            elif name is None:
                out.append(text) if safe else self._invalid(i)
            elif safe and name not in values:
                out.append(text)
            else:
                out.append(str(values[name]))
        return "".join(out)

    def substitute(self, mapping=None, /, **kws):
        return self._fill(mapping, kws, False)

    def safe_substitute(self, mapping=None, /, **kws):
        return self._fill(mapping, kws, True)

    def get_identifiers(self):
        found = []
        for part in self._parts():
            if not isinstance(part, str) and part[2] and part[2] not in found:
                found.append(part[2])
        return found

    def is_valid(self):
        return all(isinstance(p, str) or p[2] is not None for p in self._parts())


class Formatter:
    def format(self, format_string, /, *args, **kwargs):
        return format_string.format(*args, **kwargs)

    def vformat(self, format_string, args, kwargs):
        return format_string.format(*args, **kwargs)
