"""Parts for training and for testing."""

import math
import numpy as np
from sklearn.utils import check_random_state, rows


def _counts(n, test_size, train_size):
    if test_size is None and train_size is None:
        test_size = 0.25
    test = math.ceil(test_size * n) if isinstance(test_size, float) else test_size
    train = math.floor(train_size * n) if isinstance(train_size, float) else train_size
    test = n - train if test is None else test
    train = n - test if train is None else train
    if test + train > n or train <= 0:
        raise ValueError(f"With n_samples={n}, test_size={test_size} and train_size={train_size}, the resulting train set will be empty or "
                         "the parts are larger than the whole. Adjust any of the aforementioned parameters.")
    return train, test


def _shares(counts, draws, generator):
    """How many of each class, by largest remainders, equal ones drawn."""
    exact = [c / sum(counts) * draws for c in counts]
    whole = [math.floor(e) for e in exact]
    left = int(draws - sum(whole))
    rest = [e - w for e, w in zip(exact, whole)]
    for value in sorted(set(rest), reverse=True):
        if left <= 0:
            break
        at = [i for i, r in enumerate(rest) if r == value]
        now = min(len(at), left)
        for i in generator.choice(np.array(at), size=now, replace=False):
            whole[int(i)] += 1
        left -= now
    return whole


def _stratified(y, train, test, generator):
    values = [v.item() if hasattr(v, "item") else v for v in y]
    classes = sorted(set(values))
    places = [[i for i, v in enumerate(values) if v == c] for c in classes]
    counts = [len(p) for p in places]
    if min(counts) < 2:
        raise ValueError("The least populated classes in y have only 1 member, which is too few. The minimum number of groups for any class "
                         "cannot be less than 2.")
    first = _shares(counts, train, generator)
    second = _shares([c - f for c, f in zip(counts, first)], test, generator)
    a, b = [], []
    for i, found in enumerate(places):
        order = [found[int(k)] for k in generator.permutation(len(found))]
        a += order[:first[i]]
        b += order[first[i]:first[i] + second[i]]
    return generator.permutation(np.array(a)), generator.permutation(np.array(b))


def train_test_split(*arrays, test_size=None, train_size=None, random_state=None, shuffle=True, stratify=None):
    if not arrays:
        raise ValueError("At least one array required as input")
    n = len(arrays[0])
    for array in arrays:
        if len(array) != n:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {[len(a) for a in arrays]}")
    train, test = _counts(n, test_size, train_size)
    if not shuffle:
        a, b = np.arange(train), np.arange(train, train + test)
    elif stratify is not None:
        a, b = _stratified(stratify, train, test, check_random_state(random_state))
    else:
        order = check_random_state(random_state).permutation(n)
        a, b = order[test:test + train], order[:test]
    return [part for array in arrays for part in (rows(array, a), rows(array, b))]


class KFold:
    def __init__(self, n_splits=5, *, shuffle=False, random_state=None):
        self.n_splits, self.shuffle, self.random_state = n_splits, shuffle, random_state

    def get_n_splits(self, X=None, y=None, groups=None):
        return self.n_splits

    def split(self, X, y=None, groups=None):
        n = len(X)
        order = np.arange(n)
        if self.shuffle:
            check_random_state(self.random_state).shuffle(order)
        at = 0
        for i in range(self.n_splits):
            size = n // self.n_splits + (i < n % self.n_splits)
            held = set([int(k) for k in order[at:at + size]])
            yield np.array([k for k in range(n) if k not in held]), np.array(sorted(held))
            at += size
