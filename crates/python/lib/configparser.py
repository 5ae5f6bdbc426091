"""Files of sections with values."""

DEFAULTSECT = "DEFAULT"


class Error(Exception):
    pass


class NoSectionError(Error):
    def __init__(self, section):
        super().__init__(f"No section: {section!r}")


class NoOptionError(Error):
    def __init__(self, option, section):
        super().__init__(f"No option {option!r} in section: {section!r}")


class DuplicateSectionError(Error):
    def __init__(self, section, source=None, lineno=None):
        said = f"section {section!r} already exists"
        where = "" if lineno is None else f" [line {lineno:2d}]"
        super().__init__(said.capitalize() if source is None else f"While reading from {source!r}{where}: {said}")


class DuplicateOptionError(Error):
    def __init__(self, section, option, source, lineno):
        super().__init__(f"While reading from {source!r} [line {lineno:2d}]: option {option!r} in section {section!r} already exists")


class MissingSectionHeaderError(Error):
    pass


class InterpolationError(Error):
    pass


_MISSING = object()
_TRUTH = {"1": True, "yes": True, "true": True, "on": True, "0": False, "no": False, "false": False, "off": False}


class RawConfigParser:
    _interpolates = False

    def __init__(self, defaults=None, dict_type=dict, allow_no_value=False, *, delimiters=("=", ":"), comment_prefixes=("#", ";"),
                 inline_comment_prefixes=None, strict=True, interpolation=_MISSING, **kwargs):
        self._defaults, self._sections = {}, {}
        self._allow_no_value, self._delimiters = allow_no_value, delimiters
        self._strict = strict
        self._comments, self._inline = comment_prefixes, inline_comment_prefixes or ()
        if interpolation is None:
            self._interpolates = False
        for key, value in (defaults or {}).items():
            self._defaults[self.optionxform(key)] = value

    def optionxform(self, option):
        return option.lower()

    def defaults(self):
        return self._defaults

    def sections(self):
        return list(self._sections)

    def add_section(self, section):
        if section in self._sections:
            raise DuplicateSectionError(section)
        self._sections[section] = {}

    def has_section(self, section):
        return section in self._sections

    def options(self, section):
        self._all(section)
        return list({**self._sections.get(section, {}), **self._defaults})

    def has_option(self, section, option):
        known = self._defaults if section in (None, "", DEFAULTSECT) else self._sections.get(section)
        return known is not None and self.optionxform(option) in {**self._defaults, **known}

    def _all(self, section):
        if section == DEFAULTSECT:
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
            if section != DEFAULTSECT and section not in self._sections:
                self._sections[section] = {}
            for key, value in values.items():
                self.set(section, str(key), None if value is None else str(value))

    def read_file(self, f, source=None):
        section, option, named, seen = None, None, None, set()
        for number, line in enumerate(f, 1):
            text = line.strip()
            for prefix in self._inline:
                at = text.find(prefix)
                if at == 0 or at > 0 and text[at - 1].isspace():
                    text = text[:at].strip()
            if not text or text.startswith(tuple(self._comments)):
                continue
            if line[0].isspace() and option is not None:
                section[option] += "\n" + text
            elif text.startswith("[") and "]" in text:
                named = name = text[1:text.rindex("]")]
                if self._strict and name in seen:
                    raise DuplicateSectionError(name, source, number)
                seen.add(name)
                section, option = (self._defaults if name == DEFAULTSECT else self._sections.setdefault(name, {})), None
            elif section is None:
                raise MissingSectionHeaderError(f"File contains no section headers.\nfile: {source!r}, line: {number}\n{line!r}")
            else:
                places = [at for at in [text.find(d) for d in self._delimiters] if at >= 0]
                if not places and not self._allow_no_value:
                    raise Error(f"Source contains parsing errors: {source!r}\n\t[line {number:2d}]: {line!r}")
                at = min(places) if places else len(text)
                option = self.optionxform(text[:at].strip())
                if self._strict and (named, option) in seen:
                    raise DuplicateOptionError(named, option, source, number)
                seen.add((named, option))
                section[option] = text[at + 1:].strip() if places else None

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
        return known[option] if raw or not self._interpolates else self._filled(known[option], known, 10)

    def _filled(self, value, known, depth):
        if value is None or "%" not in value:
            return value
        if depth == 0:
            raise InterpolationError("values refer to each other without end")
        import re

        def one(match):
            if match[0] == "%%":
                return "%"
            name = self.optionxform(match[1])
            if name not in known:
                raise InterpolationError(f"Bad value substitution: option {name!r} contains an interpolation key which is not a valid option name")
            return self._filled(known[name], known, depth - 1)
        return re.sub(r"%%|%\(([^)]+)\)s", one, value)

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
        if value.lower() not in _TRUTH:
            raise ValueError(f"Not a boolean: {value}")
        return _TRUTH[value.lower()]

    def items(self, section=_MISSING, raw=False, vars=None):
        if section is _MISSING:
            return [(name, self[name]) for name in self]
        return [(key, self.get(section, key, raw=raw, vars=vars)) for key in self._all(section)]

    def set(self, section, option, value=None):
        if section in (None, "", DEFAULTSECT):
            self._defaults[self.optionxform(option)] = value
            return
        if section not in self._sections:
            raise NoSectionError(section)
        if self._interpolates and value is not None and not isinstance(value, str):
            raise TypeError("option values must be strings")
        self._sections[section][self.optionxform(option)] = value

    def remove_option(self, section, option):
        return self._sections[section].pop(self.optionxform(option), None) is not None

    def remove_section(self, section):
        return self._sections.pop(section, None) is not None

    def write(self, fp, space_around_delimiters=True):
        delimiter = " = " if space_around_delimiters else "="
        for name, values in [(DEFAULTSECT, self._defaults), *self._sections.items()]:
            if name == DEFAULTSECT and not values:
                continue
            fp.write(f"[{name}]\n")
            for key, value in values.items():
                fp.write(f"{key}\n" if value is None else key + delimiter + str(value).replace("\n", "\n\t") + "\n")
            fp.write("\n")

    def __contains__(self, section):
        return section == DEFAULTSECT or section in self._sections

    def __getitem__(self, section):
        if section not in self:
            raise KeyError(section)
        return SectionProxy(self, section)

    def __setitem__(self, section, values):
        self._sections[section] = {}
        self.read_dict({section: values})

    def __delitem__(self, section):
        del self._sections[section]

    def __iter__(self):
        yield DEFAULTSECT
        yield from self._sections

    keys = __iter__

    def __len__(self):
        return len(self._sections) + 1


class ConfigParser(RawConfigParser):
    _interpolates = True


class SectionProxy:
    def __init__(self, parser, name):
        self.parser, self.name = parser, name

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

    def getint(self, option, fallback=None, **keywords):
        return self.parser.getint(self.name, option, fallback=fallback, **keywords)

    def getfloat(self, option, fallback=None, **keywords):
        return self.parser.getfloat(self.name, option, fallback=fallback, **keywords)

    def getboolean(self, option, fallback=None, **keywords):
        return self.parser.getboolean(self.name, option, fallback=fallback, **keywords)
