"""Progress bars: iterables that are passed through. On a terminal the bar is drawn while they are, elsewhere a closing line is written."""

import sys
import time


def _interval(seconds):
    minutes, s = divmod(int(seconds), 60)
    h, m = divmod(minutes, 60)
    return f"{h}:{m:02d}:{s:02d}" if h else f"{m:02d}:{s:02d}"


class tqdm:
    def __init__(self, iterable=None, desc=None, total=None, leave=True, mininterval=0.1, unit="it", disable=False, initial=0, postfix=None,
                 **kwargs):
        self.iterable, self.desc, self.leave, self.mininterval, self.unit = iterable, desc, leave, mininterval, unit
        self.total = total if total is not None else (len(iterable) if hasattr(iterable, "__len__") else None)
        self.n, self.initial, self._start, self._shown = initial, initial, time.time(), 0.0
        self.disable, self._live, self._postfix = bool(disable), sys.stderr.isatty(), ""
        if postfix:
            self.set_postfix(postfix, False)

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
        if self.disable:
            return
        self.n += n
        if self._live and time.time() - self._shown > self.mininterval:
            self.refresh()

    def __str__(self):
        """The bar as tqdm writes it."""
        elapsed = time.time() - self._start
        rate = (self.n - self.initial) / elapsed if elapsed > 0 else 0.0
        speed = f"?{self.unit}/s" if not rate else f"{rate:.2f}{self.unit}/s" if rate >= 1 else f"{1 / rate:.2f}s/{self.unit}"
        head = f"{self.desc}: " if self.desc else ""
        tail = f", {speed}{', ' + self._postfix if self._postfix else ''}]"
        if not self.total:
            return f"{head}{self.n}{self.unit} [{_interval(elapsed)}{tail}"
        share = min(self.n / self.total, 1.0)
        eighths = int(share * 80)
        bar = ("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8]).ljust(10)[:10]
        left = _interval((self.total - self.n) / rate) if rate else "?"
        return f"{head}{share * 100:3.0f}%|{bar}| {self.n}/{self.total} [{_interval(elapsed)}<{left}{tail}"

    def refresh(self, *args, **kwargs):
        if self._live and not self.disable:
            self._shown = time.time()
            sys.stderr.write("\r" + str(self))

    def close(self):
        if not self.disable:
            sys.stderr.write(f"\r{self}\n" if self.leave else "\r\x1b[K" if self._live else "")
        self.disable = True

    def reset(self, total=None):
        self.total = self.total if total is None else total
        self.n, self._start = 0, time.time()

    def clear(self, *args, **kwargs):
        pass

    def set_description(self, desc=None, refresh=True):
        self.desc = desc

    set_description_str = set_description

    def set_postfix(self, ordered_dict=None, refresh=True, **kwargs):
        values = dict(ordered_dict or {})
        values.update(kwargs)
        for name, value in values.items():
            sys._log(name, None, value)
        self._postfix = ", ".join([f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}" for k, v in values.items()])

    def set_postfix_str(self, s="", refresh=True):
        self._postfix = s

    @staticmethod
    def write(s, file=None, end="\n", nolock=False):
        (sys.stdout if file is None else file).write(str(s) + end)


def trange(*args, **kwargs):
    return tqdm(range(*args), **kwargs)
