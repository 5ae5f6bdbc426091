"""Tensors where arrays are indexed, as batches are cut out of a file of tokens, and what numpy does at places."""

from collections import deque

import numpy as np
import numpy.typing as npt
import torch

torch.manual_seed(0)
tokens = np.arange(100, dtype=np.uint16)


def batch(size=3, context=4):
    starts = torch.randint(len(tokens) - context, (size,))
    x = torch.stack([torch.from_numpy(tokens[i:i + context].astype(np.int64)) for i in starts])
    y = torch.stack([torch.from_numpy(tokens[i + 1:i + 1 + context].astype(np.int64)) for i in starts])
    return x, y


print(batch())
i, a = torch.tensor(2), np.arange(10)
print(a[i], a[i:i + 3], a.reshape(5, 2)[i, :], a[torch.tensor([1, 2])], np.eye(3)[torch.tensor([0, 2])], np.zeros(i))
a[torch.tensor([0, 1])] = 7
a[i:i + 2] = -1
print(a, torch.zeros(3) + np.ones(3), reversed(torch.arange(3)))
rewards = deque(maxlen=3)
for r in (1.0, 2.0, 3.0, 4.0):
    rewards.append(r)
print(np.mean(rewards), np.std(rewards), np.array(rewards))
print(np.pad([1, 2, 3], 2, mode="edge"), np.pad([1, 2, 3], 2, mode="reflect"), np.pad([1, 2, 3], 2, mode="symmetric"), np.pad([1, 2], 1, mode="wrap"))
counts = np.zeros(4)
np.add.at(counts, [0, 1, 1, 3], 1)
print(counts, np.maximum.accumulate([1, 3, 2, 5]), np.add.reduce([[1, 2], [3, 4]], axis=1), np.multiply.outer([1, 2], [3, 4]))
x, y = np.meshgrid([1, 2, 3], [4, 5])
print(x, y, type(np.meshgrid([1], [2])).__name__, np.kron([1, 2], [1, 1]), np.s_[1:3, ::2], np.arange(12).reshape(3, 4).item(5))
np.testing.assert_allclose([1.0], [1.0 + 1e-9])
try:
    np.testing.assert_array_equal([1], [2])
except AssertionError:
    print("not equal")
q, r = torch.linalg.qr(torch.eye(2))
print(q, r)
# Functions of NumPy on tensors give tensors; a scalar of NumPy is a number to one.
t = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
for made in (np.maximum(t, 2), np.subtract(np.ones((2, 2)), t), np.sqrt(t), np.exp(t[0, 0]), np.float32(2) * t, np.float32(2) - t, np.float64(2) / t):
    print(type(made).__name__, made)
print(np.allclose(t, t.numpy()), np.isclose(t, 1.0).sum().item(), np.where(t > 2, t, 0), np.dot(t, np.ones(2, dtype=np.float32)))


def first(x: npt.NDArray[np.float32], y: np.ndarray[tuple, np.dtype[np.int64]]) -> npt.ArrayLike:
    return x[0]


print(first(np.ones(2), None))
