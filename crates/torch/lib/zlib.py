"""Deflated bytes (RFC 1950), and checksums of bytes."""

from torch import _C

Z_DEFAULT_COMPRESSION, Z_BEST_SPEED, Z_BEST_COMPRESSION, MAX_WBITS, DEFLATED = -1, 1, 9, 15, 8


class error(Exception):
    pass


def adler32(data, value=1):
    a, b = value & 0xFFFF, value >> 16
    for byte in data:
        a = (a + byte) % 65521
        b = (b + a) % 65521
    return b << 16 | a


def _row(n):
    for _ in range(8):
        n = n >> 1 ^ (0xEDB88320 if n & 1 else 0)
    return n


_table = []


def crc32(data, value=0):
    if not _table:
        _table.extend([_row(n) for n in range(256)])
    crc = value ^ 0xFFFFFFFF
    for byte in data:
        crc = _table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def compress(data, level=-1, wbits=15):
    return _C.pack(bytes(data), _wrapper(wbits), level)


def decompress(data, wbits=15, bufsize=16384):
    data = bytes(data)
    if _wrapper(wbits) == "zlib" and len(data) > 1 and ((data[0] << 8 | data[1]) % 31 or data[0] & 15 != 8):
        raise error("Error -3 while decompressing data: incorrect header check")
    try:
        return _C.unpack(data, _wrapper(wbits))
    except OSError as failure:
        raise error(f"Error -3 while decompressing data: {failure}") from None


def _wrapper(wbits):
    return "gzip" if wbits >= 16 else "zlib" if wbits > 0 else ""


class _Whole:
    """Parts that are packed or unpacked together, when the last one is there."""

    def __init__(self, run):
        self._run, self._data = run, b""

    def compress(self, data):
        self._data += bytes(data)
        return b""

    def decompress(self, data, max_length=0):
        return self._run(data)

    def flush(self, mode=None):
        return self._run(self._data) if self._data else b""


def compressobj(level=-1, method=DEFLATED, wbits=15):
    return _Whole(lambda data: compress(data, level, wbits))


def decompressobj(wbits=15):
    return _Whole(lambda data: decompress(data, wbits))
