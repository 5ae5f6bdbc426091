"""Encodings by name. What they are is the machine's: `str.encode` and `bytes.decode`."""
from collections import namedtuple
import binascii as _binascii

BOM_UTF8 = b"\xef\xbb\xbf"
BOM = BOM_LE = BOM_UTF16 = BOM_UTF16_LE = b"\xff\xfe"
BOM_BE = BOM_UTF16_BE = b"\xfe\xff"
BOM_UTF32 = BOM_UTF32_LE = b"\xff\xfe\0\0"
BOM_UTF32_BE = b"\0\0\xfe\xff"

CodecInfo = namedtuple("CodecInfo", "encode decode streamreader streamwriter name", defaults=(None, None, ""))


def _rot13(text, errors="strict"):
    turn = lambda c, a: chr((ord(c) - a + 13) % 26 + a)
    return "".join([turn(c, 97) if "a" <= c <= "z" else turn(c, 65) if "A" <= c <= "Z" else c for c in text])


def _special(encoding):
    import base64
    import zlib
    known = {"rot13": (_rot13, _rot13), "hex": (_binascii.hexlify, _binascii.unhexlify), "base64": (base64.encodebytes, base64.b64decode), "zlib": (zlib.compress, zlib.decompress)}
    return known.get(encoding.lower().replace("_", "").replace("-", "").removesuffix("codec"))


def encode(obj, encoding="utf-8", errors="strict"):
    special = _special(encoding)
    return special[0](obj) if special else obj.encode(encoding, errors)


def decode(obj, encoding="utf-8", errors="strict"):
    special = _special(encoding)
    return special[1](obj) if special else bytes(obj).decode(encoding, errors)


def lookup(encoding):
    if not _special(encoding):
        "".encode(encoding)
    name = encoding.lower().replace("_", "-")
    name = {"utf8": "utf-8", "latin1": "iso8859-1", "latin-1": "iso8859-1", "iso-8859-1": "iso8859-1", "us-ascii": "ascii"}.get(name, name)

    def coded(text, errors="strict"):
        return encode(text, encoding, errors), len(text)

    def read(data, errors="strict"):
        return decode(data, encoding, errors), len(data)
    return CodecInfo(coded, read, None, None, name)


def getencoder(encoding):
    return lookup(encoding).encode


def getdecoder(encoding):
    return lookup(encoding).decode


def iterdecode(iterator, encoding, errors="strict", **kwargs):
    yield decode(b"".join(iterator), encoding, errors)


def open(filename, mode="r", encoding=None, errors="strict", buffering=-1):
    from builtins import open
    return open(filename, mode, encoding=encoding, errors=errors) if "b" not in mode else open(filename, mode)
