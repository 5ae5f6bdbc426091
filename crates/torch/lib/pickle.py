"""Pickles: protocol 2 is written, all are read. A pickle names functions to call: classes, and functions of the script's own, are called, other
functions of the library are not."""

import copy
import sys
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
        self._file, self._start = None, 0
        if not isinstance(file, bytes):
            self._file = file
            self._start = file.tell() if hasattr(file, "tell") else 0
            file = file.read()
        self._data, self._at = file, 0
        self._memo = {}
        # Whether what runs is the script's, whose exceptions are its own.
        self._outside = False

    def find_class(self, module, name):
        if (module, name) in PLAIN:
            return PLAIN[module, name]
        import importlib
        found = importlib.import_module(module)
        for part in name.split("."):
            if not hasattr(found, part):
                raise AttributeError(f"Can't get attribute {name!r} on {importlib.import_module(module)!r}")
            found = getattr(found, part)
        return found

    def _find(self, module, name):
        self._outside = True
        found = self.find_class(module, name)
        self._outside = False
        return found

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
        if not self._data:
            raise EOFError("Ran out of input")

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
                    if hasattr(self._file, "seek"):
                        # Another pickle may follow.
                        self._file.seek(self._start + self._at)
                    return stack.pop()
                self._step(code, stack, memo, since)
        except (IndexError, KeyError, AttributeError, TypeError, UnicodeDecodeError) as error:
            if self._outside:
                raise
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
            stack.append(self._find(module, self._line()))
        elif code == 0x93:
            name = stack.pop()
            stack.append(self._find(stack.pop(), name))
        elif op == "R":
            args = stack.pop()
            stack.append(self._call(stack.pop(), args))
        elif code == 0x81:
            args = stack.pop()
            cls = stack.pop()
            stack.append(self._call(cls, args, cls.__new__))
        elif op == "b":
            state = stack.pop()
            self._build(stack[-1], state)
        elif op == "Q":
            stack.append(self.persistent_load(stack.pop()))
        else:
            raise UnpicklingError(f"invalid load key, '{op if 32 <= code < 127 else chr(92) + 'x%02x' % code}'.")

    def _call(self, function, args, new=None):
        if not _is_called(function):
            name = getattr(function, "__qualname__", type(function).__name__)
            raise UnpicklingError(f"{getattr(function, '__module__', None)}.{name} is not called: pickles make objects here, they run nothing else")
        self._outside = True
        made = function(*args) if new is None else new(function, *args)
        self._outside = False
        return made

    def _build(self, made, state):
        if isinstance(made, OrderedDict) and isinstance(state, dict):
            return
        self._outside = True
        copy._set_state(made, state)
        self._outside = False


def _encode(text, encoding):
    return text.encode(encoding)


# Functions of the library that make objects: those that pickles written here name, by module and name.
_MAKERS = {("pickle", "_encode"), ("functools", "_partial_of"), ("copyreg", "__newobj__"), ("copyreg", "_reconstructor"),
           ("torch.serialization", "_tensor_of"), ("torch.serialization", "_parameter_of"), ("torch.serialization", "_dtype_of")}


def _is_called(function):
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if isinstance(function, type):
        # Iterators that call what they are given are no values of a pickle.
        return module not in ("builtins", "itertools") or function in _VALUES or issubclass(function, BaseException)
    if (module, name) in _MAKERS or function is getattr:
        return True
    file = getattr(sys.modules.get(module), "__file__", "<") or "<"
    return module == "__main__" or not file.startswith("<")


_VALUES = (object, bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice)

# What stands for plain values.
PLAIN = {("collections", "OrderedDict"): OrderedDict, ("builtins", "set"): set, ("builtins", "frozenset"): frozenset,
         ("builtins", "complex"): complex, ("builtins", "bytearray"): bytearray, ("builtins", "range"): range,
         ("builtins", "slice"): slice, ("_codecs", "encode"): _encode}
