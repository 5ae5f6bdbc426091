"""The locale "C", which is the only one here."""
LC_CTYPE, LC_NUMERIC, LC_TIME, LC_COLLATE, LC_MONETARY, LC_MESSAGES, LC_ALL = range(7)


class Error(Exception):
    pass


def setlocale(category, locale=None):
    if locale not in (None, "", "C", "POSIX", "C.UTF-8", "en_US.UTF-8", "en_US.utf8", ("en_US", "UTF-8")):
        raise Error("unsupported locale setting")
    return "C"


def getlocale(category=LC_CTYPE):
    return (None, None)


def getdefaultlocale(envvars=()):
    return (None, None)


def getpreferredencoding(do_setlocale=True):
    return "UTF-8"


getencoding = getpreferredencoding


def localeconv():
    return {"decimal_point": ".", "thousands_sep": "", "grouping": []}


def format_string(f, val, grouping=False, monetary=False):
    return f % val


def currency(val, symbol=True, grouping=False, international=False):
    raise ValueError("Currency formatting is not possible using the 'C' locale.")


def str(val):
    return "%.12g" % val


def atof(string, func=float):
    return func(string)


def atoi(string):
    return int(string)


def strcoll(a, b):
    return (a > b) - (a < b)


def strxfrm(string):
    return string
