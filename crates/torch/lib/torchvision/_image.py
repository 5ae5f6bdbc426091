"""An image as data sets give it: bytes in rows, with the few methods of PIL's that scripts call."""

import numpy as np


class Image:
    """`array` is uint8, [rows, columns] or [rows, columns, 3]."""

    def __init__(self, array):
        self._array = array

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
        return "L" if self._array.ndim == 2 else "RGB"

    def __array__(self, dtype=None):
        return self._array

    def numpy(self):
        return self._array

    def convert(self, mode):
        if mode == self.mode:
            return self
        if mode == "RGB":
            return Image(np.stack([self._array] * 3, axis=2))
        if mode == "L":
            # ITU-R 601-2, in PIL's whole numbers.
            a = self._array.astype(np.int64)
            return Image(((a[:, :, 0] * 19595 + a[:, :, 1] * 38470 + a[:, :, 2] * 7471 + 0x8000) // 65536).astype(np.uint8))
        raise NotImplementedError(f"Image.convert({mode!r})")

    def __repr__(self):
        return f"<PIL.Image.Image image mode={self.mode} size={self.size[0]}x{self.size[1]}>"
