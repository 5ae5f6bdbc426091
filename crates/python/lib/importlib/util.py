"""Where modules are, and modules from files that are named."""

import os
import sys
import types


class _Loader:
    def __init__(self, name, path):
        self.name, self.path = name, path

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        with open(self.path) as file:
            text = file.read()
        exec(compile(text, self.path, "exec"), module.__dict__)

    def get_filename(self, name=None):
        return self.path


class ModuleSpec:
    def __init__(self, name, loader=None, *, origin=None, is_package=None):
        self.name, self.loader, self.origin = name, loader, origin
        self.submodule_search_locations = [] if is_package else None
        self.parent = name if is_package else name.rpartition(".")[0]
        self.has_location = origin is not None

    def __repr__(self):
        return f"ModuleSpec(name={self.name!r}, loader={self.loader!r}, origin={self.origin!r})"


def _found(name, path, package=None):
    spec = ModuleSpec(name, path and _Loader(name, path), origin=path, is_package=package is not None)
    if package is not None:
        spec.submodule_search_locations = [package]
    return spec


def resolve_name(name, package):
    bare = name.lstrip(".")
    if bare == name:
        return name
    if not package:
        raise ImportError(f"no package specified for {name!r} (required for relative module names)")
    above = package.split(".")[: len(package.split(".")) - (len(name) - len(bare)) + 1]
    return ".".join(above + [bare]) if bare else ".".join(above)


def find_spec(name, package=None):
    """Looks for files as CPython does; modules that are in no file are imported to see, as they are few and do little."""
    name = resolve_name(name, package)
    known = sys.modules.get(name)
    if known is not None:
        inside = getattr(known, "__path__", None)
        return _found(name, getattr(known, "__file__", None), list(inside)[0] if inside else None if inside is None else "")
    parent, _, last = name.rpartition(".")
    places = sys.path
    if parent:
        __import__(parent)
        places = getattr(sys.modules[parent], "__path__", None)
        if places is None:
            raise ModuleNotFoundError(f"__path__ attribute not found on {parent!r} while trying to find {name!r}", name=name)
    for place in places:
        path = os.path.join(place or ".", last)
        if os.path.isfile(os.path.join(path, "__init__.py")):
            return _found(name, os.path.join(path, "__init__.py"), path)
        if os.path.isfile(path + ".py"):
            return _found(name, path + ".py")
        if os.path.isdir(path) and not parent:
            return _found(name, None, path)
    try:
        __import__(name)
    except ImportError:
        return None
    return ModuleSpec(name, is_package=hasattr(sys.modules[name], "__path__"))


def spec_from_file_location(name, location=None, *, loader=None, submodule_search_locations=None):
    spec = ModuleSpec(name, loader or _Loader(name, os.fspath(location)), origin=os.fspath(location))
    spec.submodule_search_locations = submodule_search_locations
    return spec


def spec_from_loader(name, loader, *, origin=None, is_package=None):
    return ModuleSpec(name, loader, origin=origin, is_package=is_package)


def module_from_spec(spec):
    module = types.ModuleType(spec.name)
    module.__spec__, module.__loader__, module.__package__ = spec, spec.loader, spec.parent
    if spec.origin is not None:
        module.__file__ = spec.origin
    if spec.submodule_search_locations is not None:
        module.__path__ = spec.submodule_search_locations
    return module
