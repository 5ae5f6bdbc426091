"""Figures: what was drawn, as plain data. `description` is what a page draws from."""

import math
import sys


def _list(values):
    if values is None:
        return None
    if hasattr(values, "detach"):
        values = values.detach()
    if hasattr(values, "tolist"):
        values = values.tolist()
    out = [v.item() if hasattr(v, "item") else v for v in (values if isinstance(values, (list, tuple, range)) else list(values))]
    return out


class Axes:
    def __init__(self, figure):
        self.figure = figure
        self.marks, self.texts = [], {"title": "", "xlabel": "", "ylabel": ""}
        self.limits, self.scales = {"x": None, "y": None}, {"x": "linear", "y": "linear"}
        self.legend_shown = self.grid_shown = False
        self.axis_shown = True
        self.xaxis = self.yaxis = _Axis()

    def _add(self, kind, **data):
        self.marks.append({"kind": kind, **data})

    def plot(self, *args, **settings):
        made = []
        args = list(args)
        while args:
            x = _list(args.pop(0))
            y = None
            if args and not isinstance(args[0], str):
                y = _list(args.pop(0))
            style = args.pop(0) if args and isinstance(args[0], str) else ""
            if y is None:
                x, y = list(range(len(x))), x
            if len(x) != len(y):
                raise ValueError(f"x and y must have same first dimension, but have shapes ({len(x)},) and ({len(y)},)")
            self._add("line", x=x, y=y, style=style, label=settings.get("label"), color=settings.get("color", settings.get("c")))
            made.append(self.marks[-1])
        return made

    def scatter(self, x, y, s=None, c=None, **settings):
        x, y = _list(x), _list(y)
        if len(x) != len(y):
            raise ValueError("x and y must be the same size")
        self._add("points", x=x, y=y, values=c if isinstance(c, str) or c is None else _list(c), label=settings.get("label"),
                  color=settings.get("color"))

    def bar(self, x, height, width=0.8, **settings):
        self._add("bars", x=_list(x), y=_list(height), width=width, label=settings.get("label"), color=settings.get("color"))

    def hist(self, x, bins=10, range=None, density=False, **settings):
        import numpy as np
        counts, edges = np.histogram(_list(x), bins, range)
        counts, edges = counts.tolist(), edges.tolist()
        if density:
            total = sum(counts) or 1
            counts = [c / total / (b - a) for c, a, b in zip(counts, edges, edges[1:])]
        self._add("bars", x=[(a + b) / 2 for a, b in zip(edges, edges[1:])], y=counts, width=edges[1] - edges[0],
                  label=settings.get("label"), color=settings.get("color"))
        return counts, edges, None

    def imshow(self, X, cmap=None, vmin=None, vmax=None, **settings):
        rows = _list(X)
        self._add("image", rows=rows, cmap=str(cmap or "viridis"), vmin=vmin, vmax=vmax)
        return _Mappable()

    def fill_between(self, x, y1, y2=0, **settings):
        x, y1 = _list(x), _list(y1)
        y2 = [y2] * len(x) if isinstance(y2, (int, float)) else _list(y2)
        self._add("band", x=x, y=y1, low=y2, label=settings.get("label"), color=settings.get("color"))

    def axhline(self, y=0, **settings):
        self._add("rule", at=y, axis="y", label=settings.get("label"), color=settings.get("color"))

    def axvline(self, x=0, **settings):
        self._add("rule", at=x, axis="x", label=settings.get("label"), color=settings.get("color"))

    def text(self, x, y, s, **settings):
        self._add("text", x=[float(x)], y=[float(y)], text=str(s))

    def set_title(self, label, **settings):
        self.texts["title"] = str(label)

    def set_xlabel(self, label, **settings):
        self.texts["xlabel"] = str(label)

    def set_ylabel(self, label, **settings):
        self.texts["ylabel"] = str(label)

    def set_xlim(self, left=None, right=None):
        self.limits["x"] = left if isinstance(left, (tuple, list)) else (left, right)

    def set_ylim(self, bottom=None, top=None):
        self.limits["y"] = bottom if isinstance(bottom, (tuple, list)) else (bottom, top)

    def set_xscale(self, value, **settings):
        self.scales["x"] = value

    def set_yscale(self, value, **settings):
        self.scales["y"] = value

    def semilogy(self, *args, **settings):
        self.scales["y"] = "log"
        return self.plot(*args, **settings)

    def legend(self, *args, **settings):
        self.legend_shown = True
        if args:
            for mark, label in zip(self.marks, args[0] if len(args) == 1 else args[1]):
                mark["label"] = label

    def grid(self, visible=True, *args, **settings):
        self.grid_shown = bool(visible)

    def axis(self, arg=None):
        if arg == "off":
            self.axis_shown = False

    def set_axis_off(self):
        self.axis_shown = False

    def set_xticks(self, ticks=None, labels=None, **settings):
        self.xticks = None if ticks is None else _list(ticks)

    def set_yticks(self, ticks=None, labels=None, **settings):
        self.yticks = None if ticks is None else _list(ticks)

    def set_aspect(self, aspect, **settings):
        pass

    def tick_params(self, *args, **settings):
        pass

    def twinx(self):
        raise NotImplementedError("Axes.twinx")

    def cla(self):
        self.__init__(self.figure)

    clear = cla

    def description(self):
        return {"marks": self.marks, **self.texts, "xlim": self.limits["x"], "ylim": self.limits["y"], "xscale": self.scales["x"],
                "yscale": self.scales["y"], "legend": self.legend_shown, "grid": self.grid_shown, "axis": self.axis_shown}


