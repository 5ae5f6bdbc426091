"""Digests of bytes: MD5 (RFC 1321), SHA-1 and SHA-2 (FIPS 180-4), BLAKE2 (RFC 7693)."""

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
    if name in ("blake2b", "blake2s"):
        return globals()[name](data, **kwargs)
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


# Which words of a block each of ten rounds takes, as digits to the base of sixteen.
_ORDERS = [[int(c, 16) for c in row] for row in (
    "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
    "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0")]


class _Blake2:
    digest_size = property(lambda self: self._size)

    def __init__(self, data=b"", /, *, digest_size=None, key=b"", salt=b"", person=b"", usedforsecurity=True):
        most, n = 8 * self._word, 2 * self._word
        digest_size = most if digest_size is None else digest_size
        if not 1 <= digest_size <= most:
            raise ValueError(f"digest_size must be between 1 and {most} bytes")
        for name, value, room in (("key", key, most), ("salt", salt, n), ("person", person, n)):
            if len(value) > room:
                raise ValueError(f"maximum {name} length is {room} bytes")
        self._size, self.block_size = digest_size, 16 * self._word
        block = bytes([digest_size, len(key), 1, 1]).ljust(4 * self._word, b"\0") + salt.ljust(n, b"\0") + person.ljust(n, b"\0")
        parts = [int.from_bytes(block[i:i + self._word], "little") for i in range(0, len(block), self._word)]
        self._h = [a ^ b for a, b in zip(self._start, parts)]
        self._rest, self._length = (bytes(key).ljust(self.block_size, b"\0") if key else b""), 0
        self.update(data)

    def update(self, data):
        if isinstance(data, str):
            raise TypeError("Strings must be encoded before hashing")
        data, size = self._rest + bytes(data), self.block_size
        # The last block is told that it is, and waits.
        whole = max(len(data) - 1, 0) // size * size
        for at in range(0, whole, size):
            self._length += size
            self._h = self._step(data[at:at + size], False)
        self._rest = data[whole:]

    def _step(self, block, last):
        bits, word = 8 * self._word, self._word
        mask = (1 << bits) - 1
        m = [int.from_bytes(block[i:i + word], "little") for i in range(0, len(block), word)]
        v = self._h + self._start[:]
        v[12] ^= self._length & mask
        v[13] ^= self._length >> bits
        v[14] ^= mask if last else 0
        r1, r2, r3, r4 = self._turns
        for i in range(self._rounds):
            s = _ORDERS[i % 10]
            for j, (a, b, c, d) in enumerate(_QUARTERS):
                x = v[a] + v[b] + m[s[2 * j]] & mask
                w = v[d] ^ x
                w = (w >> r1 | w << bits - r1) & mask
                z = v[c] + w & mask
                y = v[b] ^ z
                y = (y >> r2 | y << bits - r2) & mask
                v[a] = x = x + y + m[s[2 * j + 1]] & mask
                w ^= x
                v[d] = w = (w >> r3 | w << bits - r3) & mask
                v[c] = z = z + w & mask
                y ^= z
                v[b] = (y >> r4 | y << bits - r4) & mask
        return [h ^ a ^ b for h, a, b in zip(self._h, v, v[8:])]

    def copy(self):
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def digest(self):
        made = self.copy()
        made._length += len(self._rest)
        h = made._step(self._rest.ljust(self.block_size, b"\0"), True)
        return b"".join([x.to_bytes(self._word, "little") for x in h])[:self._size]

    def hexdigest(self):
        return self.digest().hex()


_QUARTERS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))


class blake2b(_Blake2):
    name, _word, _rounds, _turns = "blake2b", 8, 12, (32, 24, 16, 63)
    _start = [_root_bits(p, 2, 64) for p in _primes(8)]
    MAX_DIGEST_SIZE, MAX_KEY_SIZE, SALT_SIZE, PERSON_SIZE = 64, 64, 16, 16


class blake2s(_Blake2):
    name, _word, _rounds, _turns = "blake2s", 4, 10, (16, 12, 8, 7)
    _start = _H256
    MAX_DIGEST_SIZE, MAX_KEY_SIZE, SALT_SIZE, PERSON_SIZE = 32, 32, 8, 8


def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
    if iterations < 1:
        raise ValueError("iteration value must be great than 0.")
    outer, inner = new(hash_name), new(hash_name)
    size = inner.block_size
    key = (new(hash_name, password).digest() if len(password) > size else bytes(password)).ljust(size, b"\0")
    inner.update(bytes([c ^ 0x36 for c in key]))
    outer.update(bytes([c ^ 0x5c for c in key]))

    def mixed(data):
        first, second = inner.copy(), outer.copy()
        first.update(data)
        second.update(first.digest())
        return second.digest()
    made, wanted = b"", inner.digest_size if dklen is None else dklen
    while len(made) < wanted:
        part = mixed(bytes(salt) + (len(made) // inner.digest_size + 1).to_bytes(4, "big"))
        total = int.from_bytes(part, "big")
        for _ in range(iterations - 1):
            part = mixed(part)
            total ^= int.from_bytes(part, "big")
        made += total.to_bytes(inner.digest_size, "big")
    return made[:wanted]
