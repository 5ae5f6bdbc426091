"""Signatures and kinds of objects."""
import types as _types
from collections import namedtuple as _namedtuple


class _Empty(type):
    def __repr__(cls):
        return f"<class 'inspect.{cls.__name__}'>"


class _empty(metaclass=_Empty):
    pass


class _ParameterKind(int):
    def __new__(cls, value, name, description):
        self = int.__new__(cls, value)
        self.name, self.description = name, description
        return self

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"<_ParameterKind.{self.name}: {int(self)}>"


_POSITIONAL_ONLY = _ParameterKind(0, "POSITIONAL_ONLY", "positional-only")
_POSITIONAL_OR_KEYWORD = _ParameterKind(1, "POSITIONAL_OR_KEYWORD", "positional or keyword")
_VAR_POSITIONAL = _ParameterKind(2, "VAR_POSITIONAL", "variadic positional")
_KEYWORD_ONLY = _ParameterKind(3, "KEYWORD_ONLY", "keyword-only")
_VAR_KEYWORD = _ParameterKind(4, "VAR_KEYWORD", "variadic keyword")


def formatannotation(annotation, base_module=None):
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        if annotation.__module__ in ("builtins", base_module):
            return annotation.__qualname__
        return f"{annotation.__module__}.{annotation.__qualname__}"
    return repr(annotation).replace("typing.", "") if "typing." in repr(annotation) else repr(annotation)


class Parameter:
    empty = _empty
    POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, VAR_POSITIONAL = _POSITIONAL_ONLY, _POSITIONAL_OR_KEYWORD, _VAR_POSITIONAL
    KEYWORD_ONLY, VAR_KEYWORD = _KEYWORD_ONLY, _VAR_KEYWORD

    def __init__(self, name, kind, *, default=_empty, annotation=_empty):
        self.name, self.kind, self.default, self.annotation = name, kind, default, annotation

    def replace(self, **changes):
        values = {"name": self.name, "kind": self.kind, "default": self.default, "annotation": self.annotation, **changes}
        return Parameter(values["name"], values["kind"], default=values["default"], annotation=values["annotation"])

    def __str__(self):
        text = self.name
        if self.annotation is not _empty:
            text += f": {formatannotation(self.annotation)}"
        if self.default is not _empty:
            text += f" = {self.default!r}" if self.annotation is not _empty else f"={self.default!r}"
        return {2: "*", 4: "**"}.get(int(self.kind), "") + text

    def __repr__(self):
        return f'<Parameter "{self}">'

    def __eq__(self, other):
        return isinstance(other, Parameter) and (self.name, self.kind, self.default, self.annotation) == (other.name, other.kind, other.default, other.annotation)

    def __hash__(self):
        return hash((self.name, int(self.kind)))


class BoundArguments:
    def __init__(self, signature, arguments):
        self.signature, self.arguments = signature, arguments

    @property
    def args(self):
        out = []
        for name, p in self.signature.parameters.items():
            if p.kind in (3, 4) or name not in self.arguments:
                break
            out.extend(self.arguments[name]) if p.kind == 2 else out.append(self.arguments[name])
        return tuple(out)

    @property
    def kwargs(self):
        out, keyword = {}, False
        for name, p in self.signature.parameters.items():
            if p.kind in (3, 4) or name not in self.arguments:
                keyword = True
            if keyword and name in self.arguments:
                out.update(self.arguments[name]) if p.kind == 4 else out.update({name: self.arguments[name]})
        return out

    def apply_defaults(self):
        filled = {}
        for name, p in self.signature.parameters.items():
            if name in self.arguments:
                filled[name] = self.arguments[name]
            elif p.default is not _empty:
                filled[name] = p.default
            elif p.kind == 2:
                filled[name] = ()
            elif p.kind == 4:
                filled[name] = {}
        self.arguments = filled

    def __repr__(self):
        return f"<BoundArguments ({', '.join(f'{k}={v!r}' for k, v in self.arguments.items())})>"


