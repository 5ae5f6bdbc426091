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

    def __hash__(self):
        return hash(self.int)


_int = int


def uuid4():
    return UUID(bytes=os.urandom(16), version=4)


uuid1 = uuid4
