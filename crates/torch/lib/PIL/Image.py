"""PIL.Image: rows of bytes with one channel (`L`), three (`RGB`) or four (`RGBA`)."""

from PIL import UnidentifiedImageError
from torch import _C
import builtins
import enum
import numpy as np
import os
import sys


class Resampling(enum.IntEnum):
    NEAREST = 0
    LANCZOS = 1
    BILINEAR = 2
    BICUBIC = 3
    BOX = 4
    HAMMING = 5


NEAREST, LANCZOS, BILINEAR, BICUBIC, BOX, HAMMING = Resampling
ANTIALIAS = LANCZOS


class Transpose(enum.IntEnum):
    FLIP_LEFT_RIGHT = 0
    FLIP_TOP_BOTTOM = 1
    ROTATE_90 = 2
    ROTATE_180 = 3
    ROTATE_270 = 4


FLIP_LEFT_RIGHT, FLIP_TOP_BOTTOM, ROTATE_90, ROTATE_180, ROTATE_270 = list(Transpose)


class Image:
    """`array` is uint8, [rows, columns] or [rows, columns, channels]."""

    format = None
    _shown = 0

    def __init__(self, array):
        self._array = array
        self.info = {}

    @property
    def size(self):
        return (self._array.shape[1], self._array.shape[0])

    @property
    def width(self):
        return self.size[0]

    @property
    def height(self):
        return self.size[1]

    @property
    def mode(self):
        return "L" if self._array.ndim == 2 else {3: "RGB", 4: "RGBA"}[self._array.shape[2]]

    def __array__(self, dtype=None):
        return self._array if dtype is None else self._array.astype(dtype)

    def numpy(self):
        return self._array

    def getbands(self):
        return tuple(self.mode)

    def load(self):
        pass

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def __eq__(self, other):
        return isinstance(other, Image) and self.size == other.size and self.mode == other.mode and bool((self._array == other._array).all())

    def copy(self):
        return Image(self._array.copy())

    def tobytes(self):
        return self._array.tobytes()

    def getpixel(self, xy):
        value = self._array[xy[1], xy[0]]
        return int(value) if self._array.ndim == 2 else tuple([int(v) for v in value])

    def putpixel(self, xy, value):
        self._array[xy[1], xy[0]] = value

    def split(self):
        return (self,) if self._array.ndim == 2 else tuple([Image(self._array[:, :, i]) for i in range(self._array.shape[2])])

    def convert(self, mode):
        if mode == self.mode:
            return self.copy()
        a = self._array
        if mode == "RGB":
            return Image(np.stack([a] * 3, axis=2) if a.ndim == 2 else a[:, :, :3].copy())
        if mode == "RGBA":
            color = self.convert("RGB")._array
            full = np.full(color.shape[:2] + (1,), 255, dtype=np.uint8)
            return Image(np.concatenate([color, full], axis=2))
        if mode == "L":
            # ITU-R 601-2, in PIL's whole numbers.
            a = a.astype(np.int64)
            return Image(((a[:, :, 0] * 19595 + a[:, :, 1] * 38470 + a[:, :, 2] * 7471 + 0x8000) // 65536).astype(np.uint8))
        raise NotImplementedError(f"Image.convert({mode!r})")

    def resize(self, size, resample=None, box=None, reducing_gap=None):
        from torchvision.transforms import functional
        resample = (NEAREST if self.mode == "1" else BICUBIC) if resample is None else resample
        if resample in (LANCZOS, BOX, HAMMING):
            raise NotImplementedError(f"Image.resize by {Resampling(resample).name}; BICUBIC is there")
        mode = {NEAREST: "nearest", BILINEAR: "bilinear", BICUBIC: "bicubic"}[resample]
        return functional.resize(self if box is None else self.crop(box), (size[1], size[0]), mode)

    def thumbnail(self, size, resample=BICUBIC, reducing_gap=2.0):
        scale = min(size[0] / self.width, size[1] / self.height)
        if scale < 1:
            self._array = self.resize((max(1, round(self.width * scale)), max(1, round(self.height * scale))), resample)._array

    def crop(self, box=None):
        left, top, right, bottom = (0, 0) + self.size if box is None else [int(round(v)) for v in box]
        from torchvision.transforms import functional
        return functional.crop(self, top, left, bottom - top, right - left)

    def transpose(self, method):
        a = self._array
        if method == FLIP_LEFT_RIGHT:
            return Image(a[:, ::-1].copy())
        if method == FLIP_TOP_BOTTOM:
            return Image(a[::-1].copy())
        return Image(np.rot90(a, {ROTATE_90: 1, ROTATE_180: 2, ROTATE_270: 3}[method]).copy())

    def paste(self, im, box=(0, 0)):
        x, y = box[:2]
        if isinstance(im, Image):
            self._array[y:y + im.height, x:x + im.width] = im.convert(self.mode)._array
        else:
            self._array[box[1]:box[3], box[0]:box[2]] = im

    def save(self, fp, format=None, **params):
        kind = format or os.path.splitext(str(fp))[1][1:]
        if kind.lower() != "png":
            raise NotImplementedError(f"Image.save as {kind or 'nothing'}: PNG is written")
        data = self._png()
        if hasattr(fp, "write"):
            fp.write(data)
        else:
            with builtins.open(fp, "wb") as file:
                file.write(data)

    def _png(self):
        return _C.png(self._array.tobytes(), self.width, self.height)

    def show(self, title=None):
        Image._shown += 1
        if not sys._display(f"{title or 'image'} {Image._shown}.png", "image/png", self._png()):
            raise NotImplementedError("Image.show; save it")

    def __repr__(self):
        return f"<PIL.Image.Image image mode={self.mode} size={self.size[0]}x{self.size[1]}>"


def open(fp, mode="r", formats=None):
    """A file's image; files of other kinds than PNG and JPEG, and all of them in a page, are refused."""
    if hasattr(fp, "read"):
        data = fp.read()
    else:
        with builtins.open(fp, "rb") as file:
            data = file.read()
    found = _C.decode_image(data)
    if found is None:
        raise UnidentifiedImageError(f"cannot identify image file {fp!r}")
    pixels, width, height, channels, kind = found
    made = Image(np.frombuffer(pixels, np.uint8).reshape((height, width) if channels == 1 else (height, width, channels)))
    made.format = kind
    return made


def new(mode, size, color=0):
    channels = {"L": 1, "RGB": 3, "RGBA": 4}[mode]
    value = [color] * channels if isinstance(color, int) else list(color)
    array = np.zeros((size[1], size[0]) if channels == 1 else (size[1], size[0], channels), dtype=np.uint8)
    array[...] = value[0] if channels == 1 else np.array(value, dtype=np.uint8)
    return Image(array)


def fromarray(obj, mode=None):
    a = np.asarray(obj)
    if a.dtype != np.uint8:
        raise TypeError(f"Cannot handle this data type: {a.shape}, {a.dtype}")
    return Image(a.copy() if a.ndim == 2 or a.shape[2] > 1 else a[:, :, 0])
