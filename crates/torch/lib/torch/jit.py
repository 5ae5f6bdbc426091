"""torch.jit: scripts run as they are, so what marks functions for the compiler of TorchScript changes nothing."""

import _missing


def is_scripting():
    return False


def is_tracing():
    return False


def ignore(fn=None, drop=False, **kwargs):
    return fn if callable(fn) else (lambda f: f)


def unused(fn):
    return fn


export = interface = script_if_tracing = _script_if_tracing = _overload = _overload_method = script_method = unused


def script(obj=None, **kwargs):
    return obj


def trace(func, example_inputs=None, **kwargs):
    return func


def save(m, f, **kwargs):
    from torch import serialization
    serialization.save(m, f)


def load(f, map_location=None, **kwargs):
    from torch import serialization
    return serialization.load(f, weights_only=False)


def annotate(the_type, the_value):
    return the_value


def freeze(mod, *args, **kwargs):
    return mod


optimize_for_inference = freeze


def __getattr__(name):
    if name == "ScriptModule":
        from torch.nn import Module
        return Module
    return _absent(name)


class _Final:
    def __getitem__(self, item):
        return item


Final = _Final()


_absent = _missing.names("torch.jit", globals())
