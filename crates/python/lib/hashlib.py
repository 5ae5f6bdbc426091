"""Digests of bytes: MD5 (RFC 1321), SHA-1 and SHA-2 (FIPS 180-4)."""

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


def _root_bits(p, degree, bits=32):
    """The first bits of the fraction of a root."""
    scaled = p << bits * degree
    low, high = 0, 1 << bits + 8
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle ** degree <= scaled else (low, middle - 1)
    return low & (1 << bits) - 1


_K256 = [_root_bits(p, 3) for p in _primes(64)]
_H256 = [_root_bits(p, 2) for p in _primes(8)]
_H224 = [_root_bits(p, 2, 64) & _M for p in _primes(16)[8:]]
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


def _sha2(bits, turns, keys):
    """One block of SHA-2 in words of so many bits; `turns` are the rotations of its four functions, the last of the first two shifts."""
    size, full = bits // 8, (1 << bits) - 1

    def spun(x, n):
        return (x >> n | x << bits - n) & full

    def step(h, block):
        w = [int.from_bytes(block[i:i + size], "big") for i in range(0, 16 * size, size)]
        k = keys()
        for i in range(16, len(k)):
            x, y = w[i - 15], w[i - 2]
            p, q = turns[0], turns[1]
            w.append((w[i - 16] + (spun(x, p[0]) ^ spun(x, p[1]) ^ x >> p[2]) + w[i - 7] + (spun(y, q[0]) ^ spun(y, q[1]) ^ y >> q[2])) & full)
        a, b, c, d, e, f, g, last = h
        p, q = turns[2], turns[3]
        for i in range(len(k)):
            t1 = last + (spun(e, p[0]) ^ spun(e, p[1]) ^ spun(e, p[2])) + (e & f ^ ~e & g) + k[i] + w[i]
            t2 = (spun(a, q[0]) ^ spun(a, q[1]) ^ spun(a, q[2])) + (a & b ^ a & c ^ b & c)
            a, b, c, d, e, f, g, last = (t1 + t2) & full, a, b, c, (d + t1) & full, e, f, g
        return [(x + y) & full for x, y in zip(h, (a, b, c, d, e, f, g, last))]
    return step


_wide = []


def _wide_keys():
    """The 80 keys of 64 bits, made when they are first wanted."""
    if not _wide:
        _wide.extend([_root_bits(p, 3, 64) for p in _primes(80)])
    return _wide


_sha256 = _sha2(32, ((7, 18, 3), (17, 19, 10), (6, 11, 25), (2, 13, 22)), lambda: _K256)
_sha512 = _sha2(64, ((1, 8, 7), (19, 61, 6), (14, 18, 41), (28, 34, 39)), _wide_keys)
_KINDS = {"md5": (_md5, _START, "little", 16), "sha1": (_sha1, _START + [0xC3D2E1F0], "big", 20), "sha256": (_sha256, _H256, "big", 32),
          "sha224": (_sha256, _H224, "big", 28), "sha512": (_sha512, None, "big", 64), "sha384": (_sha512, None, "big", 48)}
algorithms_available = algorithms_guaranteed = set(_KINDS)


class _Hash:
    def __init__(self, name, data=b""):
        self.name = name
        self._step, start, self._order, self.digest_size = _KINDS[name]
        # SHA-384 starts from the roots of the second eight primes.
        wide, places = start is None, slice(0, 8) if name == "sha512" else slice(8, 16)
        self.block_size, self._word = (128, 8) if wide else (64, 4)
        start = [_root_bits(p, 2, 64) for p in _primes(16)[places]] if wide else start
        self._h, self._rest, self._length = list(start), b"", 0
        self.update(data)

    def update(self, data):
        if isinstance(data, str):
            raise TypeError("Strings must be encoded before hashing")
        data = bytes(data)
        self._length += len(data)
        data = self._rest + data
        size = self.block_size
        whole = len(data) // size * size
        for at in range(0, whole, size):
            self._h = self._step(self._h, data[at:at + size])
        self._rest = data[whole:]

    def copy(self):
        made = _Hash(self.name)
        made._h, made._rest, made._length = list(self._h), self._rest, self._length
        return made

    def digest(self):
        end, size = self._rest + b"\x80", self.block_size
        end += bytes((size - size // 8 - len(end)) % size) + (self._length * 8 & (1 << 64) - 1).to_bytes(size // 8, self._order)
        h = self._h
        for at in range(0, len(end), size):
            h = self._step(h, end[at:at + size])
        return b"".join([x.to_bytes(self._word, self._order) for x in h])[:self.digest_size]

    def hexdigest(self):
        return self.digest().hex()


def new(name, data=b"", **kwargs):
    if name not in _KINDS:
        raise ValueError(f"unsupported hash type {name}")
    return _Hash(name, data)


def _named(name):
    def function(data=b"", *, usedforsecurity=True):
        return _Hash(name, data)
    function.__name__ = function.__qualname__ = name
    return function


md5, sha1, sha224, sha256, sha384, sha512 = [_named(name) for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")]


def file_digest(file, digest):
    made = digest() if callable(digest) else new(digest)
    made.update(file.read())
    return made
