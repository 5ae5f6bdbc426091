"""Files of sections with values."""

DEFAULTSECT = "DEFAULT"


class Error(Exception):
    pass


class NoSectionError(Error):
    def __init__(self, section):
        super().__init__(f"No section: {section!r}")
        self.section = section


class NoOptionError(Error):
    def __init__(self, option, section):
        super().__init__(f"No option {option!r} in section: {section!r}")
        self.option, self.section = option, section


class DuplicateSectionError(Error):
    def __init__(self, section, source=None, lineno=None):
        said = f"section {section!r} already exists"
        where = "" if lineno is None else f" [line {lineno:2d}]"
        super().__init__(said.capitalize() if source is None else f"While reading from {source!r}{where}: {said}")


class DuplicateOptionError(Error):
    def __init__(self, section, option, source, lineno):
        where = "" if lineno is None else f" [line {lineno:2d}]"
        super().__init__(f"While reading from {source!r}{where}: option {option!r} in section {section!r} already exists")


class ParsingError(Error):
    def __init__(self, source):
        super().__init__(f"Source contains parsing errors: {source!r}")
        self.source, self.errors = source, []

    def append(self, lineno, line):
        self.errors.append((lineno, line))
        self.args = (f"{self.args[0]}\n\t[line {lineno:2d}]: {line}",)


class MissingSectionHeaderError(ParsingError):
    def __init__(self, filename, lineno, line):
        super().__init__(filename)
        self.args = (f"File contains no section headers.\nfile: {filename!r}, line: {lineno}\n{line!r}",)


class InterpolationError(Error):
    pass


class InterpolationMissingOptionError(InterpolationError):
    pass


class InterpolationSyntaxError(InterpolationError):
    pass


class InterpolationDepthError(InterpolationError):
    pass


class Interpolation:
    """Values as they are. Subclasses say what becomes of one when it is read, set, and found in a file."""

    def before_get(self, parser, section, option, value, defaults):
        return value

    def before_set(self, parser, section, option, value):
        return value

    def before_read(self, parser, section, option, value):
        return value

    def before_write(self, parser, section, option, value):
        return value


class BasicInterpolation(Interpolation):
    _mark, _open, _form, _named = "%", "(", r"%%|%\(([^)]+)\)s|%", "bad interpolation variable reference"

    def before_get(self, parser, section, option, value, defaults):
        return self._filled(parser, section, option, value, defaults, 10)

    def before_set(self, parser, section, option, value):
        import re
        rest = re.sub(self._form, lambda m: m[0] if m[0] == self._mark else "", value)
        if self._mark in rest:
            raise ValueError(f"invalid interpolation syntax in {value!r} at position {value.index(self._mark)}")
        return value

    def _filled(self, parser, section, option, value, known, depth):
        if value is None or self._mark not in value:
            return value
        if depth == 0:
            raise InterpolationDepthError(f"Recursion limit exceeded in value substitution: option {option!r} in section {section!r} "
                                          f"contains an interpolation key which cannot be substituted in 10 steps. Raw value: {value!r}")
        import re

        def one(match):
            if match[0] == self._mark * 2:
                return self._mark
            if match[0] == self._mark:
                left = value[match.start():]
                raise InterpolationSyntaxError(f"'{self._mark}' must be followed by '{self._mark}' or '{self._open}', found: {left!r}"
                                               if left[1:2] not in "({" else f"{self._named} {left!r}")
            at, name, found, values = self._place(parser, section, match[1], known)
            if found is _MISSING:
                raise InterpolationMissingOptionError(
                    f"Bad value substitution: option {option!r} in section {section!r} contains an interpolation key {match[1]!r} which is "
                    f"not a valid option name. Raw value: {value!r}")
            return self._filled(parser, at, name, found, values, depth - 1)
        return re.sub(self._form, one, value)

    def _place(self, parser, section, name, known):
        option = parser.optionxform(name)
        return section, option, known.get(option, _MISSING), known


class ExtendedInterpolation(BasicInterpolation):
    _mark, _open, _form = "$", "{", r"\$\$|\$\{([^}]+)\}|\$"

    def _place(self, parser, section, name, known):
        at, colon, option = name.rpartition(":")
        option = parser.optionxform(option)
        if colon:
            known = parser._all(at) if at in parser else {}
        return at if colon else section, option, known.get(option, _MISSING), known


_MISSING = object()


