"""Elements of arrays: their kinds, what encoders make of them, and what is made of arrays around training."""

import io
import json
import numpy as np
import torch


class Encoder(json.JSONEncoder):
    def default(self, value):
        if isinstance(value, np.integer):
            return int(value)
        if isinstance(value, np.floating):
            return float(value)
        if isinstance(value, np.ndarray):
            return value.tolist()
        return super().default(value)


a, y, u = np.array([1.5, 2.5], dtype=np.float32), np.array([1, 2]), np.array([3], dtype=np.uint8)
print(json.dumps({"a": a[0], "m": a.mean(), "i": y[0], "u": u[0], "v": a, "f": np.float64(2.5), "n": [y.sum(), a.max()]}, cls=Encoder))
print(isinstance(a[0], np.floating), isinstance(y[0], np.integer), isinstance(a[0], np.float32), isinstance(y[0], np.int64),
      isinstance(a[0], np.float64), isinstance(3.0, np.floating), isinstance(a, np.floating), isinstance(a[0], (int, np.integer)),
      isinstance(a[0], np.number), isinstance(y[0], np.generic), np.issubdtype(a.dtype, np.floating))
print(a[0] + 1, [a[0] * 2, -a[0], abs(a[1]), a @ a], a.sum() / 3, a[0] > 1, {a[0]: 1}, np.float32(0.1), [np.uint8(4)])
print(np.where(y > 1, "hi", "lo"), np.bincount([0, 1, 1], weights=[0.5, 1.0, 2.0]), np.seterr(all="ignore")["divide"])
print(np.eye(2).trace(), np.arange(4).reshape(2, 2, order="F"), np.argsort(np.array([[3, 1], [2, 0]]), axis=None), np.eye(2).diagonal())
print(torch.utils.data.default_collate([(a[0], y[0]), (a[1], y[1])]), torch.tensor(u[0]), torch.tensor([u[0]]).dtype, torch.as_tensor(a[0]))
text = io.StringIO()
np.savetxt(text, a.reshape(1, 2), fmt="%.3f", delimiter=",")
print(text.getvalue().split(), np.loadtxt(io.StringIO("1,2\n3,4"), delimiter=","))

# Elements stay what they are.
for kind in (np.int32, np.float32, np.int64, np.uint8):
    places = np.array([6, 3], dtype=kind)
    for place in places:
        kept = place
        place += 2
        place *= 3
        print(kept, place, end=" ")
    print(places)
