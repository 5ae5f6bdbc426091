"""Notebooks: what values look like, `IPython.display`, completion and inspection of the session's names."""

import builtins
import inspect as _inspector
import json as _json
import sys

__all__ = ["display", "update_display", "clear_output", "DisplayHandle", "DisplayObject", "HTML", "SVG", "Markdown", "Latex", "Math", "JSON",
           "Image", "Pretty"]

# Rows and columns of a tensor that are shown from each end.
_EDGE = 6
_METHODS = {"text/html": "_repr_html_", "text/markdown": "_repr_markdown_", "text/latex": "_repr_latex_", "image/svg+xml": "_repr_svg_",
            "image/png": "_repr_png_", "image/jpeg": "_repr_jpeg_", "application/json": "_repr_json_"}
_KEYWORDS = ("False None True and as assert async await break class continue def del elif else except finally for from global if import in "
             "is lambda match nonlocal not or pass raise return try while with yield").split()


def _namespace():
    return sys.modules["__main__"].__dict__


def _class(module, name):
    """A class of a module, where that was imported: what has no values yet needs none of it."""
    return getattr(sys.modules.get(module), name, None)


def _is(value, module, name):
    kind = _class(module, name)
    return kind is not None and isinstance(value, kind)


def _encoded(value):
    return {"hex": bytes(value).hex()} if isinstance(value, (bytes, bytearray)) else value


def _plain(value):
    return repr(value)


def _bundle(value):
    """The value by media types, and the metadata of these."""
    if isinstance(value, type):
        return {"text/plain": _plain(value)}, {}
    both = getattr(value, "_repr_mimebundle_", None)
    if callable(both):
        found = both()
        data, metadata = found if isinstance(found, tuple) else (found, {})
        return {"text/plain": _plain(value), **{k: _encoded(v) for k, v in data.items()}}, metadata
    if _is(value, "matplotlib._figure", "Figure"):
        return {"text/plain": f"<Figure with {len(value.axes)} Axes>", "image/svg+xml": value._svg().decode("utf-8")}, {}
    if _is(value, "PIL.Image", "Image"):
        return {"text/plain": _plain(value), "image/png": _encoded(value._png())}, {}
    data = {"text/plain": _plain(value)}
    if _is(value, "torch", "Tensor") and value.dim() > 0 and value.numel() > 0:
        data["text/html"] = _table(value)
    for kind, name in _METHODS.items():
        method = getattr(value, name, None)
        made = method() if callable(method) else None
        if made is not None:
            data[kind] = _encoded(made)
    return data, {}


def _places(n):
    """The places along a dimension that are shown; None for those between."""
    if n <= 2 * _EDGE:
        return list(range(n))
    return list(range(_EDGE)) + [None] + list(range(n - _EDGE, n))


