"""Command line arguments, with help and errors as CPython writes them."""

# Long: one module, as in CPython.
import os as _os
import sys as _sys
from textwrap import TextWrapper as _TextWrapper

SUPPRESS = "==SUPPRESS=="
OPTIONAL = "?"
ZERO_OR_MORE = "*"
ONE_OR_MORE = "+"
PARSER = "A..."
REMAINDER = "..."
_UNRECOGNIZED = "_unrecognized_args"


class ArgumentError(Exception):
    def __init__(self, argument, message):
        self.argument_name = _argument_name(argument)
        self.message = message

    def __str__(self):
        return self.message if self.argument_name is None else f"argument {self.argument_name}: {self.message}"


class ArgumentTypeError(Exception):
    pass


def _argument_name(argument):
    if argument is None:
        return None
    if argument.option_strings:
        return "/".join(argument.option_strings)
    if argument.metavar not in (None, SUPPRESS):
        return argument.metavar if isinstance(argument.metavar, str) else "/".join(argument.metavar)
    if argument.dest not in (None, SUPPRESS):
        return argument.dest
    if argument.choices:
        return "{" + ",".join(map(str, argument.choices)) + "}"
    return None


class Namespace:
    def __init__(self, **kwargs):
        for name in kwargs:
            setattr(self, name, kwargs[name])

    def __repr__(self):
        parts, star = [], {}
        for name, value in self.__dict__.items():
            if name.isidentifier():
                parts.append(f"{name}={value!r}")
            else:
                star[name] = value
        if star:
            parts.append(f"**{star!r}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def __eq__(self, other):
        if not isinstance(other, Namespace):
            return NotImplemented
        return vars(self) == vars(other)

    def __contains__(self, key):
        return key in self.__dict__


class HelpFormatter:
    def __init__(self, prog, indent_increment=2, max_help_position=24, width=None):
        if width is None:
            width = int(_os.environ.get("COLUMNS") or 80) - 2
        self._prog = prog
        self._indent_increment = indent_increment
        self._max_help_position = min(max_help_position, max(width - 20, indent_increment * 2))
        self._width = width
        self._indent = 0
        self._action_max_length = 0
        self._sections = []

    # What the parser adds, as functions that make text when the widest invocation is known.
    def add_text(self, text):
        if text is not SUPPRESS and text is not None:
            self._sections.append(lambda: self._format_text(text))

    def add_usage(self, usage, actions, groups, prefix=None):
        if usage is not SUPPRESS:
            self._sections.append(lambda: self._format_usage(usage, actions, groups, prefix))

    def add_group(self, heading, description, actions):
        shown = [a for a in actions if a.help is not SUPPRESS]
        for action in shown:
            for a, indent in self._nested(action):
                self._action_max_length = max(self._action_max_length, len(self._format_action_invocation(a)) + indent + self._indent_increment)

        def make():
            body = ""
            self._indent = self._indent_increment
            if description not in (SUPPRESS, None):
                body += self._format_text(description)
            body += "".join(self._format_action(a) for a in shown)
            self._indent = 0
            if not body:
                return ""
            head = f"{heading}:\n" if heading is not SUPPRESS and heading is not None else ""
            return f"\n{head}{body}\n"
        self._sections.append(make)

    def _nested(self, action):
        yield action, 0
        if hasattr(action, "_get_subactions"):
            for sub in action._get_subactions():
                if sub.help is not SUPPRESS:
                    yield sub, self._indent_increment

    def format_help(self):
        text = "".join(make() for make in self._sections)
        while "\n\n\n" in text:
            text = text.replace("\n\n\n", "\n\n")
        text = text.strip("\n")
        return text + "\n" if text else ""

    def _format_text(self, text):
        if "%(prog)" in text:
            text = text % dict(prog=self._prog)
        return self._fill_text(text, max(self._width - self._indent, 11), " " * self._indent) + "\n\n"

    def _fill_text(self, text, width, indent):
        return _TextWrapper(width, initial_indent=indent, subsequent_indent=indent).fill(" ".join(text.split()))

    def _split_lines(self, text, width):
        return _TextWrapper(width).wrap(" ".join(text.split()))

    def _format_usage(self, usage, actions, groups, prefix):
        prefix = "usage: " if prefix is None else prefix
        if usage is not None:
            return f"{prefix}{usage % dict(prog=self._prog)}\n\n"
        optionals = [a for a in actions if a.option_strings]
        positionals = [a for a in actions if not a.option_strings]
        opt_parts = self._usage_parts(optionals, groups)
        pos_parts = self._usage_parts(positionals, groups)
        usage = " ".join([self._prog] + opt_parts + pos_parts)
        room = self._width - self._indent
        if len(prefix) + len(usage) > room:
            usage = self._wrap_usage(prefix, opt_parts, pos_parts, room)
        return f"{prefix}{usage}\n\n"

    def _wrap_usage(self, prefix, opt_parts, pos_parts, room):
        prog = self._prog

        def lines(parts, indent, start=None):
            out, line = [], []
            length = (len(prefix) if start is not None else len(indent)) - 1
            length = start if start is not None else len(indent) - 1
            for part in parts:
                if length + 1 + len(part) > room and line:
                    out.append(indent + " ".join(line))
                    line, length = [], len(indent) - 1
                line.append(part)
                length += len(part) + 1
            if line:
                out.append(indent + " ".join(line))
            if start is not None and out:
                out[0] = out[0][len(indent):]
            return out

        if len(prefix) + len(prog) <= 0.75 * room:
            indent = " " * (len(prefix) + len(prog) + 1)
            if opt_parts:
                rows = lines([prog] + opt_parts, indent, len(prefix) - 1) + lines(pos_parts, indent)
            elif pos_parts:
                rows = lines([prog] + pos_parts, indent, len(prefix) - 1)
            else:
                rows = [prog]
        else:
            indent = " " * len(prefix)
            rows = lines(opt_parts + pos_parts, indent)
            if len(rows) > 1:
                rows = lines(opt_parts, indent) + lines(pos_parts, indent)
            rows = [prog] + rows
        return "\n".join(rows)

    def _usage_parts(self, actions, groups):
        parts = []
        skip = 0
        for i, action in enumerate(actions):
            if skip:
                skip -= 1
                continue
            group = None
            for g in groups:
                members = g._group_actions
                if members and members[0] is action and actions[i:i + len(members)] == members:
                    group = [a for a in members if a.help is not SUPPRESS]
                    skip = len(members) - 1
                    required = g.required
                    break
            if group is not None:
                texts = [self._usage_part(a, True) for a in group]
                if texts:
                    joined = " | ".join(texts)
                    if required:
                        parts.append(f"({joined})" if len(texts) > 1 else joined)
                    else:
                        parts.append(f"[{joined}]")
            elif action.help is not SUPPRESS:
                parts.append(self._usage_part(action, False))
        # Lines break between words, as CPython's pattern of parts does for positional arguments.
        return parts

    def _usage_part(self, action, grouped):
        if not action.option_strings:
            part = self._format_args(action, self._default_metavar_positional(action))
            return part[1:-1] if grouped and part[0] == "[" and part[-1] == "]" else part
        option = action.option_strings[0]
        if action.nargs == 0:
            part = action.format_usage()
        else:
            part = f"{option} {self._format_args(action, action.dest.upper())}"
        return part if action.required or grouped else f"[{part}]"

    def _default_metavar_positional(self, action):
        return action.dest

    def _get_default_metavar_for_optional(self, action):
        return action.dest.upper()

    def _get_default_metavar_for_positional(self, action):
        return action.dest

    def _metavars(self, action, default, count):
        if action.metavar is not None:
            result = action.metavar
        elif action.choices is not None:
            result = "{" + ",".join(map(str, action.choices)) + "}"
        else:
            result = default
        return result if isinstance(result, tuple) else (result,) * count

    def _format_args(self, action, default):
        nargs = action.nargs
        if nargs is None:
            return "%s" % self._metavars(action, default, 1)
        if nargs == OPTIONAL:
            return "[%s]" % self._metavars(action, default, 1)
        if nargs == ZERO_OR_MORE:
            metavar = self._metavars(action, default, 1)
            return "[%s [%s ...]]" % metavar if len(metavar) == 2 else "[%s ...]" % metavar
        if nargs == ONE_OR_MORE:
            return "%s [%s ...]" % self._metavars(action, default, 2)
        if nargs == REMAINDER:
            return "..."
        if nargs == PARSER:
            return "%s ..." % self._metavars(action, default, 1)
        if nargs == SUPPRESS:
            return ""
        return " ".join(self._metavars(action, default, nargs))

    def _format_action_invocation(self, action):
        if not action.option_strings:
            return " ".join(self._metavars(action, self._get_default_metavar_for_positional(action), 1))
        if action.nargs == 0:
            return ", ".join(action.option_strings)
        args = self._format_args(action, self._get_default_metavar_for_optional(action))
        return ", ".join(f"{option} {args}" for option in action.option_strings)

    def _format_action(self, action):
        position = min(self._action_max_length + 2, self._max_help_position)
        width = max(self._width - position, 11)
        room = position - self._indent - 2
        header = self._format_action_invocation(action)
        indent = " " * self._indent
        help_text = action.help
        if not help_text:
            text, first = f"{indent}{header}\n", None
        elif len(header) <= room:
            text, first = f"{indent}{header:<{room}}  ", 0
        else:
            text, first = f"{indent}{header}\n", position
        if help_text and help_text.strip():
            lines = self._split_lines(self._expand_help(action), width)
            if lines:
                text += " " * first + lines[0] + "\n"
                for line in lines[1:]:
                    text += " " * position + line + "\n"
        elif not text.endswith("\n"):
            text += "\n"
        if hasattr(action, "_get_subactions"):
            self._indent += self._indent_increment
            for sub in action._get_subactions():
                if sub.help is not SUPPRESS:
                    text += self._format_action(sub)
            self._indent -= self._indent_increment
        return text

    def _expand_help(self, action):
        params = dict(vars(action), prog=self._prog)
        for name in list(params):
            if params[name] is SUPPRESS:
                del params[name]
            elif hasattr(params[name], "__name__"):
                params[name] = params[name].__name__
        if params.get("choices") is not None:
            params["choices"] = ", ".join(map(str, params["choices"]))
        return self._get_help_string(action) % params

    def _get_help_string(self, action):
        return action.help


class RawDescriptionHelpFormatter(HelpFormatter):
    def _fill_text(self, text, width, indent):
        return "".join(indent + line for line in text.splitlines(keepends=True))


class RawTextHelpFormatter(RawDescriptionHelpFormatter):
    def _split_lines(self, text, width):
        return text.splitlines()


class ArgumentDefaultsHelpFormatter(HelpFormatter):
    def _get_help_string(self, action):
        text = action.help or ""
        if "%(default)" not in text and action.default is not SUPPRESS:
            if action.option_strings or action.nargs in (OPTIONAL, ZERO_OR_MORE):
                text += " (default: %(default)s)"
        return text


class MetavarTypeHelpFormatter(HelpFormatter):
    def _get_default_metavar_for_optional(self, action):
        return action.type.__name__

    def _get_default_metavar_for_positional(self, action):
        return action.type.__name__


class Action:
    def __init__(self, option_strings, dest, nargs=None, const=None, default=None, type=None, choices=None, required=False, help=None, metavar=None):
        self.option_strings = option_strings
        self.dest = dest
        self.nargs = nargs
        self.const = const
        self.default = default
        self.type = type
        self.choices = choices
        self.required = required
        self.help = help
        self.metavar = metavar

    def format_usage(self):
        return self.option_strings[0]

    def __repr__(self):
        names = ("option_strings", "dest", "nargs", "const", "default", "type", "choices", "required", "help", "metavar")
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in names)})"

    def __call__(self, parser, namespace, values, option_string=None):
        raise NotImplementedError(".__call__() not defined")


