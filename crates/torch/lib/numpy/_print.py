"""Arrays as NumPy prints them: digits that tell neighbours apart, columns in line."""

import math

_options = {"precision": 8, "threshold": 1000, "edgeitems": 3, "linewidth": 75, "suppress": False, "formatter": None, "floatmode": "maxprec",
            "sign": "-", "legacy": False}
# Settings that are not there, but for these values.
_ONLY = {"floatmode": ("maxprec", "fixed"), "sign": ("-",), "legacy": (False, "1.25"), "nanstr": ("nan",), "infstr": ("inf",)}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, suppress=None, nanstr=None, infstr=None, formatter=None,
                     sign=None, floatmode=None, *, legacy=None, override_repr=None):
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth, "suppress": suppress,
             "floatmode": floatmode, "sign": sign, "legacy": legacy, "nanstr": nanstr, "infstr": infstr}
    for name, values in _ONLY.items():
        if given[name] is not None and given[name] not in values:
            raise NotImplementedError(f"numpy.set_printoptions({name}={given[name]!r}); there are {', '.join(map(repr, values))}")
    _options.update({k: v for k, v in given.items() if v is not None and k in _options}, formatter=formatter)


_FAMILIES = {"b": ("bool",), "i": ("int", "int_kind"), "u": ("int", "int_kind"), "f": ("float", "float_kind"), "c": ("complexfloat", "complex_kind"),
             "U": ("numpystr", "str_kind"), "S": ("numpystr", "str_kind"), "O": ("object",), "M": ("datetime",), "m": ("timedelta",)}


def chosen(dtype):
    """The function that the `formatter` has for a type; `None` where it has none."""
    given = _options["formatter"] or {}
    return next((given[name] for name in (*reversed(_FAMILIES.get(dtype.kind, ())), "all") if given.get(name)), None)


def _np():
    import numpy
    return numpy


def _digits(value, single):
    """The fewest digits that tell the value from its neighbours, as a decimal with an exponent: (digits, exponent)."""
    if single:
        for n in range(1, 10):
            text = f"{value:.{n - 1}e}"
            if _single(float(text), single) == value:
                break
    else:
        text = repr(value)
        text = "%.*e" % (max(len(text.replace(".", "").replace("-", "").lstrip("0").split("e")[0]) - 1, 0), value)
    mantissa, exponent = text.split("e")
    return mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa, int(exponent)


def _single(value, kind):
    from numpy import _numpy
    return _numpy.tolist(_numpy.full((), value, kind))


def _positional(value, single, precision):
    mantissa, exponent = _digits(value, single)
    fraction = max(len(mantissa.lstrip("-").replace(".", "")) - 1 - exponent, 0)
    text = f"{value:.{min(fraction, precision)}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    whole, _, part = text.partition(".")
    return whole, part


def _formatter(values, kind):
    """How the elements that are shown are written, all to one width."""
    if kind == "bool":
        return lambda v: " True" if v else "False"
    if kind.startswith("complex"):
        real, imaginary = _formatter([v.real for v in values], "float64"), _formatter([abs(v.imag) for v in values], "float64")

        def both(v):
            # The sign stands before the digits, what pads them before it, and behind the j.
            text = imaginary(abs(v.imag))
            part, sign = text.strip(), "-" if math.copysign(1, v.imag) < 0 else "+"
            before = " " * (len(text) - len(text.lstrip()))
            return f"{real(v.real)}{before}{sign}{part}j{' ' * (len(text) - len(before) - len(part))}"
        return both
    if kind[0] in "dt":
        # Spans are numbers of the type's unit.
        write = lambda v: repr(str(v)) if kind[0] == "d" or v.n is None else str(v.n)
        wide = max([len(write(v)) for v in values], default=0)
        return lambda v: write(v).rjust(wide)
    if kind[0] in "<o|":
        return lambda v: f"list({v!r})" if type(v) is list else repr(v)
    if not kind.startswith("float"):
        wide = max([len(str(v)) for v in values], default=0)
        return lambda v: str(v).rjust(wide)
    single = kind if kind != "float64" else None
    finite = [v for v in values if v == v and abs(v) != math.inf]
    sizes = [abs(v) for v in finite if v != 0]
    precision = _options["precision"]
    most = {"float16": 1e3, "float32": 1e6}.get(kind, 1e8)
    exponents = bool(sizes) and not _options["suppress"] and (
        max(sizes) >= most or min(sizes) < 1e-4 or max(sizes) / min(sizes) > 1000.0)
    exponents = exponents or (bool(sizes) and max(sizes) >= 1e8)
    if exponents:
        def length(v):
            # Zeros that rounding leaves at the end are no digits.
            n = min(len(_digits(v, single)[0].lstrip("-").replace(".", "")) - 1, precision)
            return len(f"{v:.{n}e}".split("e")[0].lstrip("-").replace(".", "").rstrip("0") or "0") - 1
        digits = max([length(v) for v in finite], default=0)
        places = max([len(f"{v:.{digits}e}".split("e")[1]) - 1 for v in finite], default=2)

        def write(v):
            mantissa, exponent = f"{v:.{digits}e}".split("e")
            if "." not in mantissa:
                mantissa += "."
            sign = "-" if exponent[0] == "-" else "+"
            return f"{mantissa}e{sign}{exponent.lstrip('+-').zfill(places)}"
        other = [write(v) for v in finite]
        wide = max([len(t) for t in other], default=0)
    else:
        parts = [_positional(v, single, precision) for v in finite]
        left, right = max([len(w) for w, _ in parts], default=0), max([len(p) for _, p in parts], default=0)
        fill = " "
        if _options["floatmode"] == "fixed":
            right, fill = precision, "0"

        def write(v):
            whole, part = _positional(v, single, precision)
            return whole.rjust(left) + "." + part.ljust(right, fill)
        wide = left + 1 + right
    odd = [("nan" if v != v else "inf" if v > 0 else "-inf") for v in values if v != v or abs(v) == math.inf]
    wide = max([wide] + [len(t) for t in odd])
    return lambda v: (write(v) if v == v and abs(v) != math.inf else "nan" if v != v else "inf" if v > 0 else "-inf").rjust(wide)


