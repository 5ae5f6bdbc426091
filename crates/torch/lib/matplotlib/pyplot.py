"""matplotlib.pyplot: the functions that scripts call, on the present figure."""

import contextlib
import _missing
from matplotlib import rcParams
from matplotlib._figure import Axes, Figure

_state = {"figure": None, "axes": None, "open": [], "made": 0}
# As many figures stay open, waiting to be shown.
_OPEN = 20


class _Style:
    @staticmethod
    def use(style):
        pass

    @staticmethod
    @contextlib.contextmanager
    def context(style, after_reset=False):
        yield


style = _Style()


def figure(num=None, figsize=(6.4, 4.8), dpi=100, **settings):
    fig = Figure(figsize, dpi)
    _state["made"] += 1
    fig.number = _state["made"]
    _state["figure"], _state["axes"] = fig, None
    _state["open"] = _state["open"][1 - _OPEN:] + [fig]
    return fig


def gcf():
    return _state["figure"] or figure()


def gca():
    if _state["axes"] is None:
        _state["axes"] = gcf().add_subplot(1, 1, 1)
    return _state["axes"]


def sca(ax):
    _state["axes"], _state["figure"] = ax, ax.figure


def subplot(*args, **settings):
    _state["axes"] = gcf().add_subplot(*args)
    return _state["axes"]


def subplots(nrows=1, ncols=1, figsize=(6.4, 4.8), squeeze=True, **settings):
    fig = figure(figsize=figsize)
    grid = [[fig.add_subplot(nrows, ncols, r * ncols + c + 1) for c in range(ncols)] for r in range(nrows)]
    _state["axes"] = grid[0][0]
    if not squeeze:
        return fig, _Grid(grid)
    if nrows == 1 and ncols == 1:
        return fig, grid[0][0]
    return fig, _Grid(grid[0] if nrows == 1 else [row[0] for row in grid] if ncols == 1 else grid)


class _Grid(list):
    """Axes in rows, as NumPy's arrays of objects are indexed."""

    def __getitem__(self, index):
        if isinstance(index, tuple):
            return list.__getitem__(self, index[0])[index[1]]
        return list.__getitem__(self, index)

    def flatten(self):
        return [a for row in self for a in (row if isinstance(row, list) else [row])]

    ravel = flatten

    @property
    def flat(self):
        return iter(self.flatten())


for _name, _method in (
    ("plot", "plot"), ("scatter", "scatter"), ("bar", "bar"), ("hist", "hist"), ("imshow", "imshow"), ("fill_between", "fill_between"),
    ("axhline", "axhline"), ("axvline", "axvline"), ("text", "text"), ("title", "set_title"), ("xlabel", "set_xlabel"),
    ("ylabel", "set_ylabel"), ("xlim", "set_xlim"), ("ylim", "set_ylim"), ("xscale", "set_xscale"), ("yscale", "set_yscale"),
    ("semilogy", "semilogy"), ("legend", "legend"), ("grid", "grid"), ("axis", "axis"), ("xticks", "set_xticks"), ("yticks", "set_yticks"),
    ("cla", "cla"),
):
    globals()[_name] = (lambda method: lambda *args, **kwargs: getattr(gca(), method)(*args, **kwargs))(_method)


def suptitle(t, **settings):
    gcf().suptitle(t)


def colorbar(*args, **settings):
    gcf().colorbar()


def tight_layout(**settings):
    pass


def subplots_adjust(**settings):
    pass


def savefig(fname, **settings):
    gcf().savefig(fname)


def show(*args, **settings):
    """Shows the open figures in a page or notebook; on the command line there is no window, and `savefig` writes them."""
    for fig in _state["open"]:
        fig.show()
    close("all")


def close(fig=None):
    _state["open"] = [] if fig == "all" else [f for f in _state["open"] if f is not (_state["figure"] if fig is None else fig)]
    if _state["figure"] not in _state["open"]:
        _state["figure"] = _state["axes"] = None


def clf():
    if _state["figure"] is not None:
        _state["figure"].clear()
    _state["axes"] = None


def draw():
    """Shows the figure as it is now, in place of how it was shown before."""
    if _state["figure"] is not None:
        _state["figure"].show()


def pause(interval):
    draw()


def ion():
    pass


ioff = ion


__getattr__ = _missing.names("matplotlib.pyplot", globals())
