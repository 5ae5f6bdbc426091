"""Numbers as bytes, by formats as in C."""

import math
import sys


class error(Exception):
    pass


_INTEGERS = {"b": (1, True), "B": (1, False), "h": (2, True), "H": (2, False), "i": (4, True), "I": (4, False), "l": (4, True),
             "L": (4, False), "q": (8, True), "Q": (8, False), "n": (8, True), "N": (8, False), "P": (8, False)}
# Bits of the fraction and of the exponent, and bytes.
_FLOATS = {"e": (10, 5, 2), "f": (23, 8, 4), "d": (52, 11, 8)}


def _parse(format):
    """The order of bytes, and the items as (code, count or length, padding before)."""
    if isinstance(format, bytes):
        format = format.decode()
    native = not format or format[0] not in "<>=!"
    order = "big" if format[:1] in (">", "!") else "little" if format[:1] == "<" else sys.byteorder
    text = format[1:] if format[:1] in ("<", ">", "=", "!", "@") and format else format
    native = native or format[:1] == "@"
    items, at, count = [], 0, ""
    for c in text:
        if c.isspace():
            continue
        if c.isdigit():
            count += c
            continue
        n, count = int(count) if count else 1, ""
        size = _size(c, native)
        pad = -at % size if native and c not in "sxpc?" else 0
        items.append((c, n, pad, size))
        at += pad + n * size
    if count:
        raise error("repeat count given without format specifier")
    return order, items, at


def _size(c, native):
    if c in "lL" and native:
        return 8
    if c in _INTEGERS:
        return _INTEGERS[c][0]
    if c in _FLOATS:
        return _FLOATS[c][2]
    if c in "sxcp?":
        return 1
    raise error("bad char in struct format")


def calcsize(format):
    return _parse(format)[2]


def _float_bits(value, fraction, exponent):
    bias, sign = (1 << (exponent - 1)) - 1, 1 if math.copysign(1.0, value) < 0 else 0
    top = (1 << exponent) - 1
    if math.isnan(value):
        return (top << fraction) | (1 << (fraction - 1))
    value = abs(value)
    if math.isinf(value):
        bits = top << fraction
    elif value == 0:
        bits = 0
    else:
        power = math.frexp(value)[1] - 1
        power = power if power > 1 - bias else 1 - bias
        # Rounding may carry into the exponent, which is the next number then.
        bits = round(math.ldexp(value, fraction - power))
        bits += (power + bias - 1) << fraction
        if bits >= top << fraction:
            raise OverflowError("float too large to pack with " + {5: "e", 8: "f", 11: "d"}[exponent] + " format")
    return sign << (fraction + exponent) | bits


def _float_of(bits, fraction, exponent):
    bias, top = (1 << (exponent - 1)) - 1, (1 << exponent) - 1
    sign = -1.0 if bits >> (fraction + exponent) else 1.0
    power, rest = bits >> fraction & top, bits & ((1 << fraction) - 1)
    if power == top:
        return math.nan if rest else sign * math.inf
    if power == 0:
        return sign * math.ldexp(rest, 1 - bias - fraction)
    return sign * math.ldexp(rest | (1 << fraction), power - bias - fraction)


def pack(format, *values):
    order, items, _ = _parse(format)
    out, at = bytearray(), 0
    wanted = sum([1 if c in "sp" else 0 if c == "x" else n for c, n, _, _ in items])
    if wanted != len(values):
        raise error(f"pack expected {wanted} items for packing (got {len(values)})")
    for c, n, pad, size in items:
        out += bytes(pad)
        if c == "x":
            out += bytes(n)
        elif c in "sp":
            if not isinstance(values[at], (bytes, bytearray)):
                raise error(f"argument for '{c}' must be a bytes object")
            text = bytes(values[at])[:n if c == "s" else min(max(n - 1, 0), 255)]
            text = text if c == "s" else bytes([len(text)])[:n] + text
            out += text + bytes(n - len(text))
            at += 1
        else:
            for _ in range(n):
                value, at = values[at], at + 1
                if c == "c":
                    if not isinstance(value, (bytes, bytearray)) or len(value) != 1:
                        raise error("char format requires a bytes object of length 1")
                    out += value
                elif c == "?":
                    out.append(1 if value else 0)
                elif c in _FLOATS:
                    fraction, exponent, _ = _FLOATS[c]
                    if not isinstance(value, (int, float)) and not hasattr(value, "__float__"):
                        raise error("required argument is not a float")
                    out += _float_bits(float(value), fraction, exponent).to_bytes(size, order)
                else:
                    signed = _INTEGERS[c][1]
                    low, high = (-(1 << size * 8 - 1), (1 << size * 8 - 1) - 1) if signed else (0, (1 << size * 8) - 1)
                    if not isinstance(value, int):
                        raise error("required argument is not an integer")
                    if not low <= value <= high:
                        raise error(f"'{c}' format requires {low} <= number <= {high}")
                    out += value.to_bytes(size, order, signed=signed)
    return bytes(out)


def unpack_from(format, buffer, offset=0):
    order, items, length = _parse(format)
    data = bytes(buffer)
    if offset < 0:
        if offset + len(data) < 0:
            raise error(f"offset {offset} out of range for {len(data)}-byte buffer")
        offset += len(data)
    if len(data) - offset < length:
        raise error(f"unpack_from requires a buffer of at least {length + offset} bytes for unpacking {length} bytes at offset {offset} "
                    f"(actual buffer size is {len(data)})")
    out, at = [], offset
    for c, n, pad, size in items:
        at += pad
        if c == "x":
            at += n
        elif c in "sp":
            out.append(data[at:at + n] if c == "s" else data[at + 1:at + 1 + min(data[at], n - 1)] if n else b"")
            at += n
        else:
            for _ in range(n):
                part, at = data[at:at + size], at + size
                if c == "c":
                    out.append(part)
                elif c == "?":
                    out.append(part != b"\0")
                elif c in _FLOATS:
                    fraction, exponent, _ = _FLOATS[c]
                    out.append(_float_of(int.from_bytes(part, order), fraction, exponent))
                else:
                    out.append(int.from_bytes(part, order, signed=_INTEGERS[c][1]))
    return tuple(out)


def pack_into(format, buffer, offset, *values):
    made = pack(format, *values)
    if offset < 0:
        offset += len(buffer)
    if not 0 <= offset <= len(buffer) - len(made):
        raise error(f"pack_into requires a buffer of at least {len(made) + offset} bytes for packing {len(made)} bytes at offset {offset} (actual buffer size is {len(buffer)})")
    buffer[offset:offset + len(made)] = made


def unpack(format, buffer):
    length = calcsize(format)
    if len(buffer) != length:
        raise error(f"unpack requires a buffer of {length} bytes")
    return unpack_from(format, buffer)


def iter_unpack(format, buffer):
    length = calcsize(format)
    if not length or len(buffer) % length:
        raise error(f"iterative unpacking requires a buffer of a multiple of {length} bytes")
    for at in range(0, len(buffer), length):
        yield unpack_from(format, buffer, at)


class Struct:
    def __init__(self, format):
        self.format, self.size = format, calcsize(format)

    def pack(self, *values):
        return pack(self.format, *values)

    def pack_into(self, buffer, offset, *values):
        pack_into(self.format, buffer, offset, *values)

    def iter_unpack(self, buffer):
        return iter_unpack(self.format, buffer)

    def unpack(self, buffer):
        return unpack(self.format, buffer)

    def unpack_from(self, buffer, offset=0):
        return unpack_from(self.format, buffer, offset)
