"""Lines of files."""
cache = {}


def getlines(filename, module_globals=None):
    if filename not in cache:
        try:
            with open(filename) as file:
                cache[filename] = file.readlines()
        except (OSError, UnicodeDecodeError):
            return []
    return cache[filename]


def getline(filename, lineno, module_globals=None):
    lines = getlines(filename, module_globals)
    return lines[lineno - 1] if 1 <= lineno <= len(lines) else ""


def clearcache():
    cache.clear()


def checkcache(filename=None):
    cache.clear() if filename is None else cache.pop(filename, None)
