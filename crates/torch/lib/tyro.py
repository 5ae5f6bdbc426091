"""Command lines from dataclasses and functions: `tyro.cli(Args)`."""

import argparse
import dataclasses
import enum
import inspect
import typing


def _plain(kind):
    """A type without `Optional`, and whether it was one."""
    options = [a for a in typing.get_args(kind) if a is not type(None)]
    if typing.get_args(kind) and len(options) < len(typing.get_args(kind)):
        return options[0], True
    return kind, False


def _read(kind, optional):
    def convert(text):
        if optional and text == "None":
            return None
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return kind[text]
        if kind is bool:
            if text not in ("True", "False"):
                raise argparse.ArgumentTypeError(f"invalid choice {text!r}, expected True or False")
            return text == "True"
        return kind(text) if kind in (int, float, str) else text
    convert.__name__ = getattr(kind, "__name__", str(kind))
    return convert


def _add(parser, name, kind, default, given, text):
    flag, (kind, optional) = "--" + name.replace("_", "-"), _plain(kind)
    flags = [flag] if flag == "--" + name else [flag, "--" + name]
    choices = list(typing.get_args(kind)) if typing.get_origin(kind) is typing.Literal else None
    if kind is bool and given and not optional:
        parser.add_argument(*flags, dest=name, action="store_true", default=default, help=text)
        opposite = [f.replace("--", "--no-", 1) if "_" not in f else "--no_" + name for f in flags]
        parser.add_argument(*opposite, dest=name, action="store_false")
    elif typing.get_origin(kind) in (list, tuple):
        item = typing.get_args(kind)[0] if typing.get_args(kind) else str
        parser.add_argument(*flags, dest=name, nargs="*", type=_read(item, False), default=default, required=not given, help=text)
    else:
        convert = type(choices[0]) if choices else _read(kind, optional)
        parser.add_argument(*flags, dest=name, type=convert, choices=choices, default=default, required=not given, help=text)


def cli(f, *, prog=None, description=None, args=None, default=None):
    """Calls a class or a function with what the command line says."""
    parser = argparse.ArgumentParser(prog=prog, description=description or (f.__doc__ or "").strip())
    names, lists = [], []
    if dataclasses.is_dataclass(f):
        hints = typing.get_type_hints(f)
        for field in dataclasses.fields(f):
            if default is not None:
                value, given = getattr(default, field.name), True
            elif field.default is not dataclasses.MISSING:
                value, given = field.default, True
            elif field.default_factory is not dataclasses.MISSING:
                value, given = field.default_factory(), True
            else:
                value, given = None, False
            kind = hints.get(field.name, str)
            if dataclasses.is_dataclass(kind):
                raise NotImplementedError(f"tyro: the field {field.name} is a dataclass itself; write its fields out")
            names.append(field.name)
            lists.append(typing.get_origin(_plain(kind)[0]))
            _add(parser, field.name, kind, value, given, None)
    else:
        hints = typing.get_type_hints(f)
        for name, parameter in inspect.signature(f).parameters.items():
            given = parameter.default is not inspect.Parameter.empty
            names.append(name)
            lists.append(typing.get_origin(_plain(hints.get(name, str))[0]))
            _add(parser, name, hints.get(name, str), parameter.default if given else None, given, None)
    found = parser.parse_args(args)
    values = {n: getattr(found, n) for n in names}
    for name, kind in zip(names, lists):
        if kind is tuple and isinstance(values[name], list):
            values[name] = tuple(values[name])
    return f(**values)
