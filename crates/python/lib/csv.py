"""Comma-separated values."""

QUOTE_MINIMAL, QUOTE_ALL, QUOTE_NONNUMERIC, QUOTE_NONE = 0, 1, 2, 3


class Error(Exception):
    pass


class Dialect:
    delimiter, quotechar, escapechar, doublequote, skipinitialspace, lineterminator, quoting = ",", '"', None, True, False, "\r\n", QUOTE_MINIMAL


class excel(Dialect):
    pass


class excel_tab(excel):
    delimiter = "\t"


class unix_dialect(Dialect):
    lineterminator, quoting = "\n", QUOTE_ALL


_dialects = {"excel": excel, "excel-tab": excel_tab, "unix": unix_dialect}


def register_dialect(name, dialect=excel, **options):
    _dialects[name] = type(name, (dialect,), options)


def list_dialects():
    return list(_dialects)


def _dialect(dialect, options):
    base = _dialects.get(dialect) if isinstance(dialect, str) else dialect
    if base is None:
        raise Error("unknown dialect")
    d = Dialect()
    for name in ("delimiter", "quotechar", "escapechar", "doublequote", "skipinitialspace", "lineterminator", "quoting"):
        setattr(d, name, options.pop(name) if name in options else getattr(base, name))
    options.pop("strict", None)
    if options:
        raise TypeError(f"this function got an unexpected keyword argument '{next(iter(options))}'")
    if not isinstance(d.delimiter, str) or len(d.delimiter) != 1:
        raise TypeError('"delimiter" must be a 1-character string')
    return d


class reader:
    def __init__(self, csvfile, dialect="excel", **options):
        self.dialect = _dialect(dialect, options)
        self._lines = iter(csvfile)
        self.line_num = 0

    def __iter__(self):
        return self

    def __next__(self):
        d = self.dialect
        row, field, quoted, was_quoted, start = [], [], False, False, True
        line = next(self._lines)
        self.line_num += 1
        while True:
            i, n = 0, len(line)
            while i < n:
                c = line[i]
                i += 1
                if quoted:
                    if c == d.quotechar:
                        if d.doublequote and line[i:i + 1] == d.quotechar:
                            field.append(c)
                            i += 1
                        else:
                            quoted = False
                    elif c == d.escapechar:
                        field.append(line[i:i + 1])
                        i += 1
                    else:
                        field.append(c)
                elif c == d.delimiter:
                    row.append(self._field(field, was_quoted))
                    field, was_quoted, start = [], False, True
                    continue
                elif c in "\r\n":
                    if start and not row and not field:
                        return []
                    break
                elif c == d.quotechar and start and d.quoting != QUOTE_NONE:
                    quoted = was_quoted = True
                elif c == d.escapechar:
                    field.append(line[i:i + 1])
                    i += 1
                elif c == " " and start and d.skipinitialspace:
                    continue
                else:
                    field.append(c)
                start = False
            if not quoted:
                break
            try:
                line = next(self._lines)
            except StopIteration:
                break
            self.line_num += 1
        row.append(self._field(field, was_quoted))
        return row

    def _field(self, field, quoted):
        text = "".join(field)
        return float(text) if self.dialect.quoting == QUOTE_NONNUMERIC and not quoted and text else text


class writer:
    def __init__(self, csvfile, dialect="excel", **options):
        self.dialect = _dialect(dialect, options)
        self._write = csvfile.write

    def writerow(self, row):
        d = self.dialect
        try:
            row = list(row)
        except TypeError:
            raise Error(f"iterable expected, not {type(row).__name__}") from None
        out = []
        for value in row:
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            text = "" if value is None else repr(value) if isinstance(value, float) else str(value)
            special = any(c in text for c in (d.delimiter, d.quotechar or "", "\r", "\n") if c) or text == "" and len(row) == 1
            if d.quoting == QUOTE_NONE:
                for c in (d.escapechar, d.delimiter, d.quotechar):
                    if c and c in text:
                        if d.escapechar is None:
                            raise Error("need to escape, but no escapechar set")
                        text = text.replace(c, d.escapechar + c)
            elif special or d.quoting == QUOTE_ALL or d.quoting == QUOTE_NONNUMERIC and not number:
                text = d.quotechar + text.replace(d.quotechar, d.quotechar * 2) + d.quotechar
            out.append(text)
        return self._write(d.delimiter.join(out) + d.lineterminator)

    def writerows(self, rows):
        for row in rows:
            self.writerow(row)


class DictReader:
    def __init__(self, f, fieldnames=None, restkey=None, restval=None, dialect="excel", **options):
        self.reader = reader(f, dialect, **options)
        self._fieldnames = None if fieldnames is None else list(fieldnames)
        self.restkey, self.restval = restkey, restval

    @property
    def fieldnames(self):
        if self._fieldnames is None:
            try:
                self._fieldnames = next(self.reader)
            except StopIteration:
                pass
        return self._fieldnames

    @property
    def line_num(self):
        return self.reader.line_num

    def __iter__(self):
        return self

    def __next__(self):
        names = self.fieldnames
        row = next(self.reader)
        while row == []:
            row = next(self.reader)
        d = dict(zip(names, row))
        if len(names) < len(row):
            d[self.restkey] = row[len(names):]
        for name in names[len(row):]:
            d[name] = self.restval
        return d


class DictWriter:
    def __init__(self, f, fieldnames, restval="", extrasaction="raise", dialect="excel", **options):
        self.fieldnames, self.restval, self.extrasaction = list(fieldnames), restval, extrasaction
        self.writer = writer(f, dialect, **options)

    def writeheader(self):
        return self.writer.writerow(self.fieldnames)

    def writerow(self, row):
        extra = [k for k in row if k not in self.fieldnames]
        if extra and self.extrasaction == "raise":
            raise ValueError("dict contains fields not in fieldnames: " + ", ".join(map(repr, extra)))
        return self.writer.writerow([row.get(k, self.restval) for k in self.fieldnames])

    def writerows(self, rows):
        for row in rows:
            self.writerow(row)
