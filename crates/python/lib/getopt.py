"""Options in C's manner."""
__all__ = ["GetoptError", "error", "getopt", "gnu_getopt"]


class GetoptError(Exception):
    def __init__(self, msg, opt=""):
        self.msg, self.opt = msg, opt
        Exception.__init__(self, msg, opt)

    def __str__(self):
        return self.msg


error = GetoptError


def getopt(args, shortopts, longopts=[]):
    opts, longopts = [], [longopts] if isinstance(longopts, str) else list(longopts)
    while args and args[0].startswith("-") and args[0] != "-":
        if args[0] == "--":
            return opts, args[1:]
        opts, args = _option(opts, args, shortopts, longopts)
    return opts, args


def _option(opts, args, shortopts, longopts):
    return _long(opts, args[0][2:], longopts, args[1:]) if args[0].startswith("--") else _short(opts, args[0][1:], shortopts, args[1:])


def gnu_getopt(args, shortopts, longopts=[]):
    opts, rest, longopts = [], [], [longopts] if isinstance(longopts, str) else list(longopts)
    stop = shortopts.startswith("+")
    shortopts = shortopts.lstrip("+")
    while args:
        if args[0] == "--":
            return opts, rest + args[1:]
        if args[0].startswith("-") and args[0] != "-":
            opts, args = _option(opts, args, shortopts, longopts)
        elif stop:
            return opts, rest + args
        else:
            rest.append(args[0])
            args = args[1:]
    return opts, rest


def _long(opts, opt, longopts, args):
    opt, equals, given = opt.partition("=")
    found = [o for o in longopts if o.startswith(opt)]
    if not found:
        raise GetoptError(f"option --{opt} not recognized", opt)
    if opt in found:
        name, takes = opt, False
    elif opt + "=" in found:
        name, takes = opt, True
    elif len(found) > 1:
        raise GetoptError(f"option --{opt} not a unique prefix", opt)
    else:
        name, takes = found[0].rstrip("="), found[0].endswith("=")
    if takes and not equals:
        if not args:
            raise GetoptError(f"option --{name} requires argument", name)
        given, args = args[0], args[1:]
    elif not takes and equals:
        raise GetoptError(f"option --{name} must not have an argument", name)
    return opts + [("--" + name, given)], args


def _short(opts, text, shortopts, args):
    while text:
        opt, text = text[0], text[1:]
        at = shortopts.find(opt)
        if opt == ":" or at < 0:
            raise GetoptError(f"option -{opt} not recognized", opt)
        given = ""
        if shortopts.startswith(":", at + 1):
            if not text:
                if not args:
                    raise GetoptError(f"option -{opt} requires argument", opt)
                text, args = args[0], args[1:]
            given, text = text, ""
        opts = opts + [("-" + opt, given)]
    return opts, args
