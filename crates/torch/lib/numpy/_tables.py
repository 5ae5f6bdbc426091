"""Tables of text: what `loadtxt` and `genfromtxt` read."""

import numpy as np


def _lines(source, encoding):
    """The lines of a file, a path or a list."""
    if isinstance(source, (list, tuple)) or hasattr(source, "__next__") and not hasattr(source, "read"):
        return [v.decode(encoding or "latin-1") if isinstance(v, bytes) else v for v in source]
    if hasattr(source, "read"):
        data = source.read()
    elif str(source).endswith((".gz", ".bz2", ".xz")):
        if not str(source).endswith(".gz"):
            raise NotImplementedError("tables in files compressed as .bz2 or .xz; .gz is read")
        import gzip
        with gzip.open(source) as f:
            data = f.read()
    else:
        with open(source, "rb") as f:
            data = f.read()
    text = data.decode(encoding if encoding not in (None, "bytes") else "utf-8") if isinstance(data, bytes) else data
    return text.splitlines()


def _without(line, comments):
    for mark in [comments] if isinstance(comments, str) else comments or ():
        line = line.split(mark.decode() if isinstance(mark, bytes) else mark, 1)[0]
    return line


def _quoted(line, delimiter, mark):
    """The cells of a line some of which are within quotation marks."""
    cells, cell, inside, i = [], "", False, 0
    while i < len(line):
        c = line[i]
        if c == mark:
            if inside and line[i + 1:i + 2] == mark:
                cell, i = cell + mark, i + 1
            else:
                inside = not inside
        elif not inside and (c == delimiter or delimiter is None and c.isspace()):
            cells, cell = cells + ([cell] if cell or delimiter else []), ""
        else:
            cell += c
        i += 1
    return cells + [cell]


def _number(text, dtype, row, column):
    """A cell as a number of a type."""
    whole = dtype.kind in "iu"
    try:
        if dtype.kind in "mM":
            return np.array([text], dtype)[0]
        if dtype.kind == "b":
            return bool(int(text))
        return int(text) if whole else complex(text) if dtype.kind == "c" else float(text)
    except ValueError:
        raise ValueError(f"could not convert string {text!r} to {dtype} at row {row}, column {column + 1}.") from None


def _of_texts(dtype):
    return dtype.kind in "USO"


def _kind(dtype):
    if isinstance(dtype, dict):
        return np.dtype(list(zip(dtype["names"], dtype["formats"])))
    return np.dtype(dtype)


def _sized(dtype):
    """A type of texts without a length takes that of the longest."""
    return str if dtype.kind == "U" and dtype.itemsize == 0 or dtype.name == "<U1" else dtype


def _shaped(made, unpack, ndmin):
    if ndmin not in (0, 1, 2):
        raise ValueError(f"Illegal value of ndmin keyword: {ndmin}")
    if made.ndim > ndmin:
        made = made.squeeze()
    if ndmin == 1 and made.ndim == 0:
        made = made.reshape(1)
    elif ndmin == 2 and made.ndim < 2:
        made = made.reshape(1, -1).T
    if not unpack:
        return made
    return [made[n] for n in made.dtype.names] if made.dtype.names else made.T


def _chosen(usecols):
    if usecols is None:
        return None
    return [usecols] if isinstance(usecols, int) else list(usecols)


