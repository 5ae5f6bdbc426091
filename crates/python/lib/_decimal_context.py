"""How decimal numbers are computed: precision, rounding, and what is signalled."""

ROUND_UP, ROUND_DOWN, ROUND_CEILING, ROUND_FLOOR = "ROUND_UP", "ROUND_DOWN", "ROUND_CEILING", "ROUND_FLOOR"
ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_05UP = "ROUND_HALF_UP", "ROUND_HALF_DOWN", "ROUND_HALF_EVEN", "ROUND_05UP"


class DecimalException(ArithmeticError):
    pass


class InvalidOperation(DecimalException):
    pass


class DivisionByZero(DecimalException, ZeroDivisionError):
    pass


class ConversionSyntax(InvalidOperation):
    pass


class DivisionUndefined(InvalidOperation, ZeroDivisionError):
    pass


class Inexact(DecimalException):
    pass


class Rounded(DecimalException):
    pass


class Clamped(DecimalException):
    pass


class Subnormal(DecimalException):
    pass


class Overflow(Inexact, Rounded):
    pass


class Underflow(Inexact, Rounded, Subnormal):
    pass


class FloatOperation(DecimalException, TypeError):
    pass


HAVE_THREADS, HAVE_CONTEXTVAR = True, True
MAX_PREC, MAX_EMAX, MIN_EMIN, MIN_ETINY = 999999999999999999, 999999999999999999, -999999999999999999, -1999999999999999997
_SIGNALS = (InvalidOperation, Clamped, DivisionByZero, FloatOperation, Inexact, Overflow, Rounded, Subnormal, Underflow)


def _set(signals):
    return {s: bool(signals[s] if isinstance(signals, dict) else s in signals) for s in _SIGNALS}


class Context:
    def __init__(self, prec=None, rounding=None, Emin=None, Emax=None, capitals=None, clamp=None, flags=None, traps=None):
        base = DefaultContext if "DefaultContext" in globals() else None
        given = (("prec", prec, 28), ("rounding", rounding, ROUND_HALF_EVEN), ("Emin", Emin, -999999), ("Emax", Emax, 999999),
                 ("capitals", capitals, 1), ("clamp", clamp, 0))
        for name, value, usual in given:
            setattr(self, name, value if value is not None else getattr(base, name, usual))
        self.flags = _set(flags or ())
        self.traps = _set(traps if traps is not None else base.traps if base else (InvalidOperation, DivisionByZero, Overflow))

    def __repr__(self):
        shown = {name: ", ".join([s.__name__ for s in _SIGNALS if getattr(self, name)[s]]) for name in ("flags", "traps")}
        return (f"Context(prec={self.prec}, rounding={self.rounding}, Emin={self.Emin}, Emax={self.Emax}, capitals={self.capitals}, "
                f"clamp={self.clamp}, flags=[{shown['flags']}], traps=[{shown['traps']}])")

    def copy(self):
        return Context(self.prec, self.rounding, self.Emin, self.Emax, self.capitals, self.clamp, self.flags, self.traps)

    __copy__ = copy

    def clear_flags(self):
        self.flags = _set(())

    def clear_traps(self):
        self.traps = _set(())

    def Etiny(self):
        return self.Emin - self.prec + 1

    def Etop(self):
        return self.Emax - self.prec + 1

    def _within(self, work):
        _contexts.append(self)
        try:
            return work()
        finally:
            _contexts.pop()

    def create_decimal(self, value="0"):
        from decimal import Decimal
        return self._within(lambda: +Decimal(value))

    create_decimal_from_float = create_decimal

    def __getattr__(self, name):
        """`context.divide(a, b)` and the others: what numbers do, here."""
        from decimal import Decimal
        name = _OPERATIONS.get(name, name)
        if not hasattr(Decimal, name) or name.startswith("_") and name not in _OPERATIONS.values():
            raise AttributeError(f"'decimal.Context' object has no attribute '{name}'")
        return lambda first, *rest: self._within(lambda: getattr(Decimal(first), name)(*rest))


_OPERATIONS = {"add": "__add__", "subtract": "__sub__", "multiply": "__mul__", "divide": "__truediv__", "divide_int": "__floordiv__",
               "remainder": "__mod__", "power": "__pow__", "minus": "__neg__", "plus": "__pos__", "abs": "__abs__", "divmod": "__divmod__",
               "to_sci_string": "__str__"}


def _signal(kind, result, named=None):
    """What an operation gives where it is trapped by nobody: the flag stays up."""
    context = getcontext()
    context.flags[kind] = True
    if context.traps[kind]:
        raise kind([named or kind])
    return result


DefaultContext = Context()
BasicContext = Context(9, ROUND_HALF_UP, traps=[InvalidOperation, DivisionByZero, Overflow, Clamped, Underflow])
ExtendedContext = Context(9, ROUND_HALF_EVEN, traps=[])
_contexts = [Context()]


def getcontext():
    return _contexts[-1]


def setcontext(context):
    known = context in (DefaultContext, BasicContext, ExtendedContext)
    _contexts[-1] = context.copy() if known else context


class localcontext:
    def __init__(self, ctx=None, **changed):
        self._new = (ctx or getcontext()).copy()
        for name, value in changed.items():
            setattr(self._new, name, value)

    def __enter__(self):
        _contexts.append(self._new)
        return self._new

    def __exit__(self, *exc):
        _contexts.pop()

for _class in (Context, DecimalException, ConversionSyntax, DivisionUndefined, *_SIGNALS):
    _class.__module__ = "decimal"
