"""Messages as they are: there are no catalogues."""


def gettext(message):
    return message


def ngettext(singular, plural, n):
    return singular if n == 1 else plural


def dgettext(domain, message):
    return message


def bindtextdomain(domain, localedir=None):
    return localedir


def textdomain(domain=None):
    return domain or "messages"


class NullTranslations:
    gettext, ngettext = staticmethod(gettext), staticmethod(ngettext)

    def install(self, names=None):
        import builtins
        builtins._ = gettext


def translation(domain, localedir=None, languages=None, class_=None, fallback=False):
    if not fallback:
        raise FileNotFoundError(2, "No translation file found for domain", domain)
    return NullTranslations()


def install(domain, localedir=None, *, names=None):
    NullTranslations().install()
