"""Bytes as text of 64 or 16 characters (RFC 4648)."""

_STANDARD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def b64encode(s, altchars=None):
    if not isinstance(s, (bytes, bytearray, memoryview)):
        raise TypeError(f"a bytes-like object is required, not '{type(s).__name__}'")
    alphabet = _STANDARD if altchars is None else _STANDARD[:62] + altchars
    out = bytearray()
    for i in range(0, len(s), 3):
        part = bytes(s[i:i + 3])
        word = int.from_bytes(part + bytes(3 - len(part)), "big")
        digits = [alphabet[word >> 18], alphabet[word >> 12 & 63], alphabet[word >> 6 & 63], alphabet[word & 63]]
        out += bytes(digits[:len(part) + 1]) + b"=" * (3 - len(part))
    return bytes(out)


def encodebytes(s):
    return b"".join([b64encode(s[i:i + 57]) + b"\n" for i in range(0, len(s), 57)])


def decodebytes(s):
    return b64decode(s)


def b64decode(s, altchars=None, validate=False):
    if isinstance(s, str):
        s = s.encode("ascii")
    alphabet = _STANDARD if altchars is None else _STANDARD[:62] + altchars
    values = {c: i for i, c in enumerate(alphabet)}
    if validate and any(c not in values and c != 61 for c in s):
        raise Error("Only base64 data is allowed")
    digits = []
    padding = 0
    for c in s:
        if c == 61:
            padding += 1
        elif c in values:
            digits.append(values[c])
    if len(digits) % 4 == 1:
        raise Error(f"Invalid base64-encoded string: number of data characters ({len(digits)}) cannot be 1 more than a multiple of 4")
    if (len(digits) + padding) % 4 and len(digits) % 4 + padding < 4 and len(digits) % 4:
        raise Error("Incorrect padding")
    out = bytearray()
    for i in range(0, len(digits), 4):
        part = digits[i:i + 4]
        word = 0
        for d in part + [0] * (4 - len(part)):
            word = word << 6 | d
        out += word.to_bytes(3, "big")[:len(part) - 1]
    return bytes(out)


class Error(ValueError):
    pass


def standard_b64encode(s):
    return b64encode(s)


def standard_b64decode(s):
    return b64decode(s)


def urlsafe_b64encode(s):
    return b64encode(s, b"-_")


def urlsafe_b64decode(s):
    return b64decode(s, b"-_")


def b16encode(s):
    return bytes(s).hex().upper().encode("ascii")


def b16decode(s, casefold=False):
    if isinstance(s, bytes):
        s = s.decode("ascii")
    if not casefold and s != s.upper():
        raise Error("Non-base16 digit found")
    try:
        return bytes.fromhex(s)
    except ValueError:
        raise Error("Non-base16 digit found") from None


_32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"


def _digits(word, base, count):
    return [word // base ** i % base for i in range(count - 1, -1, -1)]


def b32encode(s):
    out = b""
    for i in range(0, len(s), 5):
        part = bytes(s[i:i + 5])
        kept = (len(part) * 8 + 4) // 5
        word = int.from_bytes(part + bytes(5 - len(part)), "big")
        out += bytes([_32[d] for d in _digits(word, 32, 8)][:kept]) + b"=" * (8 - kept)
    return out


def _from(s, alphabet, base, digits, size, fill):
    """Groups of digits as numbers of `size` bytes, the last group filled up."""
    s, out = s.encode("ascii") if isinstance(s, str) else bytes(s), b""
    values = {c: i for i, c in enumerate(alphabet)}
    for i in range(0, len(s), digits):
        part = s[i:i + digits]
        word = 0
        for c in part + alphabet[fill:fill + 1] * (digits - len(part)):
            if c not in values:
                raise Error("Non-base32 digit found") if base == 32 else ValueError(f"bad base85 character at position {s.index(c)}")
            word = word * base + values[c]
        out += word.to_bytes(size, "big")[:len(part) * size // digits]
    return out


def b32decode(s, casefold=False):
    s = s.encode("ascii") if isinstance(s, str) else s
    if len(s) % 8:
        raise Error("Incorrect padding")
    return _from((s.upper() if casefold else s).rstrip(b"="), _32, 32, 8, 5, 0)


def b85encode(b, pad=False):
    out = b""
    for i in range(0, len(b), 4):
        part = bytes(b[i:i + 4])
        word = int.from_bytes(part + bytes(4 - len(part)), "big")
        out += bytes([_85[d] for d in _digits(word, 85, 5)][:5 if pad else len(part) + 1])
    return out


def b85decode(b):
    return _from(b, _85, 85, 5, 4, 84)
