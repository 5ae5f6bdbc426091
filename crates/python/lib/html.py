"""Text in HTML."""
import re

_NAMES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "nbsp": "\xa0", "copy": "\xa9", "hellip": "\u2026", "mdash": "\u2014",
          "ndash": "\u2013", "lsquo": "\u2018", "rsquo": "\u2019", "ldquo": "\u201c", "rdquo": "\u201d"}


def escape(s, quote=True):
    s = s.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return s.replace('"', "&quot;").replace("'", "&#x27;") if quote else s


def unescape(s):
    def one(match):
        name = match[1]
        if name[0] == "#":
            return chr(int(name[2:], 16) if name[1] in "xX" else int(name[1:]))
        return _NAMES.get(name, match[0])
    return re.sub(r"&(#[0-9]+|#[xX][0-9a-fA-F]+|\w+);", one, s)
