"""Columns brought to one scale, and labels as numbers."""

import numpy as np


class _Fitted:
    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X)


class StandardScaler(_Fitted):
    def __init__(self, *, copy=True, with_mean=True, with_std=True):
        self.with_mean, self.with_std = with_mean, with_std

    def fit(self, X, y=None):
        X = np.array(X)
        self.mean_, self.var_ = X.mean(0), X.var(0)
        self.scale_ = np.where(self.var_ == 0, 1.0, np.sqrt(self.var_))
        return self

    def transform(self, X):
        X = np.array(X)
        X = X - self.mean_ if self.with_mean else X
        return X / self.scale_ if self.with_std else X

    def inverse_transform(self, X):
        X = np.array(X)
        X = X * self.scale_ if self.with_std else X
        return X + self.mean_ if self.with_mean else X


class MinMaxScaler(_Fitted):
    def __init__(self, feature_range=(0, 1), *, copy=True, clip=False):
        self.feature_range, self.clip = feature_range, clip

    def fit(self, X, y=None):
        X = np.array(X)
        low, high = self.feature_range
        self.data_min_, self.data_max_ = X.min(0), X.max(0)
        apart = self.data_max_ - self.data_min_
        self.scale_ = (high - low) / np.where(apart == 0, 1.0, apart)
        self.min_ = low - self.data_min_ * self.scale_
        return self

    def transform(self, X):
        made = np.array(X) * self.scale_ + self.min_
        return np.clip(made, *self.feature_range) if self.clip else made

    def inverse_transform(self, X):
        return (np.array(X) - self.min_) / self.scale_


class LabelEncoder(_Fitted):
    def fit(self, y):
        values = [v.item() if hasattr(v, "item") else v for v in y]
        self._classes = sorted(set(values))
        self.classes_ = np.array(self._classes) if not isinstance(self._classes[0], str) else self._classes
        return self

    def transform(self, y):
        place = {c: i for i, c in enumerate(self._classes)}
        values = [v.item() if hasattr(v, "item") else v for v in y]
        for v in values:
            if v not in place:
                raise ValueError(f"y contains previously unseen labels: [{v!r}]")
        return np.array([place[v] for v in values])

    def inverse_transform(self, y):
        made = [self._classes[int(i)] for i in y]
        return made if made and isinstance(made[0], str) else np.array(made)
