"""Bytes as digits and letters."""
import base64 as _base64
from zlib import crc32


class Error(ValueError):
    pass


class Incomplete(Exception):
    pass


def hexlify(data, sep=None, bytes_per_sep=1):
    return bytes(data).hex(*([] if sep is None else [sep, bytes_per_sep])).encode()


def unhexlify(hexstr):
    text = hexstr if isinstance(hexstr, str) else bytes(hexstr).decode("latin-1")
    if len(text) % 2:
        raise Error("Odd-length string")
    try:
        return bytes.fromhex("".join([c if c not in " \t\n\r\f\v" else "?" for c in text]))
    except ValueError:
        raise Error("Non-hexadecimal digit found") from None


b2a_hex, a2b_hex = hexlify, unhexlify


def b2a_base64(data, *, newline=True):
    return _base64.b64encode(data) + (b"\n" if newline else b"")


def a2b_base64(data, *, strict_mode=False):
    return _base64.b64decode(data, validate=strict_mode)