class _Axis:
    def set_major_locator(self, locator):
        pass


class _Mappable:
    pass


class Figure:
    def __init__(self, figsize=(6.4, 4.8), dpi=100):
        self.figsize, self.dpi, self.number = tuple(figsize), dpi, 0
        self.clear()

    def clear(self):
        self.axes, self.rows, self.columns, self.title = {}, 1, 1, ""

    def add_subplot(self, *args, **settings):
        if len(args) == 1 and args[0] >= 100:
            args = (args[0] // 100, args[0] // 10 % 10, args[0] % 10)
        rows, columns, place = args or (1, 1, 1)
        self.rows, self.columns = max(self.rows, rows), max(self.columns, columns)
        place -= 1
        return self.axes.setdefault((place // columns, place % columns), Axes(self))

    gca = add_subplot

    def suptitle(self, t, **settings):
        self.title = str(t)

    def colorbar(self, mappable=None, ax=None, **settings):
        pass

    def tight_layout(self, **settings):
        pass

    def subplots_adjust(self, **settings):
        pass

    def description(self):
        """Everything that was drawn, as lists, numbers and strings."""
        return {"figsize": list(self.figsize), "title": self.title, "rows": self.rows, "columns": self.columns,
                "axes": [{"row": r, "column": c, **axes.description()} for (r, c), axes in sorted(self.axes.items())]}

    def _svg(self):
        from matplotlib._svg import svg
        return svg(self.description()).encode("utf-8")

    def show(self, *args, **settings):
        sys._display(f"figure {self.number}.svg", "image/svg+xml", self._svg())

    def savefig(self, fname, **settings):
        data = self._svg()
        if hasattr(fname, "write"):
            fname.write(data)
            return
        name = str(fname)
        if not name.lower().endswith(".svg"):
            name = (name.rsplit(".", 1)[0] if "." in name.rsplit("/", 1)[-1] else name) + ".svg"
            sys.stderr.write(f"aludel: figures are written as SVG: {name}\n")
        with open(name, "wb") as file:
            file.write(data)


def ticks(low, high, count=5):
    """Round numbers between two: steps of 1, 2 or 5 times a power of ten."""
    if not (math.isfinite(low) and math.isfinite(high)) or low >= high:
        return [low]
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= raw)
    first = math.ceil(low / step)
    out = []
    while first * step <= high + step * 1e-9 and len(out) < 50:
        out.append(first * step)
        first += 1
    return out
