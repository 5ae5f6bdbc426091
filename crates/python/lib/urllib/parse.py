"""Parts of addresses, and texts in them."""
from collections import namedtuple

__all__ = ["urlparse", "urlunparse", "urljoin", "urldefrag", "urlsplit", "urlunsplit", "urlencode", "parse_qs", "parse_qsl", "quote", "quote_plus",
           "quote_from_bytes", "unquote", "unquote_plus", "unquote_to_bytes"]
uses_params = ["", "ftp", "hdl", "prospero", "http", "https", "shttp", "rtsp", "sip", "sips", "mms", "sftp", "tel"]
_RELATIVE = ("", "ftp", "http", "gopher", "nntp", "imap", "wais", "file", "https", "shttp", "mms", "prospero", "rtsp", "sftp", "svn", "svn+ssh", "ws", "wss")
_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")
_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")


class _Netloc:
    __slots__ = ()

    def _host(self):
        host = self.netloc.rpartition("@")[2]
        if "[" in host:
            inner, _, rest = host.partition("[")[2].partition("]")
            return inner, rest.partition(":")[2] or None
        name, _, port = host.partition(":")
        return name, port or None

    @property
    def username(self):
        user, at, _ = self.netloc.rpartition("@")
        return user.partition(":")[0] if at else None

    @property
    def password(self):
        user, at, _ = self.netloc.rpartition("@")
        name, colon, password = user.partition(":")
        return password if at and colon else None

    @property
    def hostname(self):
        return self._host()[0].lower() or None

    @property
    def port(self):
        port = self._host()[1]
        if port is None:
            return None
        if not (port.isdigit() and port.isascii()):
            raise ValueError(f"Port could not be cast to integer value as {port!r}")
        if int(port) > 65535:
            raise ValueError("Port out of range 0-65535")
        return int(port)


class SplitResult(namedtuple("SplitResult", "scheme netloc path query fragment"), _Netloc):
    __slots__ = ()

    def geturl(self):
        return urlunsplit(self)


class ParseResult(namedtuple("ParseResult", "scheme netloc path params query fragment"), _Netloc):
    __slots__ = ()

    def geturl(self):
        return urlunparse(self)


class DefragResult(namedtuple("DefragResult", "url fragment")):
    __slots__ = ()

    def geturl(self):
        return self.url + ("#" + self.fragment if self.fragment else "")


def urlsplit(url, scheme="", allow_fragments=True):
    url = "".join(c for c in url.lstrip("".join(map(chr, range(33)))) if c not in "\t\r\n")
    netloc = query = fragment = ""
    i = url.find(":")
    if i > 0 and url[0].isascii() and url[0].isalpha() and all(c in _SCHEME for c in url[:i]):
        scheme, url = url[:i].lower(), url[i + 1:]
    if url[:2] == "//":
        end = min([at for at in (url.find(c, 2) for c in "/?#") if at >= 0], default=len(url))
        netloc, url = url[2:end], url[end:]
        if ("[" in netloc) != ("]" in netloc):
            raise ValueError("Invalid IPv6 URL")
    if allow_fragments:
        url, _, fragment = url.partition("#")
    url, _, query = url.partition("?")
    return SplitResult(scheme, netloc, url, query, fragment)


def urlunsplit(components):
    scheme, netloc, url, query, fragment = components
    if netloc or scheme and scheme in _RELATIVE and url[:2] != "//":
        if url and url[:1] != "/":
            url = "/" + url
        url = "//" + (netloc or "") + url
    if scheme:
        url = scheme + ":" + url
    return url + ("?" + query if query else "") + ("#" + fragment if fragment else "")


def urlparse(url, scheme="", allow_fragments=True):
    scheme, netloc, url, query, fragment = urlsplit(url, scheme, allow_fragments)
    params = ""
    if scheme in uses_params and ";" in url:
        at = url.find(";", max(url.rfind("/"), 0))
        if at >= 0:
            url, params = url[:at], url[at + 1:]
    return ParseResult(scheme, netloc, url, params, query, fragment)


def urlunparse(components):
    scheme, netloc, url, params, query, fragment = components
    return urlunsplit((scheme, netloc, f"{url};{params}" if params else url, query, fragment))


def urldefrag(url):
    if "#" not in url:
        return DefragResult(url, "")
    s, n, p, a, q, fragment = urlparse(url)
    return DefragResult(urlunparse((s, n, p, a, q, "")), fragment)


