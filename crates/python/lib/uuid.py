"""Random identifiers."""
import os


class UUID:
    def __init__(self, hex=None, bytes=None, int=None, version=None):
        if hex is not None:
            digits = hex.replace("urn:", "").replace("uuid:", "").strip("{}").replace("-", "")
            if len(digits) != 32:
                raise ValueError("badly formed hexadecimal UUID string")
            int = _int(digits, 16)
        elif bytes is not None:
            int = _int.from_bytes(bytes, "big")
        if version is not None:
            int = int & ~(0xC000 << 48) | 0x8000 << 48
            int = int & ~(0xF000 << 64) | version << 76
        self.int = int

    @property
    def hex(self):
        return f"{self.int:032x}"

    @property
    def bytes(self):
        return self.int.to_bytes(16, "big")

    @property
    def version(self):
        return self.int >> 76 & 0xF

    def __str__(self):
        h = self.hex
        return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"

    def __repr__(self):
        return f"UUID({str(self)!r})"

    def __eq__(self, other):
        return self.int == other.int if isinstance(other, UUID) else NotImplemented

    def __lt__(self, other):
        return self.int < other.int if isinstance(other, UUID) else NotImplemented

    def __le__(self, other):
        return self.int <= other.int if isinstance(other, UUID) else NotImplemented

    def __hash__(self):
        return hash(self.int)


_int = int


def uuid4():
    return UUID(bytes=os.urandom(16), version=4)


uuid1 = uuid4


def _named(namespace, name, version, digest):
    return UUID(bytes=digest(namespace.bytes + (name.encode() if isinstance(name, str) else name)).digest()[:16], version=version)


def uuid3(namespace, name):
    import hashlib
    return _named(namespace, name, 3, hashlib.md5)


def uuid5(namespace, name):
    import hashlib
    return _named(namespace, name, 5, hashlib.sha1)


NAMESPACE_DNS, NAMESPACE_URL, NAMESPACE_OID, NAMESPACE_X500 = [
    UUID(f"6ba7b81{n}-9dad-11d1-80b4-00c04fd430c8") for n in (0, 1, 2, 4)]