class RawConfigParser:
    _DEFAULT_INTERPOLATION = Interpolation()
    BOOLEAN_STATES = {"1": True, "yes": True, "true": True, "on": True, "0": False, "no": False, "false": False, "off": False}

    def __init__(self, defaults=None, dict_type=dict, allow_no_value=False, *, delimiters=("=", ":"), comment_prefixes=("#", ";"),
                 inline_comment_prefixes=None, strict=True, empty_lines_in_values=True, default_section=DEFAULTSECT,
                 interpolation=_MISSING, converters=None):
        self._defaults, self._sections = {}, {}
        self._allow_no_value, self._delimiters = allow_no_value, tuple(delimiters)
        self._strict, self._empty, self.default_section = strict, empty_lines_in_values, default_section
        self._comments, self._inline = tuple(comment_prefixes or ()), tuple(inline_comment_prefixes or ())
        self._interpolation = self._DEFAULT_INTERPOLATION if interpolation is _MISSING else interpolation or Interpolation()
        self.converters = {"int": int, "float": float, "boolean": self._convert_to_boolean, **(converters or {})}
        for name, convert in (converters or {}).items():
            setattr(self, "get" + name, lambda section, option, *, fallback=_MISSING, _with=convert, **keywords:
                    self._converted(_with, section, option, fallback, keywords))
        for key, value in (defaults or {}).items():
            self._defaults[self.optionxform(str(key))] = None if value is None else str(value)

    def optionxform(self, option):
        return option.lower()

    def defaults(self):
        return self._defaults

    def sections(self):
        return list(self._sections)

    def add_section(self, section):
        if section == self.default_section:
            raise ValueError(f"Invalid section name: {section!r}")
        if section in self._sections:
            raise DuplicateSectionError(section)
        self._sections[section] = {}

    def has_section(self, section):
        return section in self._sections

    def options(self, section):
        self._all(section)
        return list({**self._sections.get(section, {}), **self._defaults})

    def has_option(self, section, option):
        known = self._defaults if section in (None, "", self.default_section) else self._sections.get(section)
        return known is not None and self.optionxform(option) in {**self._defaults, **known}

    def _all(self, section):
        if section == self.default_section:
            return dict(self._defaults)
        if section not in self._sections:
            raise NoSectionError(section)
        return {**self._defaults, **self._sections[section]}

    def read(self, filenames, encoding=None):
        import os
        found = []
        for name in [filenames] if isinstance(filenames, (str, bytes)) or hasattr(filenames, "__fspath__") else filenames:
            if os.path.exists(name):
                with open(name, encoding=encoding) as file:
                    self.read_file(file, name)
                found.append(os.fspath(name))
        return found

    def read_string(self, string, source="<string>"):
        self.read_file(string.splitlines(True), source)

    def read_dict(self, dictionary, source="<dict>"):
        for section, values in dictionary.items():
            if section != self.default_section and section not in self._sections:
                self._sections[section] = {}
            found = set()
            for key, value in values.items():
                key = str(key)
                if self._strict and self.optionxform(key) in found:
                    raise DuplicateOptionError(section, self.optionxform(key), source, None)
                found.add(self.optionxform(key))
                self.set(section, key, None if value is None else str(value))

    def _uncommented(self, line):
        """A line without its comment, and whether it had one."""
        for prefix in self._comments:
            if line.strip().startswith(prefix):
                return "", True
        at = [n for prefix in self._inline for n in [line.find(prefix)] if n == 0 or n > 0 and line[n - 1].isspace()]
        return (line[:min(at)].strip(), True) if at else (line.strip(), False)

    def read_file(self, f, source=None):
        source = source or getattr(f, "name", "<???>")
        section, option, named, seen, indent, error, read = None, None, None, set(), 0, None, []
        for number, line in enumerate(f, 1):
            text, commented = self._uncommented(line)
            if not text:
                if not self._empty:
                    option = None
                elif not commented and option and section[option] is not None:
                    section[option].append("")
                continue
            depth = len(line) - len(line.lstrip())
            if option and section[option] is not None and depth > indent:
                section[option].append(text)
                continue
            indent = depth
            if text.startswith("[") and "]" in text:
                named = text[1:text.rindex("]")]
                if self._strict and named in seen:
                    raise DuplicateSectionError(named, source, number)
                seen.add(named)
                section, option = (self._defaults if named == self.default_section else self._sections.setdefault(named, {})), None
            elif section is None:
                raise MissingSectionHeaderError(source, number, line)
            else:
                places = [(at, d) for d in self._delimiters for at in [text.find(d)] if at >= 0]
                at, delimiter = min(places) if places else (len(text), "")
                if not at or not places and not self._allow_no_value:
                    error = error or ParsingError(source)
                    error.append(number, repr(line))
                    continue
                option = self.optionxform(text[:at].rstrip())
                if self._strict and (named, option) in seen:
                    raise DuplicateOptionError(named, option, source, number)
                seen.add((named, option))
                section[option] = [text[at + len(delimiter):].strip()] if places else None
                read.append((named, section, option))
        for named, section, option in read:
            if isinstance(section[option], list):
                text = "\n".join(section[option]).rstrip()
                section[option] = self._interpolation.before_read(self, named, option, text)
        if error:
            raise error

    def get(self, section, option, *, raw=False, vars=None, fallback=_MISSING):
        try:
            known = self._all(section)
        except NoSectionError:
            if fallback is _MISSING:
                raise
            return fallback
        known.update({self.optionxform(key): value for key, value in (vars or {}).items()})
        option = self.optionxform(option)
        if option not in known:
            if fallback is _MISSING:
                raise NoOptionError(option, section)
            return fallback
        return known[option] if raw else self._interpolation.before_get(self, section, option, known[option], known)

    def _converted(self, convert, section, option, fallback, keywords):
        value = self.get(section, option, fallback=fallback, **keywords)
        return value if value is fallback else convert(value)

    def getint(self, section, option, *, fallback=_MISSING, **keywords):
        return self._converted(int, section, option, fallback, keywords)

    def getfloat(self, section, option, *, fallback=_MISSING, **keywords):
        return self._converted(float, section, option, fallback, keywords)

    def getboolean(self, section, option, *, fallback=_MISSING, **keywords):
        return self._converted(self._convert_to_boolean, section, option, fallback, keywords)

    def _convert_to_boolean(self, value):
        if value.lower() not in self.BOOLEAN_STATES:
            raise ValueError(f"Not a boolean: {value}")
        return self.BOOLEAN_STATES[value.lower()]

    def items(self, section=_MISSING, raw=False, vars=None):
        if section is _MISSING:
            return [(name, self[name]) for name in self]
        return [(key, self.get(section, key, raw=raw, vars=vars)) for key in self._all(section)]

    def set(self, section, option, value=None):
        self._check(option, value)
        value = value if not value else self._interpolation.before_set(self, section, option, value)
        if section in (None, "", self.default_section):
            self._defaults[self.optionxform(option)] = value
            return
        if section not in self._sections:
            raise NoSectionError(section)
        self._sections[section][self.optionxform(option)] = value

    def _check(self, option, value):
        pass

    def remove_option(self, section, option):
        return self._sections[section].pop(self.optionxform(option), None) is not None

    def remove_section(self, section):
        return self._sections.pop(section, None) is not None

    def write(self, fp, space_around_delimiters=True):
        delimiter = " = " if space_around_delimiters else "="
        for name, values in [(self.default_section, self._defaults), *self._sections.items()]:
            if name == self.default_section and not values:
                continue
            fp.write(f"[{name}]\n")
            for key, value in values.items():
                fp.write(f"{key}\n" if value is None else key + delimiter + str(value).replace("\n", "\n\t") + "\n")
            fp.write("\n")

    def __contains__(self, section):
        return section == self.default_section or section in self._sections

    def __getitem__(self, section):
        if section not in self:
            raise KeyError(section)
        return SectionProxy(self, section)

    def __setitem__(self, section, values):
        if section in self and self[section] is values:
            return
        self._defaults.clear() if section == self.default_section else self._sections.__setitem__(section, {})
        self.read_dict({section: values})

    def __delitem__(self, section):
        if section == self.default_section:
            raise ValueError("Cannot remove the default section.")
        if section not in self:
            raise KeyError(section)
        del self._sections[section]

    def __iter__(self):
        yield self.default_section
        yield from self._sections

    keys = __iter__

    def __len__(self):
        return len(self._sections) + 1


    def popitem(self):
        for name in self._sections:
            return name, (self[name], self._sections.pop(name))[0]
        raise KeyError

    def clear(self):
        self._sections.clear()

    def values(self):
        return [self[name] for name in self]

    def update(self, other):
        for section, values in other.items():
            self[section] = values


