import numpy as np
import torch

a = np.array([[1, 2, 3], [4, 5, 6]])
print(a, repr(a), a.shape, a.dtype, a.ndim, a.size)
print(a * 2.5, a / 2, a // 2, a % 4, a ** 2, -a, a.T)
print(a + np.array([10, 20, 30]), a[:, None, 1:].shape, a[1], a[-1, ::-1], a[:, 1])
b = a[0]
b[1] = 99
print(a, a[a > 4], a[[1, 0], [0, 2]], np.where(a > 4, a, 0))
a[a > 50] = 0
a[1] += 1
print(a, a.sum(), a.sum(axis=0), a.mean(axis=1), a.max(), a.argmax(), a.argmin(axis=1), a.std(), a.var(axis=0, ddof=1))
print(np.zeros((2, 3)), np.ones(3, dtype=np.int32), np.full((2, 2), 7), np.eye(3), np.arange(5), np.arange(1, 2, 0.25))
print(np.linspace(0, 1, 5), np.linspace(-1, 1, 4), np.array([0.1, 0.25, 100.0]), np.array([1e-10, 1.0]), np.array([1.5, np.nan, -np.inf]))
print(np.array([1.0, 2.0, 3.0]), np.array([True, False]), np.array([1 / 3, 2 / 3]), np.float32([0.1, 0.2]) * 3)
print(repr(np.array([1.5, 2.5], dtype=np.float32)), repr(np.zeros((2, 0))), repr(np.array([[True]])), repr(np.arange(3, dtype=np.uint8)))
print(np.arange(24).reshape(2, 3, 4))
print(np.arange(2000), np.random.RandomState(0).rand(30))
x = np.arange(12).reshape(3, 4)
print(np.concatenate([x, x], axis=1).shape, np.stack([x, x]).shape, np.vstack([x, x[0]]).shape, np.hstack([x, x]).shape)
print([p.shape for p in np.split(x, 2, axis=1)], [p.shape for p in np.split(x, [1], axis=0)], x.reshape(-1)[:5], x.transpose(1, 0).shape)
print(np.exp(np.array([0.0, 1.0])), np.sqrt(16.0), np.log(np.e), np.prod([2, 3, 4]), np.clip(x, 2, 7), np.abs([-1, 2]), np.sign(-3.0))
print(np.cumsum(x, axis=1), np.sort([3, 1, 2]), np.argsort([3, 1, 2]), np.unique([3, 1, 1, 2], return_counts=True), np.median([1, 5, 2]))
print(x @ x.T, np.dot([1, 2], [3, 4]), np.outer([1, 2], [3, 4]), np.linalg.norm([3.0, 4.0]), np.percentile([1, 2, 3, 4], 25))
print(np.allclose([1.0], [1.0 + 1e-9]), np.array_equal(x, x), np.any(x > 10), np.all(x >= 0), np.isnan([np.nan, 1.0]), np.average([1, 2, 3], weights=[3, 1, 1]))
print(np.repeat([1, 2], 2), np.tile([1, 2], 2), np.flip(x, 0)[0], np.roll([1, 2, 3], 1), np.diff([1, 4, 9]), np.expand_dims(x, 0).shape, np.squeeze(np.ones((1, 3))).shape)
print(np.logical_or([True, False], [False, False]), np.meshgrid([1, 2], [3, 4, 5])[1], np.pad([1, 2], 1), np.maximum([1, 5], 3), np.histogram([1, 2, 2, 3], bins=2))
print(np.uint8(200) + np.array([100], dtype=np.uint8), np.array([1, 2], dtype=np.int16) + np.array([1.5], dtype=np.float32), (np.ones(2, np.float32) + 1.0).dtype, (np.ones(2, np.int32) + np.ones(2, np.int64)).dtype)
print(f"{np.mean([1.0, 2.0]):.2f}", float(np.float32(0.5)), int(np.int64(3)), np.array(5).item(), x.tolist()[0], len(x), [int(v) for v in x[0]])

t = torch.from_numpy(np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32))
print(t, t.numpy(), t.mean().numpy(), torch.tensor(np.arange(3)), torch.as_tensor(np.ones(2, np.float32)), (t * 2).numpy().sum())
print(torch.arange(3).numpy().dtype, torch.ones(2, requires_grad=True).detach().numpy(), np.array(torch.ones(2)).dtype)
for bad in (lambda: np.ones(2) + np.ones(3), lambda: x.reshape(5, 5), lambda: x[5], lambda: np.zeros(3)[1.5], lambda: bool(x), lambda: np.concatenate([]),
            lambda: torch.ones(1, requires_grad=True).numpy(), lambda: np.array([[1, 2], [3]]), lambda: np.ones((2, 3)) @ np.ones((2, 3))):
    try:
        bad()
    except (ValueError, IndexError, RuntimeError) as error:
        print(type(error).__name__, str(error)[:60])