def _flat(nested):
    return [v for part in nested for v in _flat(part)] if isinstance(nested, list) else [nested]


def _text(array, separator, prefix):
    shape, kind = array.shape, array.dtype.name
    if 0 in shape:
        return "[]"
    nested = array.tolist()
    edge = _options["edgeitems"]
    cut = array.size > _options["threshold"]

    def shown(part, dims):
        if not dims:
            return part
        if cut and dims[0] > 2 * edge:
            return [shown(p, dims[1:]) for p in part[:edge]] + [...] + [shown(p, dims[1:]) for p in part[-edge:]]
        return [shown(p, dims[1:]) for p in part]
    tree = shown(nested, shape)
    values = [v for v in _flat(tree) if v is not ...]
    write = array._formatter(values) if hasattr(array, "_formatter") else chosen(array.dtype) or _formatter(values, kind)
    gap = separator[len(separator.rstrip()):]
    width = _options["linewidth"]

    def rows(part, depth, indent):
        if depth == 1:
            lines, line = [], ""
            for i, v in enumerate(part):
                last = i + 1 == len(part)
                word = ("..." if v is ... else write(v)) + ("" if last else separator.rstrip())
                # The closing brackets of the last element count to its width.
                if line and len(indent) + len(line) + len(gap) + len(word) + (rank if last else 0) > width:
                    lines.append(line)
                    line = ""
                line += (gap if line else "") + word
            lines.append(line)
            return "[" + ("\n" + indent).join(lines) + "]"
        between = separator.rstrip() + "\n" * (depth - 1) + indent
        return "[" + between.join(["..." if p is ... else rows(p, depth - 1, indent + " ") for p in part]) + "]"
    rank = len(shape)
    return rows(tree, rank, prefix + " ")


def array_str(array, max_line_width=None, precision=None, suppress_small=None):
    if (max_line_width, precision, suppress_small) != (None, None, None):
        return _np().array2string(array, max_line_width, precision, suppress_small)
    if array.ndim == 0:
        return _scalar(array)
    return _text(array, " ", "")


def _scalar(array):
    value = array.item()
    if not isinstance(value, float) or value != value or abs(value) == math.inf or array.dtype.name == "float64":
        return str(value)
    mantissa, exponent = _digits(value, array.dtype.name)
    if -4 <= exponent < {"float16": 3, "float32": 6}[array.dtype.name] and abs(value) >= 1e-4:
        whole, part = _positional(value, array.dtype.name, 20)
        return whole + "." + (part or "0")
    return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def array_repr(array, max_line_width=None, precision=None, suppress_small=None):
    if (max_line_width, precision, suppress_small) != (None, None, None):
        with _np().printoptions(linewidth=max_line_width, precision=precision, suppress=suppress_small):
            return array_repr(array)
    name = array.dtype.name
    if array.ndim == 0:
        tail = "" if name in ("float64", "int64", "bool") else f", dtype={name}"
        text, tail = _formatter([array.item()], name)(array.item()).strip(), tail.replace(name, repr(name)) if name[0] in "<|dt" else tail
        return f"array({text[:-1] if text.endswith('.0') else text}{tail})"
    text = "array(" + _text(array, ", ", "      ")
    if 0 in array.shape and array.shape != (0,) or array.size > _options["threshold"] and "..." in text:
        text += f", shape={array.shape}"
    if name not in ("float64", "int64", "bool", "complex128") or array.size == 0:
        name = repr(name) if name[0] in "<|dt" else name
        last = len(text.rsplit("\n", 1)[-1])
        text += ("," + (" " if last + len(f"dtype={name}") + 2 <= _options["linewidth"] else "\n      ")) + f"dtype={name}"
    return text + ")"