def loadtxt(fname, dtype, comments, delimiter, converters, skiprows, usecols, unpack, ndmin, encoding, max_rows, quotechar):
    given, kind, usecols, rows = dtype, _kind(dtype), _chosen(usecols), []
    each = converters if callable(converters) else None
    wanted = dict(converters) if converters and not each else {}
    for line in _lines(fname, encoding)[skiprows:]:
        if len(rows) == max_rows:
            break
        line = _without(line, comments).rstrip("\r\n")
        if not line.strip():
            continue
        cells = _quoted(line, delimiter, quotechar) if quotechar else line.split(delimiter)
        if usecols is None and rows and len(cells) != len(rows[0]):
            raise ValueError(f"the number of columns changed from {len(rows[0])} to {len(cells)} at row {len(rows) + 1}; use `usecols` to select a "
                             "subset and avoid this error")
        try:
            columns = range(len(cells)) if usecols is None else [c if c >= 0 else c + len(cells) for c in usecols]
            cells = [cells[c] for c in columns]
        except IndexError:
            raise ValueError(f"invalid column index {max(usecols)} at row {len(rows) + 1} with {len(cells)} columns") from None
        kinds = [kind[n] for n in kind.names] if kind.names else [kind] * len(cells)
        change = [wanted.get(c, wanted.get(c - len(cells), each)) for c in columns]
        rows.append([f(c) if f else c.strip() if delimiter is None and not _of_texts(k) else c if _of_texts(k) else _number(c, k, len(rows), i)
                     for i, (c, k, f) in enumerate(zip(cells, kinds, change))])
        rows[-1] = [_number(c, k, len(rows) - 1, i) if isinstance(c, str) and not _of_texts(k) else c for i, (c, k) in enumerate(zip(rows[-1], kinds))]
    if not rows:
        import warnings
        warnings.warn(f'loadtxt: input contained no data: "{fname}"', UserWarning, stacklevel=3)
        return np.zeros((0,) if ndmin < 2 else (0, 0 if usecols is None else len(usecols)), given)
    if kind.names:
        return _shaped(np.array([tuple(r) for r in rows], kind), unpack, ndmin)
    return _shaped(np.array(rows, _sized(kind) if kind.kind == "U" else kind), unpack, ndmin)


def _names_of(given, deletechars, replace_space, case_sensitive, count=0):
    """Names of fields: without odd characters, each once."""
    made = []
    for i, name in enumerate(given):
        name = "".join([c for c in name.strip().replace(" ", replace_space) if c not in deletechars]) or f"f{i}"
        name = name.lower() if case_sensitive == "lower" else name.upper() if case_sensitive in (False, "upper") else name
        before = made.count(name)
        made.append(f"{name}_{before}" if before else name)
    return made


def _guessed(texts):
    """The narrowest type that all texts of a column are of: what is not there counts for all."""
    there = [t for t in texts if t != ""]
    if not there:
        return np.dtype(bool)
    if all([t.lower() in ("true", "false") for t in there]):
        return np.dtype(bool)
    for kind in (int, float, complex):
        try:
            for t in there:
                kind(t)
            return np.dtype(kind)
        except ValueError:
            pass
    return np.dtype(f"U{max([len(t) for t in texts])}")


def _per_column(value, i, name):
    """What is said of a column: by place, by name, or of all."""
    if isinstance(value, dict):
        return value.get(i, value.get(name))
    if isinstance(value, (list, tuple)):
        return value[i] if i < len(value) else None
    return value


_MISSING = {"b": False, "i": -1, "u": -1, "f": np.nan, "c": complex(np.nan, 0), "U": "N/A", "S": b"N/A", "O": None}


