"""YAML as PyYAML reads and prints it: plain values, no objects of Python's."""
from yaml._read import ConstructorError, MarkedYAMLError, Parser as _Parser, ParserError, ScannerError, YAMLError
from yaml._write import Writer as _Writer, RepresenterError

__version__ = "6.0.1"
__with_libyaml__ = False


class SafeLoader:
    _constructors = {}

    @classmethod
    def add_constructor(cls, tag, constructor):
        if "_constructors" not in cls.__dict__:
            cls._constructors = dict(cls._constructors)
        cls._constructors[tag] = constructor


class FullLoader(SafeLoader):
    pass


class SafeDumper:
    _representers = {}

    def ignore_aliases(self, data):
        return False

    @classmethod
    def add_representer(cls, kind, representer):
        if "_representers" not in cls.__dict__:
            cls._representers = dict(cls._representers)
        cls._representers[kind] = representer

    def represent_dict(self, data):
        return dict(data)

    def represent_list(self, data):
        return list(data)

    def represent_str(self, data):
        return str(data)

    def represent_int(self, data):
        return int(data)

    def represent_float(self, data):
        return float(data)

    def increase_indent(self, flow=False, indentless=False):
        return indentless


class Dumper(SafeDumper):
    pass


Loader = UnsafeLoader = FullLoader
CLoader = CSafeLoader = CFullLoader = SafeLoader
CDumper, CSafeDumper = Dumper, SafeDumper


def load_all(stream, Loader):
    name = '"<unicode string>"'
    if hasattr(stream, "read"):
        name, stream = f'"{getattr(stream, "name", "<file>")}"', stream.read()
    elif isinstance(stream, (bytes, bytearray)):
        name = '"<byte string>"'
    if isinstance(stream, (bytes, bytearray)):
        stream = bytes(stream).decode("utf-8-sig")
    return _Parser(stream, name, Loader).documents()


def load(stream, Loader):
    found = list(load_all(stream, Loader))
    if len(found) > 1:
        raise ParserError(None, None, "expected a single document in the stream, but found another document")
    return found[0] if found else None


def safe_load(stream):
    return load(stream, SafeLoader)


def safe_load_all(stream):
    return load_all(stream, SafeLoader)


full_load = unsafe_load = safe_load
full_load_all = unsafe_load_all = safe_load_all


def dump_all(documents, stream=None, Dumper=Dumper, default_style=None, default_flow_style=False, canonical=None, indent=None, width=None,
             allow_unicode=None, line_break=None, encoding=None, explicit_start=None, explicit_end=None, version=None, tags=None, sort_keys=True):
    documents = list(documents)
    text = ""
    for i, data in enumerate(documents):
        writer = _Writer(Dumper(), default_style, default_flow_style, indent, width, allow_unicode, sort_keys)
        text += writer.document(data, explicit_start or i > 0, explicit_end, i == len(documents) - 1)
    if encoding:
        text = text.encode(encoding)
    if stream is None:
        return text
    stream.write(text)


def dump(data, stream=None, Dumper=Dumper, **kwargs):
    return dump_all([data], stream, Dumper, **kwargs)


def safe_dump_all(documents, stream=None, **kwargs):
    return dump_all(documents, stream, SafeDumper, **kwargs)


def safe_dump(data, stream=None, **kwargs):
    return dump_all([data], stream, SafeDumper, **kwargs)


def add_representer(kind, representer, Dumper=Dumper):
    Dumper.add_representer(kind, representer)


def add_constructor(tag, constructor, Loader=None):
    for each in [Loader] if Loader else [SafeLoader, FullLoader]:
        each.add_constructor(tag, constructor)
