"""A figure's description as SVG."""

import math

_COLORS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"]
_NAMED = {"b": "#0000ff", "g": "#008000", "r": "#ff0000", "c": "#00bfbf", "m": "#bf00bf", "y": "#bfbf00", "k": "#000000", "w": "#ffffff"}
# Viridis at nine places (van der Walt and Smith, 2015).
_VIRIDIS = [(68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141), (39, 173, 129), (92, 200, 99), (170, 220, 50),
            (253, 231, 37)]


def _escape(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _shade(share, cmap):
    share = min(max(share, 0.0), 1.0)
    if cmap.lower().startswith(("gray", "grey")):
        v = int(255 * share)
        return f"#{v:02x}{v:02x}{v:02x}"
    if cmap.lower() in ("binary", "greys", "gray_r"):
        return _shade(1 - share, "gray")
    at = share * (len(_VIRIDIS) - 1)
    i = min(int(at), len(_VIRIDIS) - 2)
    r, g, b = [int(a + (b - a) * (at - i)) for a, b in zip(_VIRIDIS[i], _VIRIDIS[i + 1])]
    return f"#{r:02x}{g:02x}{b:02x}"


def _color(mark, index):
    color = mark.get("color")
    if color is None:
        color = next((c for c in mark.get("style") or "" if c in _NAMED), None)
    return _escape(_NAMED.get(color, color)) if isinstance(color, str) else _COLORS[index % len(_COLORS)]


class _Frame:
    """Where the values of an axes are on the page."""

    def __init__(self, axes, box):
        self.x0, self.y0, self.width, self.height = box
        self.logs = (axes["xscale"] == "log", axes["yscale"] == "log")
        xs, ys = [], []
        for mark in axes["marks"]:
            if mark["kind"] == "image":
                rows = mark["rows"]
                xs += [0, len(rows[0]) if rows else 1]
                ys += [0, len(rows)]
                continue
            xs += mark.get("x", []) + ([mark["at"]] if mark.get("axis") == "x" else [])
            ys += mark.get("y", []) + mark.get("low", []) + ([mark["at"]] if mark.get("axis") == "y" else [])
            if mark["kind"] == "bars":
                ys.append(0)
                xs += [min(mark["x"], default=0) - mark["width"] / 2, max(mark["x"], default=0) + mark["width"] / 2]
        self.images = any(mark["kind"] == "image" for mark in axes["marks"])
        self.x = self._range(xs, axes["xlim"], self.logs[0])
        self.y = self._range(ys, axes["ylim"], self.logs[1])
        if self.images:
            self.y = (self.y[1], self.y[0])

    def _range(self, values, limits, log):
        values = [self._scale(v, log) for v in values]
        values = [v for v in values if v is not None]
        low, high = min(values, default=0.0), max(values, default=1.0)
        margin = 0.0 if self.images else 0.05 * (high - low) or 0.5
        low, high = low - margin, high + margin
        if limits is not None:
            low = self._scale(limits[0], log) if limits[0] is not None else low
            high = self._scale(limits[1], log) if limits[1] is not None else high
        return low, high

    def _scale(self, v, log):
        if not isinstance(v, (int, float)) or not math.isfinite(v) or (log and v <= 0):
            return None
        return math.log10(v) if log else float(v)

    def at(self, x, y):
        x, y = self._scale(x, self.logs[0]), self._scale(y, self.logs[1])
        if x is None or y is None:
            return None
        (a, b), (c, d) = self.x, self.y
        return (self.x0 + (x - a) / ((b - a) or 1) * self.width, self.y0 + (1 - (y - c) / ((d - c) or 1)) * self.height)


def _points(frame, xs, ys):
    return [p for p in [frame.at(x, y) for x, y in zip(xs, ys)] if p is not None]


def _marks(axes, frame, put):
    index = 0
    for mark in axes["marks"]:
        kind, color = mark["kind"], _color(mark, index)
        if kind == "line":
            style = mark["style"] or ""
            points = _points(frame, mark["x"], mark["y"])
            if not style or "-" in style or not any(c in style for c in "o.x+s*^v"):
                dash = ' stroke-dasharray="6 4"' if "--" in style else ""
                put(f'<polyline fill="none" stroke="{color}" stroke-width="1.5"{dash} points="' +
                    " ".join([f"{x:.1f},{y:.1f}" for x, y in points]) + '"/>')
            if any(c in style for c in "o.x+s*^v"):
                put("".join([f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}"/>' for x, y in points]))
            index += 1
        elif kind == "points":
            values = mark["values"] if isinstance(mark["values"], list) else None
            numbers = values is not None and all(isinstance(v, (int, float)) for v in values)
            low, high = (min(values), max(values)) if numbers and values else (0, 1)
            for i, (x, y) in enumerate(zip(mark["x"], mark["y"])):
                p = frame.at(x, y)
                fill = _shade((values[i] - low) / ((high - low) or 1), "viridis") if numbers else _escape(
                    mark["values"]) if isinstance(mark["values"], str) else color
                if p is not None:
                    put(f'<circle cx="{p[0]:.1f}" cy="{p[1]:.1f}" r="3" fill="{_NAMED.get(fill, fill)}"/>')
            index += 1
        elif kind == "bars":
            labels = {x: i for i, x in enumerate(mark["x"])} if any(isinstance(x, str) for x in mark["x"]) else None
            for x, y in zip(mark["x"], mark["y"]):
                x = labels[x] if labels is not None else x
                a, b = frame.at(x - mark["width"] / 2, y), frame.at(x + mark["width"] / 2, 0)
                if a is not None and b is not None:
                    put(f'<rect x="{a[0]:.1f}" y="{min(a[1], b[1]):.1f}" width="{b[0] - a[0]:.1f}" height="{abs(b[1] - a[1]):.1f}" '
                        f'fill="{color}"/>')
            index += 1
        elif kind == "band":
            points = _points(frame, mark["x"], mark["y"]) + _points(frame, mark["x"][::-1], mark["low"][::-1])
            put(f'<polygon fill="{color}" fill-opacity="0.3" points="' + " ".join([f"{x:.1f},{y:.1f}" for x, y in points]) + '"/>')
            index += 1
        elif kind == "image":
            _image(mark, frame, put)
        elif kind == "text":
            p = frame.at(mark["x"][0], mark["y"][0])
            if p is not None:
                put(f'<text x="{p[0]:.1f}" y="{p[1]:.1f}" font-size="11">{_escape(mark["text"])}</text>')
        elif kind == "rule":
            (a, b), (c, d) = ((frame.x0, frame.y0 + frame.height), (frame.x0 + frame.width, frame.y0))
            x, y = (10 ** v if log else v for v, log in zip((frame.x[0], frame.y[0]), frame.logs))
            p = frame.at(mark["at"] if mark["axis"] == "x" else x, mark["at"] if mark["axis"] == "y" else y)
            if p is not None:
                ends = (p[0], b, p[0], d) if mark["axis"] == "x" else (a, p[1], c, p[1])
                put('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>' % (*ends, color))


def _image(mark, frame, put):
    rows = mark["rows"]
    flat = [v for row in rows for v in row if isinstance(v, (int, float))]
    low = mark["vmin"] if mark["vmin"] is not None else min(flat, default=0)
    high = mark["vmax"] if mark["vmax"] is not None else max(flat, default=1)
    for i, row in enumerate(rows):
        for j, v in enumerate(row):
            (x, y), (x2, y2) = frame.at(j, i), frame.at(j + 1, i + 1)
            if isinstance(v, list):
                bytes_ = [int(c * 255) if isinstance(c, float) else int(c) for c in v[:3]]
                fill = "#%02x%02x%02x" % tuple([min(max(c, 0), 255) for c in bytes_])
            else:
                fill = _shade((v - low) / ((high - low) or 1), mark["cmap"])
            put(f'<rect x="{x:.1f}" y="{min(y, y2):.1f}" width="{x2 - x + 0.3:.1f}" height="{abs(y2 - y) + 0.3:.1f}" fill="{fill}"/>')


def _axes(axes, box, put):
    from matplotlib._figure import ticks
    frame = _Frame(axes, box)
    x0, y0, width, height = box
    if axes["axis"] and not frame.images:
        for which, (low, high), log in (("x", frame.x, frame.logs[0]), ("y", frame.y, frame.logs[1])):
            for t in ticks(low, high):
                share = (t - low) / ((high - low) or 1)
                label = _escape(f"{10 ** t:.3g}" if log else f"{t:.6g}")
                if which == "x":
                    x = x0 + share * width
                    if axes["grid"]:
                        put(f'<line x1="{x:.1f}" y1="{y0}" x2="{x:.1f}" y2="{y0 + height}" stroke="#ccc"/>')
                    put(f'<text x="{x:.1f}" y="{y0 + height + 15:.1f}" font-size="10" text-anchor="middle">{label}</text>')
                else:
                    y = y0 + (1 - share) * height
                    if axes["grid"]:
                        put(f'<line x1="{x0}" y1="{y:.1f}" x2="{x0 + width}" y2="{y:.1f}" stroke="#ccc"/>')
                    put(f'<text x="{x0 - 5:.1f}" y="{y + 3:.1f}" font-size="10" text-anchor="end">{label}</text>')
    _marks(axes, frame, put)
    if axes["axis"]:
        put(f'<rect x="{x0:.1f}" y="{y0:.1f}" width="{width:.1f}" height="{height:.1f}" fill="none" stroke="#000"/>')
    middle = x0 + width / 2
    put(f'<text x="{middle:.1f}" y="{y0 - 6:.1f}" font-size="13" text-anchor="middle">{_escape(axes["title"])}</text>')
    put(f'<text x="{middle:.1f}" y="{y0 + height + 31:.1f}" font-size="11" text-anchor="middle">{_escape(axes["xlabel"])}</text>')
    x, y = x0 - 42, y0 + height / 2
    put(f'<text x="{x:.1f}" y="{y:.1f}" font-size="11" text-anchor="middle" transform="rotate(-90 {x:.1f} {y:.1f})">'
        f'{_escape(axes["ylabel"])}</text>')
    if axes["legend"]:
        shown = [m for m in axes["marks"] if m["kind"] in ("line", "points", "bars", "band")]
        for row, (i, mark) in enumerate([(i, m) for i, m in enumerate(shown) if m.get("label")]):
            y = y0 + 15 + 15 * row
            put(f'<rect x="{x0 + width - 90:.1f}" y="{y - 8:.1f}" width="12" height="8" fill="{_color(mark, i)}"/>')
            put(f'<text x="{x0 + width - 74:.1f}" y="{y:.1f}" font-size="11">{_escape(mark["label"])}</text>')


def svg(figure):
    width, height = [v * 100 for v in figure["figsize"]]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" font-family="sans-serif">',
             '<rect width="100%" height="100%" fill="#fff"/>']
    top = 24 if figure["title"] else 0
    parts.append(f'<text x="{width / 2:.1f}" y="18" font-size="15" text-anchor="middle">{_escape(figure["title"])}</text>')
    cell = (width / figure["columns"], (height - top) / figure["rows"])
    for axes in figure["axes"]:
        box = (axes["column"] * cell[0] + 60, axes["row"] * cell[1] + top + 30, cell[0] - 80, cell[1] - 75)
        _axes(axes, box, parts.append)
    return "\n".join(parts + ["</svg>"]) + "\n"