# As the protocols of Python 2 name them.
PLAIN.update({("__builtin__", name): value for (module, name), value in list(PLAIN.items()) if module == "builtins"})
PLAIN["__builtin__", "xrange"] = range


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
        elif type(obj) in (set, frozenset):
            self._reduce("builtins", type(obj).__name__, (list(obj),))
            self._memoize(obj)
        elif type(obj) is complex:
            self._reduce("builtins", "complex", (obj.real, obj.imag))
        elif type(obj) in (range, slice):
            self._reduce("builtins", type(obj).__name__, (obj.start, obj.stop, obj.step))
        elif type(obj) is bytearray:
            self._reduce("builtins", "bytearray", (bytes(obj),))
            self._memoize(obj)
        elif obj is ... or obj is NotImplemented:
            self._name("builtins", "Ellipsis" if obj is ... else "NotImplemented")
        else:
            made = self.reduce(obj)
            if made is None:
                self._object(obj)
                return
            if isinstance(made, _Global):
                self._name(made.module, made.name)
            else:
                self._reduce(*made)
            self._memoize(obj)

    def _object(self, obj):
        """How an object is made anew, and its state."""
        cls = type(obj)
        kind = cls.__name__
        if isinstance(obj, type) or kind in ("function", "builtin_function_or_method"):
            self._global(obj, obj.__qualname__)
            self._memoize(obj)
            return
        names = copy._names(cls)
        if kind == "method":
            made = getattr, (obj.__self__, obj.__name__)
        elif "__reduce_ex__" in names:
            made = obj.__reduce_ex__(2)
        elif "__reduce__" in names:
            made = obj.__reduce__()
        elif isinstance(obj, BaseException):
            made = cls, obj.args, dict(obj.__dict__) or None
        elif isinstance(obj, (set, frozenset)):
            made = cls, (list(obj),), copy._state(obj)
        elif cls in (property, classmethod, staticmethod) or kind in _NOT_PICKLED:
            raise TypeError(f"cannot pickle '{kind}' object")
        else:
            made = None
        if isinstance(made, str):
            self._global(obj, made)
            self._memoize(obj)
            return
        if made is None:
            args = ()
            for base in (tuple, int, float, str, bytes):
                if isinstance(obj, base):
                    args = obj.__getnewargs__() if "__getnewargs__" in names else (base(obj),)
                    break
            # A class may refuse here, before it is named.
            state = obj.__getstate__() if "__getstate__" in names else copy._state(obj)
            self._save(cls)
            self._save(tuple(args))
            self._parts.append(b"\x81")
            items = iter(obj) if isinstance(obj, list) else None
            pairs = iter(obj.items()) if isinstance(obj, dict) else None
        else:
            function, args, state, items, pairs = (*made, None, None, None)[:5]
            self._save(function)
            self._save(args)
            self._parts.append(b"R")
        self._memoize(obj)
        for each, code in ((items, b"e"), (pairs, b"u")):
            if each is not None:
                self._parts.append(b"(")
                for item in each:
                    for value in (item if code == b"u" else (item,)):
                        self._save(value)
                self._parts.append(code)
        if state is not None:
            self._save(state)
            self._parts.append(b"b")

    def _global(self, obj, name):
        module = getattr(obj, "__module__", None) or "builtins"
        if "<locals>" in name:
            raise AttributeError(f"Can't pickle local object {name!r}")
        if module == "builtins":
            # Functions of torch that are natives.
            module = next((m for m in ("torch.nn.functional", "torch") if getattr(sys.modules.get(m), name, None) is obj), module)
        found = sys.modules.get(module)
        if found is None:
            raise PicklingError(f"Can't pickle {obj!r}: import of module {module!r} failed")
        for part in name.split("."):
            if not hasattr(found, part):
                raise PicklingError(f"Can't pickle {obj!r}: attribute lookup {name} on {module} failed")
            found = getattr(found, part)
        if found is not obj:
            raise PicklingError(f"Can't pickle {obj!r}: it's not the same object as {module}.{name}")
        self._name(module, name)

    def _reduce(self, module, name, args):
        self._name(module, name)
        self._save(tuple(args))
        self._parts.append(b"R")


_NOT_PICKLED = ("module", "generator", "frame", "traceback", "cell", "mappingproxy", "code", "_File", "TextIOWrapper")


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
