"""Weights & Biases without its service: what is logged is written as TensorBoard's event files below `wandb/`."""

import os
import sys
import time

run = None


class _Config(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value

    def update(self, values=(), allow_val_change=None, **more):
        dict.update(self, vars(values) if hasattr(values, "__dict__") and not isinstance(values, dict) else values, **more)


config, summary = _Config(), _Config()


class Run:
    def __init__(self, project, name, directory):
        self.project, self.name, self.id, self.dir = project, name or "run", "offline", directory
        self.config, self.summary, self.step, self._writer = config, summary, 0, None

    def log(self, data, step=None, commit=True):
        step = self.step if step is None else step
        for key, value in data.items():
            if hasattr(value, "item") or isinstance(value, (int, float)):
                value = float(value)
                summary[key] = value
                if self._writer is None and self.dir:
                    from torch.utils.tensorboard import SummaryWriter
                    self._writer = SummaryWriter(self.dir)
                if self._writer:
                    self._writer.add_scalar(key, value, step)
        self.step = step + (1 if commit else 0)

    def watch(self, *args, **kwargs):
        pass

    def finish(self, exit_code=None):
        if self._writer:
            self._writer.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        finish()


def init(project=None, entity=None, config=None, name=None, mode=None, dir=None, **kwargs):
    global run
    globals()["config"].clear()
    globals()["config"].update(config or {})
    directory = None
    if mode != "disabled" and os.environ.get("WANDB_MODE") != "disabled":
        directory = os.path.join(dir or "wandb", time.strftime("offline-run-%Y%m%d_%H%M%S"))
        print(f"wandb: scripts have no network here; what is logged goes to {directory} for TensorBoard", file=sys.stderr)
    run = Run(project, name, directory)
    return run


def _started():
    if run is None:
        raise Exception("You must call wandb.init() before wandb.log()")
    return run


def log(data, step=None, commit=True):
    _started().log(data, step, commit)


def watch(*args, **kwargs):
    pass


def login(*args, **kwargs):
    return True


def save(*args, **kwargs):
    pass


def finish(exit_code=None):
    global run
    if run is not None:
        run.finish()
    run = None


def Image(data, caption=None, **kwargs):
    return data


def Histogram(data, **kwargs):
    return data