class Signature:
    empty = _empty

    def __init__(self, parameters=None, *, return_annotation=_empty):
        self.parameters = {p.name: p for p in parameters or ()}
        self.return_annotation = return_annotation

    def replace(self, *, parameters=None, return_annotation=None):
        return Signature(self.parameters.values() if parameters is None else parameters, return_annotation=self.return_annotation if return_annotation is None else return_annotation)

    @classmethod
    def from_callable(cls, obj, **kwargs):
        return signature(obj)

    def _bind(self, args, kwargs, partial):
        arguments, args, kwargs = {}, list(args), dict(kwargs)
        for name, p in self.parameters.items():
            if p.kind in (0, 1) and args:
                if name in kwargs and p.kind == 1:
                    raise TypeError(f"multiple values for argument {name!r}")
                arguments[name] = args.pop(0)
            elif p.kind == 2:
                if args:
                    arguments[name] = tuple(args)
                    args = []
            elif p.kind == 4:
                if kwargs:
                    arguments[name], kwargs = kwargs, {}
            elif p.kind != 0 and name in kwargs:
                arguments[name] = kwargs.pop(name)
            elif p.default is _empty and not partial:
                raise TypeError(f"missing a required argument: {name!r}")
            if args and p.kind in (3, 4):
                break
        if args:
            raise TypeError("too many positional arguments")
        if kwargs:
            raise TypeError(f"got an unexpected keyword argument {next(iter(kwargs))!r}")
        return BoundArguments(self, arguments)

    def bind(self, /, *args, **kwargs):
        return self._bind(args, kwargs, False)

    def bind_partial(self, /, *args, **kwargs):
        return self._bind(args, kwargs, True)

    def __str__(self):
        parts, slash, star = [], False, True
        for p in self.parameters.values():
            if p.kind == 0:
                slash = True
            elif slash:
                parts.append("/")
                slash = False
            if p.kind == 2:
                star = False
            elif p.kind == 3 and star:
                parts.append("*")
                star = False
            parts.append(str(p))
        if slash:
            parts.append("/")
        text = f"({', '.join(parts)})"
        return text if self.return_annotation is _empty else f"{text} -> {formatannotation(self.return_annotation)}"

    def __repr__(self):
        return f"<Signature {self}>"

    def __eq__(self, other):
        return isinstance(other, Signature) and list(self.parameters.values()) == list(other.parameters.values()) and self.return_annotation == other.return_annotation

    def __hash__(self):
        return hash(tuple(self.parameters))


def _of_function(f):
    made = getattr(f, "_dataclass_parameters", None)
    if made is not None:
        from dataclasses import MISSING
        ps = [Parameter("self", _POSITIONAL_OR_KEYWORD)]
        for name, keyword, default, annotation in made:
            ps.append(Parameter(name, _KEYWORD_ONLY if keyword else _POSITIONAL_OR_KEYWORD, default=_empty if default is MISSING else default, annotation=annotation))
        return Signature(ps, return_annotation=None)
    code = f.__code__
    names, notes = code.co_varnames, getattr(f, "__annotations__", None) or {}
    defaults, kwdefaults = f.__defaults__ or (), f.__kwdefaults__ or {}
    n, k = code.co_argcount, code.co_kwonlyargcount
    ps = []
    for i, name in enumerate(names[:n]):
        kind = _POSITIONAL_ONLY if i < code.co_posonlyargcount else _POSITIONAL_OR_KEYWORD
        default = defaults[i - n + len(defaults)] if i >= n - len(defaults) else _empty
        ps.append(Parameter(name, kind, default=default, annotation=notes.get(name, _empty)))
    at = n + k
    if code.co_flags & 4:
        ps.append(Parameter(names[at], _VAR_POSITIONAL, annotation=notes.get(names[at], _empty)))
        at += 1
    for name in names[n:n + k]:
        ps.append(Parameter(name, _KEYWORD_ONLY, default=kwdefaults.get(name, _empty), annotation=notes.get(name, _empty)))
    if code.co_flags & 8:
        ps.append(Parameter(names[at], _VAR_KEYWORD, annotation=notes.get(names[at], _empty)))
    return Signature(ps, return_annotation=notes.get("return", _empty))


