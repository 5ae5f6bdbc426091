"""Distances between points."""

import numpy as np
import _missing


def cdist(XA, XB, metric="euclidean"):
    a, b = np.array(XA, np.float64)[:, None, :], np.array(XB, np.float64)[None, :, :]
    if metric == "cosine":
        return 1 - (a * b).sum(-1) / (np.sqrt((a * a).sum(-1)) * np.sqrt((b * b).sum(-1)))
    apart = np.abs(a - b)
    if metric == "euclidean":
        return np.sqrt((apart * apart).sum(-1))
    if metric == "sqeuclidean":
        return (apart * apart).sum(-1)
    if metric == "cityblock":
        return apart.sum(-1)
    if metric == "chebyshev":
        return apart.max(-1)
    raise ValueError(f"Unknown Distance Metric: {metric}")


def pdist(X, metric="euclidean"):
    whole = cdist(X, X, metric)
    n = len(whole)
    return np.array([whole[i, j].item() for i in range(n) for j in range(i + 1, n)])


def euclidean(u, v):
    return cdist([u], [v])[0, 0].item()


def cosine(u, v):
    return cdist([u], [v], "cosine")[0, 0].item()


__getattr__ = _missing.names("scipy.spatial.distance", globals())
