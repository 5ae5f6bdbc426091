"""Pickles of plain containers. A pickle names functions to call; those that an Unpickler finds are all that it can call."""

from collections import OrderedDict

HIGHEST_PROTOCOL = 5
DEFAULT_PROTOCOL = 4


class PickleError(Exception):
    pass


class PicklingError(PickleError):
    pass


class UnpicklingError(PickleError):
    pass


_MARK = object()


class _Global:
    """A name that a pickle refers to, and what it stands for."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class Unpickler:
    def __init__(self, file, *, fix_imports=True, encoding="ASCII", errors="strict", buffers=None):
        self._data = file if isinstance(file, bytes) else file.read()
        self._at = 0
        self._memo = {}

    def find_class(self, module, name):
        known = {("collections", "OrderedDict"): OrderedDict, ("builtins", "set"): set, ("builtins", "frozenset"): frozenset,
                 ("builtins", "complex"): complex, ("builtins", "bytearray"): bytearray, ("_codecs", "encode"): _encode}
        if (module, name) in known:
            return known[module, name]
        raise UnpicklingError(f"{module}.{name} is not called: pickles give plain containers, numbers, strings and bytes here")

    def persistent_load(self, pid):
        raise UnpicklingError("unsupported persistent id encountered")

    def _take(self, n):
        end = self._at + n
        if n < 0 or end > len(self._data):
            raise UnpicklingError("pickle data was truncated")
        part = self._data[self._at:end]
        self._at = end
        return part

    def _number(self, n, signed=False):
        return int.from_bytes(self._take(n), "little", signed=signed)

    def _line(self):
        end = self._data.find(b"\n", self._at)
        if end < 0:
            raise UnpicklingError("pickle data was truncated")
        part = self._data[self._at:end]
        self._at = end + 1
        return part.decode("utf-8")

    def load(self):
        stack, memo = [], self._memo

        def since():
            items = []
            while True:
                top = stack.pop()
                if top is _MARK:
                    items.reverse()
                    return items
                items.append(top)
        try:
            while True:
                code = self._take(1)[0]
                if code == 46:  # STOP
                    return stack.pop()
                self._step(code, stack, memo, since)
        except (IndexError, KeyError, AttributeError, TypeError, UnicodeDecodeError) as error:
            raise UnpicklingError(f"invalid pickle at byte {self._at}: {error}") from None

    def _step(self, code, stack, memo, since):
        op = chr(code)
        if code == 0x80:
            if self._take(1)[0] > HIGHEST_PROTOCOL:
                raise ValueError(f"unsupported pickle protocol: {self._data[self._at - 1]}")
        elif code == 0x95:
            self._take(8)
        elif op == "(":
            stack.append(_MARK)
        elif op == "}":
            stack.append({})
        elif op == "]":
            stack.append([])
        elif op == ")":
            stack.append(())
        elif op == "N":
            stack.append(None)
        elif code in (0x88, 0x89):
            stack.append(code == 0x88)
        elif op in "KMJ":
            stack.append(self._number({"K": 1, "M": 2, "J": 4}[op], op == "J"))
        elif code in (0x8a, 0x8b):
            stack.append(self._number(self._number(1 if code == 0x8a else 4), True))
        elif op == "I":
            text = self._line()
            stack.append(text == "01" if text in ("00", "01") else int(text))
        elif op == "L":
            stack.append(int(self._line().rstrip("L")))
        elif op == "F":
            stack.append(float(self._line()))
        elif op == "G":
            from torch import _C
            stack.append(_C.unpack_double(self._take(8)))
        elif op in "XUT" or code in (0x8c, 0x8d):
            size = {"X": 4, "U": 1, "T": 4}.get(op, 1 if code == 0x8c else 8)
            stack.append(self._take(self._number(size)).decode("utf-8" if op not in "UT" else "latin-1"))
        elif op in "CB" or code in (0x8e, 0x96):
            made = self._take(self._number({"C": 1, "B": 4}.get(op, 8)))
            stack.append(bytearray(made) if code == 0x96 else made)
        elif op == "V":
            stack.append(self._line())
        elif op == "t":
            stack.append(tuple(since()))
        elif code in (0x85, 0x86, 0x87):
            n = code - 0x84
            items = stack[-n:]
            if len(items) != n:
                raise UnpicklingError("pickle data was truncated")
            del stack[-n:]
            stack.append(tuple(items))
        elif op == "l":
            stack.append(since())
        elif op == "d":
            items = since()
            stack.append(dict(zip(items[::2], items[1::2])))
        elif op == "a":
            item = stack.pop()
            stack[-1].append(item)
        elif op == "e":
            items = since()
            stack[-1].extend(items)
        elif op == "s":
            value = stack.pop()
            key = stack.pop()
            stack[-1][key] = value
        elif op == "u":
            items = since()
            for key, value in zip(items[::2], items[1::2]):
                stack[-1][key] = value
        elif code == 0x8f:
            stack.append(set())
        elif code == 0x90:
            items = since()
            stack[-1].update(items)
        elif code == 0x91:
            stack.append(frozenset(since()))
        elif op in "pqr" or code == 0x94:
            place = int(self._line()) if op == "p" else self._number(1) if op == "q" else self._number(4) if op == "r" else len(memo)
            memo[place] = stack[-1]
        elif op in "ghj":
            stack.append(memo[int(self._line()) if op == "g" else self._number(1 if op == "h" else 4)])
        elif op == "0":
            stack.pop()
        elif op == "2":
            stack.append(stack[-1])
        elif op == "1":
            since()
        elif op == "c":
            module = self._line()
            stack.append(self.find_class(module, self._line()))
        elif code == 0x93:
            name = stack.pop()
            stack.append(self.find_class(stack.pop(), name))
        elif op == "R":
            args = stack.pop()
            stack.append(self._call(stack.pop(), args))
        elif code == 0x81:
            args = stack.pop()
            stack.append(self._call(stack.pop(), args))
        elif op == "b":
            state = stack.pop()
            self._build(stack[-1], state)
        elif op == "Q":
            stack.append(self.persistent_load(stack.pop()))
        else:
            raise UnpicklingError(f"invalid load key, '{op if 32 <= code < 127 else chr(92) + 'x%02x' % code}'.")

    def _call(self, function, args):
        return function(*args)

    def _build(self, made, state):
        if isinstance(made, OrderedDict) and isinstance(state, dict):
            return
        raise UnpicklingError(f"the state of {type(made).__name__} is not set")


def _encode(text, encoding):
    return text.encode(encoding)


class Pickler:
    """Protocol 2, which PyTorch's files have."""

    def __init__(self, file, protocol=None, **kwargs):
        self._file, self._parts, self._memo, self._kept = file, [], {}, []

    def persistent_id(self, obj):
        return None

    def reduce(self, obj):
        """A function by module and name, and its arguments, for objects that are no plain ones; `None` where there is none."""
        return None

    def dump(self, obj):
        self._parts = [b"\x80\x02"]
        self._save(obj)
        self._parts.append(b".")
        self._file.write(b"".join(self._parts))

    def _memoize(self, obj):
        place = len(self._memo)
        self._memo[id(obj)] = place
        self._kept.append(obj)
        self._parts.append(b"q" + bytes([place]) if place < 256 else b"r" + place.to_bytes(4, "little"))

    def _name(self, module, name):
        self._parts.append(b"c" + module.encode() + b"\n" + name.encode() + b"\n")

    def _save(self, obj):
        put = self._parts.append
        pid = self.persistent_id(obj)
        if pid is not None:
            self._save(pid)
            put(b"Q")
        elif obj is None:
            put(b"N")
        elif obj is True or obj is False:
            put(b"\x88" if obj else b"\x89")
        elif id(obj) in self._memo and not isinstance(obj, (int, float)):
            place = self._memo[id(obj)]
            put(b"h" + bytes([place]) if place < 256 else b"j" + place.to_bytes(4, "little"))
        elif type(obj) is int:
            if 0 <= obj < 256:
                put(b"K" + bytes([obj]))
            elif -2 ** 31 <= obj < 2 ** 31:
                put(b"J" + obj.to_bytes(4, "little", signed=True))
            else:
                data = obj.to_bytes(obj.bit_length() // 8 + 1, "little", signed=True)
                put(b"\x8a" + bytes([len(data)]) + data)
        elif type(obj) is float:
            from torch import _C
            put(b"G" + _C.pack_double(obj))
        elif type(obj) is str:
            data = obj.encode("utf-8")
            put(b"X" + len(data).to_bytes(4, "little") + data)
            self._memoize(obj)
        elif type(obj) is bytes:
            # As protocol 2 has it: text in which each character is a byte.
            self._reduce("_codecs", "encode", (obj.decode("latin-1"), "latin1"))
            self._memoize(obj)
        elif type(obj) is tuple:
            if len(obj) <= 3:
                for item in obj:
                    self._save(item)
                put(b")" if not obj else bytes([0x84 + len(obj)]))
            else:
                put(b"(")
                for item in obj:
                    self._save(item)
                put(b"t")
            if obj:
                self._memoize(obj)
        elif type(obj) is list:
            put(b"]")
            self._memoize(obj)
            if obj:
                put(b"(")
                for item in obj:
                    self._save(item)
                put(b"e")
        elif type(obj) is dict or type(obj) is OrderedDict:
            if type(obj) is dict:
                put(b"}")
            else:
                self._name("collections", "OrderedDict")
                put(b")R")
            self._memoize(obj)
            if obj:
                put(b"(")
                for key, value in obj.items():
                    self._save(key)
                    self._save(value)
                put(b"u")
        elif type(obj) is set:
            self._reduce("builtins", "set", (list(obj),))
            self._memoize(obj)
        else:
            made = self.reduce(obj)
            if made is None:
                raise PicklingError(
                    f"Can't pickle {type(obj).__module__}.{type(obj).__name__} here: only plain containers, numbers, strings and tensors; "
                    "of a module or optimizer save its state_dict()")
            if isinstance(made, _Global):
                self._name(made.module, made.name)
            else:
                self._reduce(*made)
            self._memoize(obj)

    def _reduce(self, module, name, args):
        self._name(module, name)
        self._save(tuple(args))
        self._parts.append(b"R")


def dumps(obj, protocol=None, **kwargs):
    import io
    file = io.BytesIO()
    Pickler(file, protocol).dump(obj)
    return file.getvalue()


def dump(obj, file, protocol=None, **kwargs):
    Pickler(file, protocol).dump(obj)


def loads(data, **kwargs):
    return Unpickler(bytes(data)).load()


def load(file, **kwargs):
    return Unpickler(file).load()