class ConfigParser(RawConfigParser):
    _DEFAULT_INTERPOLATION = BasicInterpolation()

    def _check(self, option, value):
        if not isinstance(option, str):
            raise TypeError("option keys must be strings")
        if not (isinstance(value, str) or value is None and self._allow_no_value):
            raise TypeError("option values must be strings")


class SectionProxy:
    def __init__(self, parser, name):
        self.parser, self.name = parser, name

    def __getattr__(self, name):
        if not name.startswith("get"):
            raise AttributeError(f"'SectionProxy' object has no attribute {name!r}")
        method = getattr(self.parser, name)
        return lambda option, fallback=None, **keywords: method(self.name, option, fallback=fallback, **keywords)

    def __repr__(self):
        return f"<Section: {self.name}>"

    def __getitem__(self, key):
        if not self.parser.has_option(self.name, key):
            raise KeyError(key)
        return self.parser.get(self.name, key)

    def __setitem__(self, key, value):
        self.parser.set(self.name, key, value)

    def __delitem__(self, key):
        if not self.parser.remove_option(self.name, key):
            raise KeyError(key)

    def __contains__(self, key):
        return self.parser.has_option(self.name, key)

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.keys())

    def keys(self):
        return self.parser.options(self.name)

    def items(self):
        return self.parser.items(self.name)

    def values(self):
        return [value for _, value in self.items()]

    def get(self, option, fallback=None, **keywords):
        return self.parser.get(self.name, option, fallback=fallback, **keywords)
