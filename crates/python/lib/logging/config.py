"""Loggers, handlers and formatters by a dictionary or a file."""
import importlib
import logging
import re

_PREFIX = re.compile(r"^(?P<prefix>[a-z]+)://(?P<suffix>.*)$")


class _Configurator:
    def __init__(self, config):
        self.config, self.made = config, {"formatters": {}, "filters": {}, "handlers": {}}

    def resolve(self, name):
        parts = name.split(".")
        used = parts[0]
        try:
            found = importlib.import_module(used)
            for part in parts[1:]:
                used += "." + part
                try:
                    found = getattr(found, part)
                except AttributeError:
                    importlib.import_module(used)
                    found = getattr(found, part)
            return found
        except ImportError as error:
            raise ValueError(f"Cannot resolve {name!r}: {error}") from error

    def value(self, value):
        if isinstance(value, dict):
            return {k: self.value(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self.value(v) for v in value]
        match = _PREFIX.match(value) if isinstance(value, str) else None
        if match and match["prefix"] == "ext":
            return self.resolve(match["suffix"])
        if match and match["prefix"] == "cfg":
            found = self.config
            for part in re.findall(r"\w+", match["suffix"]):
                found = found[int(part) if isinstance(found, list) else part]
            return found
        return value

    def custom(self, config, factory="()"):
        config = dict(config)
        make, extra = config.pop(factory), config.pop(".", None)
        if not callable(make):
            make = self.resolve(make)
        made = make(**{k: self.value(v) for k, v in config.items() if k.isidentifier()})
        for name, value in (extra or {}).items():
            setattr(made, name, value)
        return made

    def formatter(self, config):
        if "()" in config:
            return self.custom(config)
        kind = self.resolve(config["class"]) if config.get("class") else logging.Formatter
        keywords = {"defaults": config["defaults"]} if "defaults" in config else {}
        return kind(config.get("format"), config.get("datefmt"), config.get("style", "%"), **keywords)

    def filters(self, owner, names):
        for name in names:
            try:
                owner.addFilter(name if callable(name) or hasattr(name, "filter") else self.made["filters"][name])
            except Exception as error:
                raise ValueError(f"Unable to add filter {name!r}") from error

    def handler(self, config):
        config = dict(config)
        formatter = config.pop("formatter", None)
        if formatter:
            try:
                formatter = self.made["formatters"][formatter]
            except Exception as error:
                raise ValueError(f"Unable to set formatter {formatter!r}") from error
        level, filters = config.pop("level", None), config.pop("filters", None)
        if "()" in config:
            made = self.custom(config)
        else:
            kind = self.resolve(config.pop("class"))
            if "target" in config and issubclass(kind, logging.handlers.MemoryHandler if hasattr(logging, "handlers") else ()):
                config["target"] = self.made["handlers"][config["target"]]
            extra = config.pop(".", None)
            made = kind(**{k: self.value(v) for k, v in config.items() if k.isidentifier()})
            for name, value in (extra or {}).items():
                setattr(made, name, value)
        if formatter:
            made.setFormatter(formatter)
        if level is not None:
            made.setLevel(level)
        self.filters(made, filters or [])
        return made

    def logger(self, logger, config, incremental):
        if config.get("level") is not None:
            logger.setLevel(logging._check_level(config["level"]))
        if not incremental:
            for handler in logger.handlers[:]:
                logger.removeHandler(handler)
            for name in config.get("handlers") or []:
                try:
                    logger.addHandler(self.made["handlers"][name])
                except Exception as error:
                    raise ValueError(f"Unable to add handler {name!r}") from error
            self.filters(logger, config.get("filters") or [])

    def each(self, kind, what, names=None):
        entries = self.config.get(kind, {})
        for name in entries if names is None else names:
            try:
                self.made[kind][name] = what(entries[name])
            except Exception as error:
                raise ValueError(f"Unable to configure {kind[:-1]} {name!r}") from error

    def configure(self):
        config = self.config
        if "version" not in config:
            raise ValueError("dictionary doesn't specify a version")
        if config["version"] != 1:
            raise ValueError(f"Unsupported version: {config['version']}")
        incremental = config.get("incremental", False)
        if not incremental:
            self.each("formatters", self.formatter)
            self.each("filters", lambda c: self.custom(c) if "()" in c else logging.Filter(c.get("name", "")))
            entries = config.get("handlers", {})
            # A handler whose target is another comes after that.
            self.each("handlers", self.handler, sorted(entries, key=lambda name: ("target" in entries[name], name)))
        else:
            for name, entry in config.get("handlers", {}).items():
                if entry.get("level") is not None:
                    logging._handlers[name].setLevel(logging._check_level(entry["level"]))
        existing = [] if incremental or not config.get("disable_existing_loggers", True) else list(logging.root.manager.loggerDict)
        for name, entry in config.get("loggers", {}).items():
            logger = logging.getLogger(name)
            try:
                self.logger(logger, entry, incremental)
                logger.disabled = False
                if entry.get("propagate") is not None:
                    logger.propagate = entry["propagate"]
            except Exception as error:
                raise ValueError(f"Unable to configure logger {name!r}") from error
        for name in existing:
            if not any(name == known or name.startswith(known + ".") for known in config.get("loggers", {})):
                logging.getLogger(name).disabled = True
        if config.get("root"):
            try:
                self.logger(logging.root, config["root"], incremental)
            except Exception as error:
                raise ValueError("Unable to configure root logger") from error


dictConfigClass = _Configurator


def dictConfig(config):
    dictConfigClass(config).configure()


def fileConfig(fname, defaults=None, disable_existing_loggers=True, encoding=None):
    """What a file says in sections: `loggers`, `handlers` and `formatters` name those that follow."""
    import configparser
    import os
    import sys
    if isinstance(fname, configparser.RawConfigParser):
        given = fname
    else:
        given = configparser.ConfigParser(defaults)
        if hasattr(fname, "readline"):
            given.read_file(fname)
        elif not os.path.exists(fname):
            raise FileNotFoundError(f"{fname} doesn't exist")
        elif not os.path.getsize(fname):
            raise RuntimeError(f"{fname} is empty.")
        else:
            given.read(fname, encoding=encoding)
    space = {**vars(logging), "sys": sys, "logging": logging}
    named = lambda text: [name.strip() for name in text.split(",") if name.strip()]
    made = {"formatter": {}, "handler": {}}

    def found(name):
        try:
            return eval(name, space)
        except (AttributeError, NameError):
            return _Configurator({}).resolve(name)
    for name in named(given["formatters"]["keys"]):
        part = given[f"formatter_{name}"]
        values = [part.get(key, raw=True, fallback=usual) for key, usual in (("format", None), ("datefmt", None), ("style", "%"))]
        made["formatter"][name] = (found(part["class"]) if part.get("class") else logging.Formatter)(*values)
    for name in named(given["handlers"]["keys"]):
        part = given[f"handler_{name}"]
        handler = found(part["class"])(*eval(part.get("args", "()"), space), **eval(part.get("kwargs", "{}"), space))
        if part.get("level"):
            handler.setLevel(part["level"])
        if part.get("formatter"):
            handler.setFormatter(made["formatter"][part["formatter"]])
        made["handler"][name] = handler
    kept = []
    for name in named(given["loggers"]["keys"]):
        part = given[f"logger_{name}"]
        logger = logging.getLogger(None if name == "root" else part["qualname"])
        kept.append(logger)
        if part.get("level"):
            logger.setLevel(part["level"])
        for old in logger.handlers[:]:
            logger.removeHandler(old)
        for handler in named(part.get("handlers", "")):
            logger.addHandler(made["handler"][handler])
        if name != "root":
            logger.propagate, logger.disabled = part.getint("propagate", fallback=1), False
    below = tuple([logger.name + "." for logger in kept if logger is not logging.root])
    for name, logger in logging.root.manager.loggerDict.items():
        if not isinstance(logger, logging.Logger) or logger in kept:
            continue
        if name.startswith(below):
            logger.setLevel(logging.NOTSET)
            logger.handlers, logger.propagate = [], True
        else:
            logger.disabled = disable_existing_loggers