def signature(obj, *, follow_wrapped=True):
    if not callable(obj):
        raise TypeError(f"{obj!r} is not a callable object")
    if isinstance(obj, _types.MethodType):
        sig = signature(obj.__func__)
        return sig.replace(parameters=list(sig.parameters.values())[1:])
    if follow_wrapped and hasattr(obj, "__wrapped__"):
        return signature(obj.__wrapped__)
    own = getattr(obj, "__signature__", None)
    if own is not None:
        return own
    if isinstance(obj, _types.FunctionType):
        return _of_function(obj)
    from functools import partial
    if isinstance(obj, partial):
        sig = signature(obj.func)
        ps, left = [], len(obj.args)
        changed = False
        for p in sig.parameters.values():
            if left and p.kind in (0, 1):
                left -= 1
                continue
            if p.name in obj.keywords:
                p = p.replace(default=obj.keywords[p.name], kind=_KEYWORD_ONLY)
                changed = True
            elif changed and p.kind == 1:
                p = p.replace(kind=_KEYWORD_ONLY)
            ps.append(p)
        return sig.replace(parameters=ps)
    if isinstance(obj, type):
        for name in ("__init__", "__new__"):
            for base in obj.__mro__:
                f = base.__dict__.get(name)
                if isinstance(f, staticmethod):
                    f = f.__func__
                if isinstance(f, _types.FunctionType):
                    sig = signature(f, follow_wrapped=follow_wrapped)
                    return sig.replace(parameters=list(sig.parameters.values())[1:], return_annotation=_empty if sig.return_annotation is None else sig.return_annotation)
        return Signature()
    if getattr(obj, "__name__", None) in ("__init__", "__new__") and getattr(obj, "__objclass__", object) is object and "of 'object'" in repr(obj):
        return Signature([Parameter(name, kind) for name, kind in (("self", 0), ("args", 2), ("kwargs", 4))])
    call = getattr(type(obj), "__call__", None)
    if isinstance(call, _types.FunctionType):
        sig = _of_function(call)
        return sig.replace(parameters=list(sig.parameters.values())[1:])
    raise ValueError(f"no signature found for builtin {obj!r}")


def getfullargspec(func):
    from collections import namedtuple
    sig = signature(func)
    ps = list(sig.parameters.values())
    args = [p.name for p in ps if p.kind in (0, 1)]
    if isinstance(func, _types.MethodType):
        args.insert(0, "self")
    pick = lambda kind: next((p.name for p in ps if p.kind == kind), None)
    defaults = tuple(p.default for p in ps if p.kind in (0, 1) and p.default is not _empty) or None
    kwonly = [p.name for p in ps if p.kind == 3]
    return namedtuple("FullArgSpec", "args varargs varkw defaults kwonlyargs kwonlydefaults annotations")(
        args, pick(2), pick(4), defaults, kwonly, {p.name: p.default for p in ps if p.kind == 3 and p.default is not _empty} or None, dict(getattr(func, "__annotations__", {})))


def isfunction(obj):
    return isinstance(obj, _types.FunctionType)


def ismethod(obj):
    return isinstance(obj, _types.MethodType)


def isclass(obj):
    return isinstance(obj, type)


def ismodule(obj):
    return isinstance(obj, _types.ModuleType)


def isbuiltin(obj):
    return isinstance(obj, _types.BuiltinFunctionType)


def isgenerator(obj):
    return isinstance(obj, _types.GeneratorType)


GEN_CREATED, GEN_RUNNING, GEN_SUSPENDED, GEN_CLOSED = "GEN_CREATED", "GEN_RUNNING", "GEN_SUSPENDED", "GEN_CLOSED"


def getgeneratorstate(generator):
    if generator.gi_running:
        return GEN_RUNNING
    if generator.gi_suspended:
        return GEN_SUSPENDED
    return GEN_CLOSED if generator.gi_frame is None else GEN_CREATED


def isgeneratorfunction(obj):
    return isfunction(obj) and bool(obj.__code__.co_flags & 32)


def iscoroutinefunction(obj):
    return False


def isroutine(obj):
    return isfunction(obj) or ismethod(obj) or isbuiltin(obj)


def isabstract(obj):
    return isinstance(obj, type) and bool(getattr(obj, "__abstractmethods__", ()))


def isdatadescriptor(obj):
    return hasattr(type(obj), "__set__") or hasattr(type(obj), "__delete__")


