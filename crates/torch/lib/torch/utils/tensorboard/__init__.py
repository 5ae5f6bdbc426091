"""TensorBoard's event files: TFRecords of the messages of TensorFlow's event.proto and summary.proto, the fields that are used here."""

from torch import _C
import math
import os
import sys
import time


def _varint(n):
    out = b""
    n &= (1 << 64) - 1
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def _field(number, kind, data):
    """A field of a message: 0 a whole number, 1 eight bytes, 2 bytes with their length, 5 four bytes."""
    head = _varint(number << 3 | kind)
    if kind == 0:
        return head + _varint(data)
    return head + (_varint(len(data)) if kind == 2 else b"") + data


def _text(number, text):
    return _field(number, 2, text.encode("utf-8"))


def _masked(data):
    crc = _C.crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8 & 0xffffffff).to_bytes(4, "little")


def _record(payload):
    size = len(payload).to_bytes(8, "little")
    return size + _masked(size) + payload + _masked(payload)


def _summary(tag, value):
    return _field(5, 2, _field(1, 2, _text(1, tag) + value))


def _bytes(part):
    """A record of an event: of what it says, or of a number's tag and value; or what is written already."""
    if isinstance(part, bytes):
        return part
    step, what, *number, walltime = part
    if number:
        what = _summary(what, _field(2, 5, _C.pack_float(number[0], 4)))
    return _record(_field(1, 1, _C.pack_float(walltime, 8)) + _field(2, 0, int(step or 0)) + what)


class SummaryWriter:
    """Adds values to a new event file of a directory. The file is written whole at `flush` and `close`, and every so many values."""

    _count = [0]

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        if not log_dir:
            log_dir = os.path.join("runs", time.strftime("%b%d_%H-%M-%S") + comment)
        self.log_dir = str(log_dir)
        os.makedirs(self.log_dir, exist_ok=True)
        SummaryWriter._count[0] += 1
        name = f"events.out.tfevents.{int(time.time())}.aludel.{os.getpid()}.{SummaryWriter._count[0]}{filename_suffix}"
        self._path, self._parts, self._new = os.path.join(self.log_dir, name), [], 0
        self._event(0, _text(3, "brain.Event:2"))
        self.flush()

    def _event(self, step, what, walltime=None):
        self._add((step, what, walltime or time.time()))

    # Kept as it is given until it is written: a turn of a loop that adds numbers is repeated without running this.
    def _add(self, event):
        self._parts.append(event)
        self._new += 1
        if self._new >= 100:
            self.flush()

    def _summary(self, tag, step, value, walltime=None):
        self._event(step, _summary(tag, value), walltime)

    def get_logdir(self):
        return self.log_dir

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
        value = scalar_value if isinstance(scalar_value, (float, int)) or not hasattr(scalar_value, "item") else scalar_value.item()
        sys._log(tag, global_step, value)
        self._add((global_step, tag, value, walltime or time.time()))

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        for tag, value in tag_scalar_dict.items():
            self.add_scalar(f"{main_tag}/{tag}", value, global_step, walltime)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        # A tensor of one string, which the plugin of texts shows.
        plugin = _field(9, 2, _field(1, 2, _text(1, "text")))
        tensor = _field(8, 2, _field(1, 0, 7) + _field(2, 2, _field(2, 2, _field(1, 0, 1))) + _text(8, text_string))
        self._summary(tag + "/text_summary", global_step, plugin + tensor, walltime)

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None):
        values = values.reshape(-1).tolist() if hasattr(values, "reshape") else list(values)
        low, high = min(values), max(values)
        count = 30
        width = (high - low) / count or 1.0
        counts = [0] * count
        for v in values:
            counts[min(int((v - low) / width), count - 1)] += 1
        edges = [low + width * (i + 1) for i in range(count)]
        numbers = [low, high, float(len(values)), math.fsum(values), math.fsum([v * v for v in values])]
        histo = b"".join([_field(i + 1, 1, _C.pack_float(v, 8)) for i, v in enumerate(numbers)])
        histo += _field(6, 2, b"".join([_C.pack_float(e, 8) for e in edges]))
        histo += _field(7, 2, b"".join([_C.pack_float(float(c), 8) for c in counts]))
        self._summary(tag, global_step, _field(5, 2, histo), walltime)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        import torch
        x = img_tensor if isinstance(img_tensor, torch.Tensor) else torch.from_numpy(img_tensor)
        x = x.permute([dataformats.index(c) for c in "HWC"]) if "C" in dataformats else x.unsqueeze(-1)
        x = (x * 255).clamp(0, 255).to(torch.uint8) if x.dtype.is_floating_point else x
        x = x.expand(x.shape[0], x.shape[1], 3) if x.shape[2] == 1 else x
        data = _C.png(_C.to_bytes(x), x.shape[1], x.shape[0])
        image = _field(1, 0, x.shape[0]) + _field(2, 0, x.shape[1]) + _field(3, 0, 3) + _field(4, 2, data)
        self._summary(tag, global_step, _field(4, 2, image), walltime)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        from torchvision.utils import make_grid
        self.add_image(tag, make_grid(img_tensor), global_step, walltime)

    def add_hparams(self, hparam_dict, metric_dict, **kwargs):
        self.add_text("hparams", "\n".join([f"|{k}|{v}|" for k, v in hparam_dict.items()]))
        for tag, value in metric_dict.items():
            self.add_scalar(tag, value)

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        raise NotImplementedError("SummaryWriter.add_graph; aludel explain shows a script's graph")

    def flush(self):
        if self._new:
            with open(self._path, "wb") as file:
                self._parts = [b"".join([_bytes(part) for part in self._parts])]
                file.write(self._parts[0])
            self._new = 0

    def close(self):
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