class BooleanOptionalAction(Action):
    def __init__(self, option_strings, dest, default=None, type=None, choices=None, required=False, help=None, metavar=None):
        both = []
        for option in option_strings:
            both.append(option)
            if option.startswith("--"):
                both.append("--no-" + option[2:])
        super().__init__(both, dest, nargs=0, default=default, type=type, choices=choices, required=required, help=help, metavar=metavar)

    def __call__(self, parser, namespace, values, option_string=None):
        if option_string in self.option_strings:
            setattr(namespace, self.dest, not option_string.startswith("--no-"))

    def format_usage(self):
        return " | ".join(self.option_strings)


class _StoreAction(Action):
    def __init__(self, option_strings, dest, nargs=None, const=None, default=None, type=None, choices=None, required=False, help=None, metavar=None):
        if nargs == 0:
            raise ValueError("nargs for store actions must be != 0; if you have nothing to store, actions such as store true or store const may be more appropriate")
        if const is not None and nargs != OPTIONAL:
            raise ValueError(f"nargs must be {OPTIONAL!r} to supply const")
        super().__init__(option_strings, dest, nargs, const, default, type, choices, required, help, metavar)

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, values)


class _StoreConstAction(Action):
    def __init__(self, option_strings, dest, const=None, default=None, required=False, help=None, metavar=None):
        super().__init__(option_strings, dest, nargs=0, const=const, default=default, required=required, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, self.const)