def getmembers(obj, predicate=None):
    out = []
    for name in sorted(dir(obj)):
        try:
            value = getattr(obj, name)
        except AttributeError:
            continue
        if predicate is None or predicate(value):
            out.append((name, value))
    return out


def getmro(cls):
    return cls.__mro__


def getmodule(obj):
    import sys
    return sys.modules.get(getattr(obj, "__module__", None))


def cleandoc(doc):
    lines = doc.expandtabs().split("\n")
    indent = min((len(l) - len(l.lstrip()) for l in lines[1:] if l.strip()), default=0)
    lines = [lines[0].lstrip()] + [l[indent:] for l in lines[1:]]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)


def getdoc(obj):
    doc = getattr(obj, "__doc__", None)
    if doc is None and isinstance(obj, type):
        doc = next((base.__doc__ for base in obj.__mro__[1:-1] if base.__doc__ is not None), None)
    return cleandoc(doc) if isinstance(doc, str) else None


def getattr_static(obj, attr, default=_empty):
    """An attribute without asking descriptors."""
    kind = obj if isinstance(obj, type) else type(obj)
    own = {} if obj is kind else getattr(obj, "__dict__", {})
    for names in [own] + [base.__dict__ for base in kind.__mro__]:
        if attr in names:
            return names[attr]
    if default is not _empty:
        return default
    raise AttributeError(attr)


def unwrap(func, *, stop=None):
    while hasattr(func, "__wrapped__"):
        func = func.__wrapped__
    return func


class _Frame:
    """A call, as far as it is known: where it is, and its module's names."""

    def __init__(self, points):
        from types import SimpleNamespace
        file, self.f_lineno, name, self.f_globals, self._source = points[0]
        self.f_code = SimpleNamespace(co_name=name, co_filename=file)
        self.f_back = _Frame(points[1:]) if len(points) > 1 else None


FrameInfo = _namedtuple("FrameInfo", "frame filename lineno function code_context index")


def _frame(depth):
    from _frames import frames
    points = [point for point in frames() if not point[0].startswith("<")][depth:]
    if not points:
        raise ValueError("call stack is not deep enough")
    return _Frame(points)


def currentframe():
    return _frame(0)


def stack(context=1):
    frame, found = _frame(0), []
    while frame is not None:
        found.append(FrameInfo(frame, frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, [frame._source + "\n"], 0))
        frame = frame.f_back
    return found


def getfile(obj):
    if isinstance(obj, type):
        import sys
        return getattr(sys.modules.get(obj.__module__), "__file__", None) or _no_source()
    code = getattr(unwrap(getattr(obj, "__func__", obj)), "__code__", None)
    if not ismodule(obj) and code is None:
        raise TypeError(f"module, class, method, function, traceback, frame, or code object was expected, got {type(obj).__name__}")
    return obj.__file__ if ismodule(obj) else code.co_filename


def _no_source():
    raise OSError("could not get source code")


def getsourcelines(obj):
    try:
        with open(getfile(obj)) as f:
            lines = f.read().splitlines(True)
    except FileNotFoundError:
        _no_source()
    if ismodule(obj):
        return lines, 0
    if isinstance(obj, type):
        heads = [i for i, line in enumerate(lines) if line.split("(")[0].split(":")[0].split() == ["class", obj.__name__]]
        first = heads[0] if heads else _no_source()
    else:
        first = unwrap(getattr(obj, "__func__", obj)).__code__.co_firstlineno - 1
    margin = len(lines[first]) - len(lines[first].lstrip())
    end, last, depth, headed = first, first, 0, False
    while end < len(lines):
        line = lines[end].strip()
        indent = len(lines[end]) - len(lines[end].lstrip())
        if headed and line and not depth and indent <= margin and not line.startswith("#"):
            break
        depth += sum([c in "([{" for c in line]) - sum([c in ")]}" for c in line])
        headed = headed or not depth and not line.startswith(("@", "#"))
        if line and (indent > margin or not headed or end == first or depth or last == end - 1 and indent == margin and line[0] != "#"):
            last = end
        end += 1
    return lines[first:last + 1], first + 1


def getsource(obj):
    return "".join(getsourcelines(obj)[0])


getsourcefile = getfile
