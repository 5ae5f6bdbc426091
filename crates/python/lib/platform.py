"""What there is to say about the machine."""
import sys


def system():
    return "Linux" if sys.platform == "linux" else sys.platform


def release():
    return ""


def version():
    return ""


def machine():
    return ""


def processor():
    return ""


def node():
    return ""


def architecture():
    return "64bit", ""


def python_version():
    return ".".join(map(str, sys.version_info[:3]))


def python_version_tuple():
    return tuple(map(str, sys.version_info[:3]))


def python_implementation():
    return "Aludel"


def platform(aliased=False, terse=False):
    return system()


def uname():
    from collections import namedtuple
    return namedtuple("uname_result", "system node release version machine")(system(), node(), release(), version(), machine())
