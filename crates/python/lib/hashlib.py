"""Digests of bytes: MD5 (RFC 1321), SHA-1 and SHA-256 (FIPS 180-4)."""

import math

_M = 0xFFFFFFFF


def _rotated(x, n):
    return (x << n | x >> (32 - n)) & _M


def _primes(n):
    found, k = [], 2
    while len(found) < n:
        if all([k % p for p in found]):
            found.append(k)
        k += 1
    return found


def _root_bits(p, degree):
    """The first 32 bits of the fraction of a root."""
    scaled = p << 32 * degree
    low, high = 0, 1 << 40
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle ** degree <= scaled else (low, middle - 1)
    return low & _M


_K256 = [_root_bits(p, 3) for p in _primes(64)]
_H256 = [_root_bits(p, 2) for p in _primes(8)]
_K5 = [int(abs(math.sin(i + 1)) * 4294967296) & _M for i in range(64)]
_S5 = [7, 12, 17, 22] * 4 + [5, 9, 14, 20] * 4 + [4, 11, 16, 23] * 4 + [6, 10, 15, 21] * 4
_START = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476]


def _md5(h, block):
    w = [int.from_bytes(block[i:i + 4], "little") for i in range(0, 64, 4)]
    a, b, c, d = h
    for i in range(64):
        if i < 16:
            f, g = b & c | ~b & d, i
        elif i < 32:
            f, g = d & b | ~d & c, (5 * i + 1) % 16
        elif i < 48:
            f, g = b ^ c ^ d, (3 * i + 5) % 16
        else:
            f, g = c ^ (b | ~d & _M), 7 * i % 16
        a, d, c, b = d, c, b, (b + _rotated((a + f + _K5[i] + w[g]) & _M, _S5[i])) & _M
    return [(x + y) & _M for x, y in zip(h, (a, b, c, d))]


def _sha1(h, block):
    w = [int.from_bytes(block[i:i + 4], "big") for i in range(0, 64, 4)]
    for i in range(16, 80):
        w.append(_rotated(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1))
    a, b, c, d, e = h
    for i in range(80):
        if i < 20:
            f, k = b & c | ~b & d, 0x5A827999
        elif i < 40:
            f, k = b ^ c ^ d, 0x6ED9EBA1
        elif i < 60:
            f, k = b & c | b & d | c & d, 0x8F1BBCDC
        else:
            f, k = b ^ c ^ d, 0xCA62C1D6
        a, b, c, d, e = (_rotated(a, 5) + f + e + k + w[i]) & _M, a, _rotated(b, 30), c, d
    return [(x + y) & _M for x, y in zip(h, (a, b, c, d, e))]


def _sha256(h, block):
    w = [int.from_bytes(block[i:i + 4], "big") for i in range(0, 64, 4)]
    for i in range(16, 64):
        x, y = w[i - 15], w[i - 2]
        s0 = _rotated(x, 25) ^ _rotated(x, 14) ^ x >> 3
        s1 = _rotated(y, 15) ^ _rotated(y, 13) ^ y >> 10
        w.append((w[i - 16] + s0 + w[i - 7] + s1) & _M)
    a, b, c, d, e, f, g, last = h
    for i in range(64):
        s1 = _rotated(e, 26) ^ _rotated(e, 21) ^ _rotated(e, 7)
        t1 = last + s1 + (e & f ^ ~e & g) + _K256[i] + w[i]
        s0 = _rotated(a, 30) ^ _rotated(a, 19) ^ _rotated(a, 10)
        t2 = s0 + (a & b ^ a & c ^ b & c)
        a, b, c, d, e, f, g, last = (t1 + t2) & _M, a, b, c, (d + t1) & _M, e, f, g
    return [(x + y) & _M for x, y in zip(h, (a, b, c, d, e, f, g, last))]


_KINDS = {"md5": (_md5, _START, "little", 16), "sha1": (_sha1, _START + [0xC3D2E1F0], "big", 20), "sha256": (_sha256, _H256, "big", 32)}
algorithms_available = algorithms_guaranteed = set(_KINDS)


class _Hash:
    block_size = 64

    def __init__(self, name, data=b""):
        self.name = name
        self._step, start, self._order, self.digest_size = _KINDS[name]
        self._h, self._rest, self._length = list(start), b"", 0
        self.update(data)

    def update(self, data):
        data = bytes(data)
        self._length += len(data)
        data = self._rest + data
        whole = len(data) // 64 * 64
        for at in range(0, whole, 64):
            self._h = self._step(self._h, data[at:at + 64])
        self._rest = data[whole:]

    def copy(self):
        made = _Hash(self.name)
        made._h, made._rest, made._length = list(self._h), self._rest, self._length
        return made

    def digest(self):
        end = self._rest + b"\x80"
        end += bytes((56 - len(end)) % 64) + (self._length * 8 & (1 << 64) - 1).to_bytes(8, self._order)
        h = self._h
        for at in range(0, len(end), 64):
            h = self._step(h, end[at:at + 64])
        return b"".join([x.to_bytes(4, self._order) for x in h])

    def hexdigest(self):
        return self.digest().hex()


def new(name, data=b"", **kwargs):
    if name not in _KINDS:
        raise ValueError(f"unsupported hash type {name}")
    return _Hash(name, data)


def md5(data=b"", *, usedforsecurity=True):
    return _Hash("md5", data)


def sha1(data=b"", *, usedforsecurity=True):
    return _Hash("sha1", data)


def sha256(data=b"", *, usedforsecurity=True):
    return _Hash("sha256", data)