def _cell(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _table(tensor):
    """A tensor's last two dimensions as a table, under its shape and type."""
    shape = list(tensor.shape)
    what = [f"{' × '.join(str(n) for n in shape)}", str(tensor.dtype), str(tensor.device)]
    if tensor.requires_grad:
        what.append("requires grad")
    flat = tensor.detach()
    lead = flat.dim() - 2
    if lead > 0:
        what.append(f"[{', '.join('0' for _ in range(lead))}, :, :]")
        for _ in range(lead):
            flat = flat[0]
    if flat.dim() == 1:
        flat = flat.unsqueeze(0)
    rows, columns = _places(flat.shape[0]), _places(flat.shape[1])
    # One read, of what is shown.
    few = flat[[r for r in rows if r is not None]][:, [c for c in columns if c is not None]].tolist()
    lines, at = [], 0
    for row in rows:
        if row is None:
            lines.append("<tr>" + "<td>⋮</td>" * len(columns) + "</tr>")
            continue
        values = iter(few[at])
        at += 1
        cells = "".join("<td>…</td>" if c is None else f"<td>{_escaped(_cell(next(values)))}</td>" for c in columns)
        lines.append(f"<tr>{cells}</tr>")
    return f"<table><caption>{_escaped(' · '.join(what))}</caption><tbody>{''.join(lines)}</tbody></table>"


def _escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _tell(kind, value, id=None):
    data, metadata = _bundle(value)
    text = _json.dumps({"kind": kind, "data": data, "metadata": metadata, "id": id})
    sys._display("", "application/vnd.aludel.bundle+json", text.encode("utf-8"))


def _result(value):
    """Shows the value of a cell's last expression, and keeps it as `_`."""
    _namespace()["_"] = value
    if _is(value, "matplotlib._figure", "Figure"):
        # It is not shown once more when the cell ends.
        sys.modules["matplotlib.pyplot"].close(value)
    _tell("result", value)


def _close():
    """A cell ends: figures that it left open are shown."""
    plots = sys.modules.get("matplotlib.pyplot")
    if plots is not None and plots._state["open"]:
        plots.show()


# IPython.display

class DisplayObject:
    _media = "text/plain"

    def __init__(self, data=None, url=None, filename=None, metadata=None, **settings):
        if url is not None:
            raise NotImplementedError("display: nothing is fetched from the network; give data or filename")
        if filename is not None:
            with open(filename, "rb") as file:
                data = file.read()
            if not self._media.startswith("image/") or self._media == "image/svg+xml":
                data = data.decode("utf-8")
        self.data, self.metadata = data, metadata or {}

    def _repr_mimebundle_(self):
        return {self._media: self.data}, self.metadata

    def __repr__(self):
        return f"<IPython.core.display.{type(self).__name__} object>"


class HTML(DisplayObject):
    _media = "text/html"


class SVG(DisplayObject):
    _media = "image/svg+xml"


class Markdown(DisplayObject):
    _media = "text/markdown"


class Latex(DisplayObject):
    _media = "text/latex"


class Math(DisplayObject):
    _media = "text/latex"

    def _repr_mimebundle_(self):
        return {self._media: f"$\\displaystyle {self.data}$"}, self.metadata


class JSON(DisplayObject):
    _media = "application/json"


class Pretty(DisplayObject):
    def _repr_mimebundle_(self):
        return {"text/plain": self.data}, self.metadata


class Image(DisplayObject):
    def __init__(self, data=None, url=None, filename=None, format=None, **settings):
        name = filename or ""
        jpeg = (format or name.rsplit(".", 1)[-1]).lower() in ("jpg", "jpeg") or (data or b"")[:2] == b"\xff\xd8"
        self._media = "image/jpeg" if jpeg else "image/png"
        super().__init__(data, url, filename, **settings)


class DisplayHandle:
    _made = 0

    def __init__(self, display_id=None):
        DisplayHandle._made += 1
        self.display_id = display_id or f"display-{DisplayHandle._made}"

    def display(self, value):
        _tell("display", value, self.display_id)

    def update(self, value):
        _tell("update", value, self.display_id)


def display(*values, display_id=None, include=None, exclude=None, metadata=None, transient=None, clear=False, **settings):
    if clear:
        clear_output(wait=True)
    if display_id is None:
        for value in values:
            _tell("display", value)
        return None
    handle = DisplayHandle(None if display_id is True else display_id)
    for value in values:
        handle.display(value)
    return handle


def update_display(value, *, display_id, **settings):
    DisplayHandle(display_id).update(value)


def clear_output(wait=False):
    sys._display("", "application/vnd.aludel.clear", b"wait" if wait else b"")


class _Shell:
    """What scripts ask to know that they run in a notebook."""

    def __repr__(self):
        return "<aludel notebook>"


def get_ipython():
    return _shell


_shell = _Shell()
builtins.display, builtins.get_ipython = display, get_ipython


# Completion and inspection

def _is_part(c):
    return c == "_" or c == "." or c.isalnum()


def _value(path):
    """The value of dotted names, or an error."""
    first, *rest = path.split(".")
    names = _namespace()
    value = names[first] if first in names else getattr(builtins, first)
    for name in rest:
        value = getattr(value, name)
    return value


def _complete(before):
    """How many characters are typed of the name, then the names that begin with them."""
    start = len(before)
    while start > 0 and _is_part(before[start - 1]):
        start -= 1
    path = before[start:]
    line = before.rsplit("\n", 1)[-1].split()
    owner, _, typed = path.rpartition(".")
    if len(line) > 2 and line[0] == "from" and line[2] == "import":
        try:
            found = dir(__import__(line[1], fromlist=["_"]))
        except ImportError:
            found = []
    elif owner:
        try:
            found = dir(_value(owner))
        except Exception:
            found = []
    else:
        found = list(_namespace()) + dir(builtins) + _KEYWORDS
    found = {name for name in found if name.startswith(typed) and (typed.startswith("_") or not name.startswith("_"))}
    return [len(typed)] + sorted(found)


def _inspect(code, at):
    """What is known of the name at a place, or of the function whose call is being written there."""
    end = at
    while end < len(code) and (code[end] == "_" or code[end].isalnum()):
        end += 1
    start = at
    while start > 0 and _is_part(code[start - 1]):
        start -= 1
    path = code[start:end].strip(".")
    if not path:
        depth, i = 0, at - 1
        while i >= 0 and depth <= 0:
            depth += (code[i] == "(") - (code[i] == ")")
            i -= 1
        if depth <= 0:
            return None
        return _inspect(code, i + 1) if i >= 0 and _is_part(code[i]) else None
    try:
        value = _value(path)
    except Exception:
        return None
    lines = []
    if callable(value):
        try:
            lines.append(f"Signature: {path}{_inspector.signature(value)}")
        except Exception:
            pass
    elif not isinstance(value, type(sys)):
        text = _plain(value)
        lines.append(f"Value: {text if len(text) < 1000 else text[:1000] + '…'}")
    doc = _inspector.getdoc(value) if callable(value) or isinstance(value, type(sys)) else None
    if doc:
        lines.append(f"Docstring:\n{doc}")
    lines.append(f"Type: {type(value).__name__}")
    return "\n".join(lines)