def urljoin(base, url, allow_fragments=True):
    if not base or not url:
        return url or base
    bscheme, bnetloc, bpath, bparams, bquery, bfragment = urlparse(base, "", allow_fragments)
    scheme, netloc, path, params, query, fragment = urlparse(url, bscheme, allow_fragments)
    if scheme != bscheme or scheme not in _RELATIVE:
        return url
    if netloc:
        return urlunparse((scheme, netloc, path, params, query, fragment))
    if not path and not params:
        return urlunparse((scheme, bnetloc, bpath, bparams, query or bquery, fragment))
    parts = bpath.split("/")
    if parts[-1] != "":
        del parts[-1]
    if path[:1] == "/":
        segments = path.split("/")
    else:
        segments = parts + path.split("/")
        segments[1:-1] = filter(None, segments[1:-1])
    resolved = []
    for segment in segments:
        if segment == "..":
            if resolved:
                resolved.pop()
        elif segment != ".":
            resolved.append(segment)
    if segments[-1] in (".", ".."):
        resolved.append("")
    return urlunparse((scheme, bnetloc, "/".join(resolved) or "/", params, query, fragment))


def quote_from_bytes(bs, safe="/"):
    if not isinstance(bs, (bytes, bytearray)):
        raise TypeError("quote_from_bytes() expected bytes")
    keep = _SAFE.union(safe.encode("ascii", "ignore") if isinstance(safe, str) else safe)
    return "".join(chr(c) if c in keep else f"%{c:02X}" for c in bs)


def quote(string, safe="/", encoding=None, errors=None):
    if isinstance(string, str):
        string = string.encode(encoding or "utf-8", errors or "strict")
    elif encoding is not None:
        raise TypeError("quote() doesn't support 'encoding' for bytes")
    return quote_from_bytes(string, safe)


def quote_plus(string, safe="", encoding=None, errors=None):
    if isinstance(string, str) and " " not in string or isinstance(string, bytes) and b" " not in string:
        return quote(string, safe, encoding, errors)
    return quote(string, safe + (" " if isinstance(safe, str) else b" "), encoding, errors).replace(" ", "+")


def unquote_to_bytes(string):
    if isinstance(string, str):
        string = string.encode("utf-8")
    first, *rest = bytes(string).split(b"%")
    parts = [first]
    for part in rest:
        try:
            parts.append(bytes([int(part[:2].decode("ascii"), 16)]) + part[2:] if len(part) > 1 else b"%" + part)
        except ValueError:
            parts.append(b"%" + part)
    return b"".join(parts)


def unquote(string, encoding="utf-8", errors="replace"):
    if isinstance(string, str) and "%" not in string:
        return string
    return unquote_to_bytes(string).decode(encoding or "utf-8", errors or "replace")


def unquote_plus(string, encoding="utf-8", errors="replace"):
    return unquote(string.replace("+", " "), encoding, errors)


def urlencode(query, doseq=False, safe="", encoding=None, errors=None, quote_via=quote_plus):
    def text(value):
        return quote_via(value if isinstance(value, bytes) else str(value), safe)
    try:
        pairs = list(query.items() if hasattr(query, "items") else query)
        if pairs and not all(isinstance(pair, tuple) for pair in pairs):
            raise TypeError
    except TypeError:
        raise TypeError("not a valid non-string sequence or mapping object") from None
    found = []
    for key, value in pairs:
        several = doseq and not isinstance(value, (str, bytes)) and hasattr(value, "__len__")
        found.extend(f"{text(key)}={text(each)}" for each in (value if several else [value]))
    return "&".join(found)


def parse_qsl(qs, keep_blank_values=False, strict_parsing=False, encoding="utf-8", errors="replace", max_num_fields=None, separator="&"):
    found = []
    if not qs:
        return found
    if max_num_fields is not None and max_num_fields < 1 + qs.count(separator):
        raise ValueError("Max number of fields exceeded")
    for part in qs.split(separator):
        if not part and not strict_parsing:
            continue
        name, equals, value = part.partition("=")
        if not equals and strict_parsing:
            raise ValueError(f"bad query field: {part!r}")
        if value or keep_blank_values:
            found.append((unquote_plus(name, encoding, errors), unquote_plus(value, encoding, errors)))
    return found


def parse_qs(qs, *args, **kwargs):
    found = {}
    for name, value in parse_qsl(qs, *args, **kwargs):
        found.setdefault(name, []).append(value)
    return found
