"""Codes of authenticity, by a key and a hash."""
import hashlib
from secrets import compare_digest


class HMAC:
    def __init__(self, key, msg=None, digestmod=""):
        if not isinstance(key, (bytes, bytearray)):
            raise TypeError(f"key: expected bytes or bytearray, but got {type(key).__name__!r}")
        if not digestmod:
            raise TypeError("Missing required argument 'digestmod'.")
        self._make = digestmod if callable(digestmod) else lambda data=b"": hashlib.new(digestmod, data)
        self._inner, self._outer = self._make(), self._make()
        self.block_size, self.digest_size = self._inner.block_size, self._inner.digest_size
        self.name = "hmac-" + self._inner.name
        key = self._make(bytes(key)).digest() if len(key) > self.block_size else bytes(key)
        key = key.ljust(self.block_size, b"\0")
        self._outer.update(bytes(b ^ 0x5c for b in key))
        self._inner.update(bytes(b ^ 0x36 for b in key))
        if msg is not None:
            self.update(msg)

    def update(self, msg):
        self._inner.update(msg)

    def copy(self):
        other = HMAC.__new__(HMAC)
        other.__dict__.update(self.__dict__, _inner=self._inner.copy(), _outer=self._outer.copy())
        return other

    def digest(self):
        outer = self._outer.copy()
        outer.update(self._inner.digest())
        return outer.digest()

    def hexdigest(self):
        return self.digest().hex()


def new(key, msg=None, digestmod=""):
    return HMAC(key, msg, digestmod)


def digest(key, msg, digest):
    return HMAC(key, msg, digest).digest()
