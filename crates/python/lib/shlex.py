"""Command lines taken apart and put together, as a POSIX shell does."""
import re

_UNSAFE = re.compile(r"[^\w@%+=:,./-]", re.ASCII)


def quote(s):
    if not s:
        return "''"
    if _UNSAFE.search(s) is None:
        return s
    return "'" + s.replace("'", "'\"'\"'") + "'"


def join(split_command):
    return " ".join(quote(arg) for arg in split_command)


def split(s, comments=False, posix=True):
    if not posix:
        raise NotImplementedError("shlex.split(posix=False) is not there")
    words, word, inside, i = [], None, None, 0
    while i < len(s):
        c = s[i]
        i += 1
        if inside == "'":
            if c == "'":
                inside = None
            else:
                word += c
        elif c == "\\" and inside is None:
            if i == len(s):
                raise ValueError("No escaped character")
            word = (word or "") + s[i]
            i += 1
        elif inside == '"':
            if c == '"':
                inside = None
            elif c == "\\" and i < len(s) and s[i] in '"\\':
                word += s[i]
                i += 1
            else:
                word += c
        elif c in "'\"":
            inside, word = c, word or ""
        elif c in " \t\r\n":
            if word is not None:
                words.append(word)
            word = None
        elif c == "#" and comments and word is None:
            while i < len(s) and s[i] != "\n":
                i += 1
        else:
            word = (word or "") + c
    if inside is not None:
        raise ValueError("No closing quotation")
    if word is not None:
        words.append(word)
    return words