class _StoreTrueAction(_StoreConstAction):
    def __init__(self, option_strings, dest, default=False, required=False, help=None):
        super().__init__(option_strings, dest, True, default, required, help)


class _StoreFalseAction(_StoreConstAction):
    def __init__(self, option_strings, dest, default=True, required=False, help=None):
        super().__init__(option_strings, dest, False, default, required, help)


class _AppendAction(Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, list(getattr(namespace, self.dest, None) or []) + [values])


class _AppendConstAction(_StoreConstAction):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, list(getattr(namespace, self.dest, None) or []) + [self.const])


class _ExtendAction(_StoreAction):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, list(getattr(namespace, self.dest, None) or []) + list(values))


class _CountAction(Action):
    def __init__(self, option_strings, dest, default=None, required=False, help=None):
        super().__init__(option_strings, dest, nargs=0, default=default, required=required, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, (getattr(namespace, self.dest, None) or 0) + 1)


class _HelpAction(Action):
    def __init__(self, option_strings, dest=SUPPRESS, default=SUPPRESS, help=None):
        super().__init__(option_strings, dest, nargs=0, default=default, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        parser.print_help()
        parser.exit()


class _VersionAction(Action):
    def __init__(self, option_strings, version=None, dest=SUPPRESS, default=SUPPRESS, help="show program's version number and exit"):
        super().__init__(option_strings, dest, nargs=0, default=default, help=help)
        self.version = version

    def __call__(self, parser, namespace, values, option_string=None):
        formatter = parser._get_formatter()
        formatter.add_text(parser.version if self.version is None else self.version)
        parser._print_message(formatter.format_help(), _sys.stdout)
        parser.exit()


class _ChoicesPseudoAction(Action):
    def __init__(self, name, aliases, help):
        metavar = name + (f" ({', '.join(aliases)})" if aliases else "")
        super().__init__([], name, help=help, metavar=metavar)


class _SubParsersAction(Action):
    def __init__(self, option_strings, prog, parser_class, dest=SUPPRESS, required=False, help=None, metavar=None):
        self._prog_prefix = prog
        self._parser_class = parser_class
        self._name_parser_map = {}
        self._choices_actions = []
        super().__init__(option_strings, dest, nargs=PARSER, choices=self._name_parser_map, required=required, help=help, metavar=metavar)

    def add_parser(self, name, *, aliases=(), **kwargs):
        if kwargs.get("prog") is None:
            kwargs["prog"] = f"{self._prog_prefix} {name}"
        if name in self._name_parser_map:
            raise ArgumentError(self, f"conflicting subparser: {name}")
        if "help" in kwargs:
            self._choices_actions.append(_ChoicesPseudoAction(name, aliases, kwargs.pop("help")))
        parser = self._parser_class(**kwargs)
        for key in (name, *aliases):
            self._name_parser_map[key] = parser
        return parser

    def _get_subactions(self):
        return self._choices_actions

    def __call__(self, parser, namespace, values, option_string=None):
        name, rest = values[0], values[1:]
        if self.dest is not SUPPRESS:
            setattr(namespace, self.dest, name)
        if name not in self._name_parser_map:
            choices = ", ".join(self._name_parser_map)
            raise ArgumentError(self, f"unknown parser {name!r} (choices: {choices})")
        sub, extra = self._name_parser_map[name].parse_known_args(rest, None)
        for key, value in vars(sub).items():
            setattr(namespace, key, value)
        if extra:
            vars(namespace).setdefault(_UNRECOGNIZED, [])
            getattr(namespace, _UNRECOGNIZED).extend(extra)


class FileType:
    def __init__(self, mode="r", bufsize=-1, encoding=None, errors=None):
        self._mode, self._bufsize, self._encoding, self._errors = mode, bufsize, encoding, errors

    def __repr__(self):
        shown = [repr(v) for v in (self._mode, self._bufsize) if v != -1]
        shown += [f"{name}={v!r}" for name, v in (("encoding", self._encoding), ("errors", self._errors)) if v is not None]
        return f"FileType({', '.join(shown)})"

    def __call__(self, string):
        if string == "-":
            stream = _sys.stdin if "r" in self._mode else _sys.stdout
            return stream.buffer if "b" in self._mode else stream
        try:
            return open(string, self._mode, self._bufsize, self._encoding, self._errors)
        except OSError as e:
            raise ArgumentTypeError(f"can't open '{string}': {e}")


_ACTIONS = {
    None: _StoreAction, "store": _StoreAction, "store_const": _StoreConstAction, "store_true": _StoreTrueAction,
    "store_false": _StoreFalseAction, "append": _AppendAction, "append_const": _AppendConstAction, "count": _CountAction,
    "help": _HelpAction, "version": _VersionAction, "parsers": _SubParsersAction, "extend": _ExtendAction,
}


class _Container:
    def __init__(self, description, prefix_chars, argument_default, conflict_handler):
        self.description = description
        self.prefix_chars = prefix_chars
        self.argument_default = argument_default
        self.conflict_handler = conflict_handler
        self._actions = []
        self._option_string_actions = {}
        self._action_groups = []
        self._mutually_exclusive_groups = []
        self._defaults = {}
        self._registry = {}

    def register(self, registry_name, value, object):
        self._registry[registry_name, value] = object

    def set_defaults(self, **kwargs):
        self._defaults.update(kwargs)
        for action in self._actions:
            if action.dest in kwargs:
                action.default = kwargs[action.dest]

    def get_default(self, dest):
        for action in self._actions:
            if action.dest == dest and action.default is not None:
                return action.default
        return self._defaults.get(dest)

    def add_argument(self, *args, **kwargs):
        chars = self.prefix_chars
        if not args or len(args) == 1 and args[0][0] not in chars:
            if args and "dest" in kwargs:
                raise ValueError("dest supplied twice for positional argument")
            kwargs = self._positional_kwargs(*args, **kwargs)
        else:
            kwargs = self._optional_kwargs(*args, **kwargs)
        if "default" not in kwargs:
            dest = kwargs["dest"]
            if dest in self._defaults:
                kwargs["default"] = self._defaults[dest]
            elif self.argument_default is not None:
                kwargs["default"] = self.argument_default
        name = kwargs.pop("action", None)
        action_class = _ACTIONS.get(name, name) if name is None or isinstance(name, str) else name
        if not callable(action_class):
            raise ValueError(f'unknown action "{action_class}"')
        action = action_class(**kwargs)
        if not callable(action.type) and action.type is not None:
            raise ValueError(f"{action.type!r} is not callable")
        if isinstance(action.metavar, tuple) and isinstance(action.nargs, int) and len(action.metavar) != action.nargs:
            raise ValueError("length of metavar tuple does not match nargs")
        return self._add_action(action)

    def add_argument_group(self, *args, **kwargs):
        group = _ArgumentGroup(self, *args, **kwargs)
        self._action_groups.append(group)
        return group

    def add_mutually_exclusive_group(self, **kwargs):
        group = _MutuallyExclusiveGroup(self, **kwargs)
        self._mutually_exclusive_groups.append(group)
        return group

    def _positional_kwargs(self, dest=None, **kwargs):
        if dest is None:
            dest = kwargs.pop("dest", None)
        if "required" in kwargs:
            raise TypeError("'required' is an invalid argument for positionals")
        nargs = kwargs.get("nargs")
        kwargs["required"] = nargs not in (OPTIONAL, ZERO_OR_MORE, REMAINDER, SUPPRESS) or nargs == ZERO_OR_MORE and "default" not in kwargs
        return dict(kwargs, dest=dest, option_strings=[])

    def _optional_kwargs(self, *args, **kwargs):
        long = []
        for option in args:
            if option[0] not in self.prefix_chars:
                raise ValueError(f"invalid option string {option!r}: must start with a character {self.prefix_chars!r}")
            if len(option) > 1 and option[1] in self.prefix_chars:
                long.append(option)
        dest = kwargs.pop("dest", None)
        if dest is None:
            dest = (long[0] if long else args[0]).lstrip(self.prefix_chars)
            if not dest:
                raise ValueError(f"dest= is required for options like {args[0]!r}")
            dest = dest.replace("-", "_")
        return dict(kwargs, dest=dest, option_strings=list(args))

    def _add_action(self, action):
        conflicts = [(s, self._option_string_actions[s]) for s in action.option_strings if s in self._option_string_actions]
        if conflicts:
            if self.conflict_handler == "resolve":
                for s, other in conflicts:
                    other.option_strings.remove(s)
                    self._option_string_actions.pop(s, None)
                    if not other.option_strings:
                        self._remove_action(other)
            else:
                names = ", ".join(s for s, _ in conflicts)
                raise ArgumentError(action, f"conflicting option string{'s' if len(conflicts) > 1 else ''}: {names}")
        self._actions.append(action)
        action.container = self
        for option in action.option_strings:
            self._option_string_actions[option] = action
        return action

    def _remove_action(self, action):
        self._actions.remove(action)


class _ArgumentGroup(_Container):
    def __init__(self, container, title=None, description=None, **kwargs):
        super().__init__(description, kwargs.get("prefix_chars", container.prefix_chars), kwargs.get("argument_default", container.argument_default), container.conflict_handler)
        self.title = title
        self._group_actions = []
        self._container = container
        self._actions = container._actions
        self._option_string_actions = container._option_string_actions
        self._defaults = container._defaults
        self._mutually_exclusive_groups = container._mutually_exclusive_groups

    def _add_action(self, action):
        action = super()._add_action(action)
        self._group_actions.append(action)
        return action


class _MutuallyExclusiveGroup(_ArgumentGroup):
    def __init__(self, container, required=False):
        super().__init__(container)
        self.required = required

    def _add_action(self, action):
        if action.required:
            raise ValueError("mutually exclusive arguments must be optional")
        action = self._container._add_action(action)
        self._group_actions.append(action)
        return action


class ArgumentParser(_Container):
    def __init__(self, prog=None, usage=None, description=None, epilog=None, parents=(), formatter_class=HelpFormatter, prefix_chars="-",
                 fromfile_prefix_chars=None, argument_default=None, conflict_handler="error", add_help=True, allow_abbrev=True, exit_on_error=True):
        super().__init__(description, prefix_chars, argument_default, conflict_handler)
        self.prog = _os.path.basename(_sys.argv[0]) if prog is None else prog
        self.usage = usage
        self.epilog = epilog
        self.formatter_class = formatter_class
        self.fromfile_prefix_chars = fromfile_prefix_chars
        self.add_help = add_help
        self.allow_abbrev = allow_abbrev
        self.exit_on_error = exit_on_error
        self._positionals = self.add_argument_group("positional arguments")
        self._optionals = self.add_argument_group("options")
        self._subparsers = None
        if add_help:
            dash = "-" if "-" in prefix_chars else prefix_chars[0]
            self.add_argument(dash + "h", dash * 2 + "help", action="help", default=SUPPRESS, help="show this help message and exit")
        for parent in parents:
            for group in parent._action_groups:
                target = self._positionals if group.title == "positional arguments" else self._optionals if group.title == "options" else self.add_argument_group(group.title, group.description)
                for action in group._group_actions:
                    target._add_action(action)
            self._defaults.update(parent._defaults)

    def __repr__(self):
        names = ("prog", "usage", "description", "formatter_class", "conflict_handler", "add_help")
        return f"{type(self).__name__}({', '.join([f'{name}={getattr(self, name)!r}' for name in names])})"

    def add_subparsers(self, **kwargs):
        if self._subparsers is not None:
            raise ValueError("cannot have multiple subparser arguments")
        kwargs.setdefault("parser_class", type(self))
        if "title" in kwargs or "description" in kwargs:
            self._subparsers = self.add_argument_group(kwargs.pop("title", "subcommands"), kwargs.pop("description", None))
        else:
            self._subparsers = self._positionals
        if kwargs.get("prog") is None:
            formatter = self._get_formatter()
            formatter.add_usage(self.usage, self._positional_actions(), self._mutually_exclusive_groups, "")
            kwargs["prog"] = formatter.format_help().strip()
        action = _SubParsersAction(option_strings=[], **kwargs)
        self._subparsers._add_action(action)
        return action

    def _add_action(self, action):
        (self._optionals if action.option_strings else self._positionals)._add_action(action)
        return action

    def _positional_actions(self):
        return [a for a in self._actions if not a.option_strings]

    def parse_args(self, args=None, namespace=None):
        args, argv = self.parse_known_args(args, namespace)
        if argv:
            self.error(f"unrecognized arguments: {' '.join(argv)}")
        return args

    def parse_known_args(self, args=None, namespace=None):
        args = list(_sys.argv[1:] if args is None else args)
        if namespace is None:
            namespace = Namespace()
        for action in self._actions:
            if action.dest is not SUPPRESS and not hasattr(namespace, action.dest) and action.default is not SUPPRESS:
                setattr(namespace, action.dest, action.default)
        for dest in self._defaults:
            if not hasattr(namespace, dest):
                setattr(namespace, dest, self._defaults[dest])
        if self.exit_on_error:
            try:
                namespace, args = _Run(self, namespace).run(args)
            except ArgumentError as e:
                self.error(str(e))
        else:
            namespace, args = _Run(self, namespace).run(args)
        if hasattr(namespace, _UNRECOGNIZED):
            args.extend(getattr(namespace, _UNRECOGNIZED))
            delattr(namespace, _UNRECOGNIZED)
        return namespace, args

    def parse_intermixed_args(self, args=None, namespace=None):
        args, argv = self.parse_known_intermixed_args(args, namespace)
        if argv:
            self.error(f"unrecognized arguments: {' '.join(argv)}")
        return args

    def parse_known_intermixed_args(self, args=None, namespace=None):
        """Options first, wherever they stand; what is left goes to the others."""
        places = self._positional_actions()
        wrong = [a for a in places if a.nargs in (PARSER, REMAINDER)]
        if wrong:
            raise TypeError(f"parse_intermixed_args: positional arg with nargs={wrong[0].nargs}")
        actions, self._actions = self._actions, [a for a in self._actions if a.option_strings]
        try:
            namespace, left = self.parse_known_args(args, namespace)
        finally:
            self._actions = actions
        required = [a for a in actions if a.option_strings and a.required]
        try:
            for action in required:
                action.required = False
            return self.parse_known_args(left, namespace)
        finally:
            for action in required:
                action.required = True

    def convert_arg_line_to_args(self, arg_line):
        return [arg_line]

    def _expand_files(self, args):
        if self.fromfile_prefix_chars is None:
            return args
        out = []
        for arg in args:
            if not arg or arg[0] not in self.fromfile_prefix_chars:
                out.append(arg)
                continue
            try:
                with open(arg[1:]) as f:
                    for line in f.read().splitlines():
                        out.extend(self._expand_files(self.convert_arg_line_to_args(line)))
            except OSError as e:
                self.error(str(e))
        return out

    def _get_value(self, action, text):
        convert = action.type
        if convert is None or convert == "str":
            return text
        try:
            return convert(text)
        except ArgumentTypeError as e:
            raise ArgumentError(action, str(e))
        except (TypeError, ValueError):
            name = getattr(action.type, "__name__", repr(action.type))
            raise ArgumentError(action, f"invalid {name} value: {text!r}")

    def _check_value(self, action, value):
        if action.choices is not None and value not in action.choices:
            raise ArgumentError(action, f"invalid choice: {value!r} (choose from {', '.join(map(repr, action.choices))})")

    def _get_values(self, action, strings):
        nargs = action.nargs
        if nargs not in (PARSER, REMAINDER) and "--" in strings and not action.option_strings:
            strings = strings[:]
            strings.remove("--")
        if not strings and nargs == OPTIONAL:
            value = action.const if action.option_strings else action.default
            if isinstance(value, str):
                value = self._get_value(action, value)
                self._check_value(action, value)
        elif not strings and nargs == ZERO_OR_MORE and not action.option_strings:
            value = action.default if action.default is not None else []
        elif len(strings) == 1 and nargs in (None, OPTIONAL):
            value = self._get_value(action, strings[0])
            self._check_value(action, value)
        elif nargs == REMAINDER:
            value = [self._get_value(action, s) for s in strings]
        elif nargs == PARSER:
            value = [self._get_value(action, s) for s in strings]
            self._check_value(action, value[0])
        elif nargs == SUPPRESS:
            value = SUPPRESS
        else:
            value = [self._get_value(action, s) for s in strings]
            for v in value:
                self._check_value(action, v)
        return value

    def _get_formatter(self):
        return self.formatter_class(prog=self.prog)

    def format_usage(self):
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        return formatter.format_help()

    def format_help(self):
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        for group in self._action_groups:
            formatter.add_group(group.title, group.description, group._group_actions)
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def print_usage(self, file=None):
        self._print_message(self.format_usage(), _sys.stdout if file is None else file)

    def print_help(self, file=None):
        self._print_message(self.format_help(), _sys.stdout if file is None else file)

    def _print_message(self, message, file=None):
        if message:
            (file or _sys.stderr).write(message)

    def exit(self, status=0, message=None):
        if message:
            self._print_message(message, _sys.stderr)
        _sys.exit(status)

    def error(self, message):
        self.print_usage(_sys.stderr)
        self.exit(2, f"{self.prog}: error: {message}\n")


class _Run:
    """One pass over the arguments."""

    def __init__(self, parser, namespace):
        self.parser = parser
        self.namespace = namespace
        self.seen = set()
        self.given = set()
        self.conflicts = {}
        for group in parser._mutually_exclusive_groups:
            for i, action in enumerate(group._group_actions):
                self.conflicts.setdefault(id(action), []).extend(group._group_actions[:i] + group._group_actions[i + 1:])

    def run(self, args):
        parser = self.parser
        args = parser._expand_files(args)
        # What each argument is: 'A' or an option with the value that it carries.
        self.args = args
        self.kinds = []
        after = False
        for arg in args:
            if after:
                self.kinds.append("A")
            elif arg == "--":
                self.kinds.append("-")
                after = True
            else:
                option = self._option(arg)
                self.kinds.append("A" if option is None else option)
        self.positionals = parser._positional_actions()
        self.extras = []
        at = 0
        options = [i for i, k in enumerate(self.kinds) if isinstance(k, tuple)]
        last = max(options, default=-1)
        while at <= last:
            following = min(i for i in options if i >= at)
            if at != following:
                end = self._consume_positionals(at)
                if end > at:
                    at = end
                    continue
            if at not in options:
                following = min(i for i in options if i >= at)
                self.extras.extend(args[at:following])
                at = following
            at = self._consume_option(at)
        at = self._consume_positionals(at)
        self.extras.extend(args[at:])
        self._finish()
        return self.namespace, self.extras

    def _finish(self):
        parser = self.parser
        missing = []
        for action in parser._actions:
            if id(action) in self.seen:
                continue
            if action.required:
                missing.append(_argument_name(action))
            elif isinstance(action.default, str) and hasattr(self.namespace, action.dest) and action.default is getattr(self.namespace, action.dest):
                setattr(self.namespace, action.dest, parser._get_value(action, action.default))
        if missing:
            parser.error(f"the following arguments are required: {', '.join(missing)}")
        for group in parser._mutually_exclusive_groups:
            if group.required and not any(id(a) in self.given for a in group._group_actions):
                names = [_argument_name(a) for a in group._group_actions if a.help is not SUPPRESS]
                parser.error(f"one of the arguments {' '.join(names)} is required")

    def _option(self, arg):
        parser = self.parser
        if not arg or arg[0] not in parser.prefix_chars:
            return None
        known = parser._option_string_actions
        if arg in known:
            return known[arg], arg, None, None
        if len(arg) == 1:
            return None
        if "=" in arg:
            option, value = arg.split("=", 1)
            if option in known:
                return known[option], option, "=", value
        found = self._prefixes(arg)
        if len(found) > 1:
            raise ArgumentError(None, f"ambiguous option: {arg} could match {', '.join(f[1] for f in found)}")
        if found:
            return found[0]
        if _negative(arg) and not any(_negative(s) for s in known):
            return None
        if " " in arg:
            return None
        return None, arg, None, None

    def _prefixes(self, arg):
        chars, known, found = self.parser.prefix_chars, self.parser._option_string_actions, []
        if arg[1] in chars:
            if self.parser.allow_abbrev:
                option, sep, value = arg.partition("=")
                for s in known:
                    if s.startswith(option):
                        found.append((known[s], s, sep or None, value if sep else None))
            return found
        short, rest = arg[:2], arg[2:]
        option, sep, value = arg.partition("=")
        for s in known:
            if s == short:
                found.append((known[s], s, "", rest))
            elif self.parser.allow_abbrev and s.startswith(option):
                found.append((known[s], s, sep or None, value if sep else None))
        return found

    def _take(self, action, strings, option=None):
        self.seen.add(id(action))
        values = self.parser._get_values(action, strings)
        if strings or values is not action.default:
            self.given.add(id(action))
            for other in self.conflicts.get(id(action), ()):
                if id(other) in self.given:
                    raise ArgumentError(action, f"not allowed with argument {_argument_name(other)}")
        if values is not SUPPRESS:
            action(self.parser, self.namespace, values, option)

    def _count(self, action, kinds):
        # How many of the arguments an option takes, or None.
        n = 0
        while n < len(kinds) and kinds[n] == "A":
            n += 1
        nargs = action.nargs
        if nargs is None:
            return 1 if n else None
        if nargs == OPTIONAL:
            return min(n, 1)
        if nargs == ZERO_OR_MORE:
            return n
        if nargs == ONE_OR_MORE:
            return n or None
        if nargs == REMAINDER:
            return len(kinds)
        if nargs == PARSER:
            return len(kinds) if n else None
        return nargs if n >= nargs else None

    def _need(self, action, kinds):
        count = self._count(action, kinds)
        if count is None:
            messages = {None: "expected one argument", OPTIONAL: "expected at most one argument", ONE_OR_MORE: "expected at least one argument"}
            nargs = action.nargs
            text = messages.get(nargs) or f"expected {nargs} argument{'s' if nargs != 1 else ''}"
            raise ArgumentError(action, text)
        return count

    def _consume_option(self, at):
        action, option, sep, explicit = self.kinds[at]
        todo = []
        while True:
            if action is None:
                self.extras.append(self.args[at])
                return at + 1
            if explicit is None:
                start = at + 1
                count = self._need(action, self.kinds[start:])
                todo.append((action, self.args[start:start + count], option))
                stop = start + count
                break
            count = self._count(action, ["A"])
            if count == 0 and option[1] not in self.parser.prefix_chars and explicit != "":
                if sep or explicit[0] in self.parser.prefix_chars:
                    raise ArgumentError(action, f"ignored explicit argument {explicit!r}")
                todo.append((action, [], option))
                option = option[0] + explicit[0]
                rest = explicit[1:]
                if option in self.parser._option_string_actions:
                    action = self.parser._option_string_actions[option]
                    if not rest:
                        sep = explicit = None
                    elif rest[0] == "=":
                        sep, explicit = "=", rest[1:]
                    else:
                        sep, explicit = "", rest
                    continue
                raise ArgumentError(action, f"ignored explicit argument {explicit!r}")
            if count == 1:
                todo.append((action, [explicit], option))
                stop = at + 1
                break
            raise ArgumentError(action, f"ignored explicit argument {explicit!r}")
        for action, strings, option in todo:
            self._take(action, strings, option)
        return stop

    def _consume_positionals(self, start):
        # As many positionals as match together, each as many arguments as it can while the others still match.
        kinds = self.kinds[start:]
        for n in range(len(self.positionals), 0, -1):
            counts = _match(self.positionals[:n], kinds)
            if counts is not None:
                break
        else:
            return start
        for action, count in zip(self.positionals[:n], counts):
            strings = self.args[start:start + count]
            start += count
            self._take(action, strings)
        self.positionals = self.positionals[n:]
        return start


def _match(actions, kinds):
    if not actions:
        return []
    nargs = actions[0].nargs
    n = 0
    while n < len(kinds) and kinds[n] in ("A", "-"):
        n += 1
    # Numbers of values; a "--" among them comes on top.
    least, most = {None: (1, 1), OPTIONAL: (0, 1), ZERO_OR_MORE: (0, n), ONE_OR_MORE: (1, n), PARSER: (1, len(kinds)), REMAINDER: (0, len(kinds)), SUPPRESS: (0, 0)}.get(nargs) or (nargs, nargs)
    limit = len(kinds) if nargs in (PARSER, REMAINDER) else n
    if nargs == PARSER and not (kinds and kinds[0] in ("A", "-")):
        return None
    for length in range(limit, -1, -1):
        values = length if nargs in (PARSER, REMAINDER) else sum(1 for k in kinds[:length] if k == "A")
        if least <= values <= most:
            rest = _match(actions[1:], kinds[length:])
            if rest is not None:
                return [length] + rest
    return None


def _negative(arg):
    body = arg[1:] if arg[:1] == "-" else ""
    whole, _, fraction = body.partition(".")
    if "." in body:
        return fraction.isdigit() and (not whole or whole.isdigit())
    return body.isdigit()