def genfromtxt(fname, dtype, comments, delimiter, skip_header, skip_footer, converters, missing_values, filling_values, usecols, names, deletechars,
               replace_space, autostrip, case_sensitive, unpack, loose, invalid_raise, max_rows, encoding, ndmin):
    lines = iter(_lines(fname, encoding)[skip_header:])
    if isinstance(delimiter, (int, list, tuple)):
        widths = delimiter
        def split(line):
            ends, at = [], 0
            for n in [widths] * -(-len(line) // widths) if isinstance(widths, int) else widths:
                ends.append(line[at:at + n])
                at += n
            return ends
    else:
        split = lambda line: line.split(delimiter) if line.strip() else []
    cut = lambda cells: [c.strip() for c in cells] if autostrip or delimiter is None else cells
    clean = lambda line: _without(line, comments).strip("\r\n" + ("" if delimiter else " \t"))
    if names is True:
        # The first line, which may be a comment.
        found = None
        for line in lines:
            mark = comments or ""
            body = line.strip()
            body = body[len(mark):] if mark and body.startswith(mark) else clean(line)
            if body.strip():
                found = [c.strip() for c in split(body.strip())]
                break
        names = found or []
    elif isinstance(names, str):
        names = [n.strip() for n in names.split(",")]
    rows, wrong = [], []
    for number, line in enumerate(lines, skip_header + 1):
        cells = cut(split(clean(line)))
        if not cells:
            continue
        if max_rows is not None and len(rows) == max_rows:
            break
        rows.append(cells)
        if len(cells) != len(rows[0]):
            wrong.append((number, len(cells)))
    rows = rows[:len(rows) - skip_footer] if skip_footer else rows
    columns = _chosen(usecols)
    if columns is not None:
        known = _names_of(names, deletechars, replace_space, case_sensitive) if names else []
        columns = [known.index(c) if isinstance(c, str) else c for c in columns]
        picked = []
        for r in rows:
            picked.append([r[c] for c in columns])
        names = [names[c] for c in columns] if names and len(names) > len(columns) else names
        rows = picked
    elif wrong:
        text = "Some errors were detected !\n" + "\n".join([f"    Line #{n} (got {c} columns instead of {len(rows[0])})" for n, c in wrong])
        if invalid_raise:
            raise ValueError(text)
        rows = [r for r in rows if len(r) == len(rows[0])]
    if not rows:
        import warnings
        warnings.warn(f'genfromtxt: Empty input file: "{fname}"', UserWarning, stacklevel=3)
        return np.zeros(0)
    width, kind = len(rows[0]), None if dtype is None else _kind(dtype)
    names = _names_of(names, deletechars, replace_space, case_sensitive) if names else None
    if kind is not None and kind.names:
        kinds, names = [kind[n] for n in kind.names], names or list(kind.names)
    else:
        kinds = [kind] * width
    table, places = [], range(width) if columns is None else columns
    for i, place in enumerate(places):
        name = names[i] if names and i < len(names) else None
        texts = [r[i] for r in rows]
        convert = (converters or {}).get(place, (converters or {}).get(name))
        missing = _per_column(missing_values, place, name)
        missing = {""} | set([m.strip() for m in missing.split(",")] if isinstance(missing, str) else missing or ())
        filler = _per_column(filling_values, place, name)
        if convert:
            values = [convert(t) for t in texts]
            table.append(values)
            kinds[i] = np._as(values).dtype if kinds[i] is None or not kind.names else kinds[i]
            continue
        gone = [t.strip() in missing for t in texts]
        k = kinds[i] or _guessed(["" if g else t.strip() for t, g in zip(texts, gone)])
        kinds[i] = k
        filler = _MISSING.get(k.kind) if filler is None else filler

        def one(t, g):
            if g and not (k.kind in "US" and filler == _MISSING.get(k.kind)):
                return filler
            if k.kind in "USO":
                return t
            try:
                return t.strip().lower() == "true" if k.kind == "b" else {"i": int, "u": int, "c": complex}.get(k.kind, float)(t)
            except ValueError:
                if not loose:
                    raise ValueError(f"Cannot convert string '{t}'") from None
                return filler
        table.append([one(t, g) for t, g in zip(texts, gone)])
    same = all([k == kinds[0] for k in kinds])
    if names or kind is not None and kind.names or (dtype is None or converters) and not same and not all(
            [k.kind == "U" for k in kinds]):
        names = list(names or [])[:width] + [f"f{i}" for i in range(len(names or []), width)]
        texts = [k if k.kind != "U" or k.itemsize > 4 else np.dtype(f"U{max([1] + [len(v) for v in c])}") for k, c in zip(kinds, table)]
        return _shaped(np.array(list(zip(*table)), list(zip(names, texts))), unpack, ndmin)
    final = str if kinds[0].kind == "U" else kinds[0] if same else None
    return _shaped(np.array([list(r) for r in zip(*table)], final), unpack, ndmin)
