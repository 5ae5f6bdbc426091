"""Progress bars: iterables that are passed through; a closing line goes to the error output."""

import sys
import time


class tqdm:
    def __init__(self, iterable=None, desc=None, total=None, leave=True, disable=False, **kwargs):
        self.iterable, self.desc, self.disable = iterable, desc, disable
        self.total = total if total is not None else (len(iterable) if hasattr(iterable, "__len__") else None)
        self.n, self._start, self._shown = 0, time.time(), 0.0
        self._postfix = ""

    def __iter__(self):
        for item in self.iterable:
            yield item
            self.update()
        self.close()

    def __len__(self):
        return self.total

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def update(self, n=1):
        self.n += n
        now = time.time()
        if now - self._shown > 0.5 and sys.stderr.isatty():
            self._shown = now
            self._show("")

    def _show(self, end):
        if self.disable:
            return
        of = "" if self.total is None else f"/{self.total}"
        head = "" if not self.desc else f"{self.desc}: "
        tail = f", {self._postfix}" if self._postfix else ""
        sys.stderr.write(f"\r{head}{self.n}{of} [{time.time() - self._start:.1f}s{tail}]{end}")

    def close(self):
        self._show("\n")
        self.disable = True

    def set_description(self, desc=None, refresh=True):
        self.desc = desc

    def set_postfix(self, ordered_dict=None, refresh=True, **kwargs):
        values = dict(ordered_dict or {})
        values.update(kwargs)
        self._postfix = ", ".join([f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}" for k, v in values.items()])

    def set_postfix_str(self, s="", refresh=True):
        self._postfix = s

    def refresh(self):
        pass

    @staticmethod
    def write(s, file=None, end="\n"):
        sys.stdout.write(str(s) + end)


def trange(*args, **kwargs):
    return tqdm(range(*args), **kwargs)
