"""File name patterns: `*`, `?`, `[seq]`, `[!seq]`."""


def _match(name, pat):
    # Positions in the name that the pattern so far may have reached.
    states = {0}
    i = 0
    while i < len(pat) and states:
        c = pat[i]
        i += 1
        if c == "*":
            first = min(states)
            states = set(range(first, len(name) + 1))
            continue
        if c == "[":
            j = i + (pat[i:i + 1] == "!")
            j = pat.find("]", j + (pat[j:j + 1] == "]"))
            if j >= 0:
                body, i = pat[i:j], j + 1
                negate = body[:1] == "!"
                test = lambda x, body=body[negate:], negate=negate: _in_set(x, body) != negate
            else:
                test = lambda x: x == "["
        elif c == "?":
            test = lambda x: True
        else:
            test = lambda x, c=c: x == c
        states = {s + 1 for s in states if s < len(name) and test(name[s])}
    return len(name) in states


def _in_set(x, body):
    k = 0
    while k < len(body):
        if body[k + 1:k + 2] == "-" and k + 2 < len(body):
            if body[k] <= x <= body[k + 2]:
                return True
            k += 3
        else:
            if body[k] == x:
                return True
            k += 1
    return False


def fnmatchcase(name, pat):
    return _match(name, pat)


fnmatch = fnmatchcase


def filter(names, pat):
    return [n for n in names if _match(n, pat)]


def translate(pat):
    out, i = [], 0
    while i < len(pat):
        c = pat[i]
        i += 1
        if c == "*":
            out.append(".*")
        elif c == "?":
            out.append(".")
        elif c.isalnum() or c == "_":
            out.append(c)
        else:
            out.append("\\" + c)
    return "(?s:" + "".join(out) + ")\\Z"
