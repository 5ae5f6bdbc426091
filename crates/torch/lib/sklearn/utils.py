"""Random numbers by seed or by state, and arrays in another order."""

import numpy as np


def check_random_state(seed):
    if seed is None or seed is np.random:
        return np.random.mtrand._rand if hasattr(np.random, "mtrand") else np.random
    return np.random.RandomState(seed) if isinstance(seed, int) else seed


def rows(array, indices):
    """The rows of an array, a tensor or a list at indices."""
    if isinstance(array, (list, tuple)):
        return [array[int(i)] for i in indices]
    return array[indices]


def shuffle(*arrays, random_state=None, n_samples=None):
    indices = np.arange(len(arrays[0]))
    check_random_state(random_state).shuffle(indices)
    made = [rows(a, indices[:n_samples]) for a in arrays]
    return made[0] if len(made) == 1 else made
