"""Scores of predictions."""

import numpy as np


def _values(y):
    return [v.item() if hasattr(v, "item") else v for v in y]


def accuracy_score(y_true, y_pred, *, normalize=True):
    a, b = _values(y_true), _values(y_pred)
    if len(a) != len(b):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(a)}, {len(b)}]")
    right = sum([x == y for x, y in zip(a, b)])
    return right / len(a) if normalize else right


def confusion_matrix(y_true, y_pred, *, labels=None):
    a, b = _values(y_true), _values(y_pred)
    labels = sorted(set(a) | set(b)) if labels is None else list(labels)
    made = [[0] * len(labels) for _ in labels]
    for x, y in zip(a, b):
        made[labels.index(x)][labels.index(y)] += 1
    return np.array(made)


def _each(y_true, y_pred):
    """For every class: hits, how often it was said, how often it was there."""
    a, b = _values(y_true), _values(y_pred)
    classes = sorted(set(a) | set(b))
    return classes, {c: (sum([x == y == c for x, y in zip(a, b)]), b.count(c), a.count(c)) for c in classes}


def _score(y_true, y_pred, average, pos_label, part):
    classes, each = _each(y_true, y_pred)
    if average == "binary":
        if len(classes) > 2:
            raise ValueError("Target is multiclass but average='binary'. Please choose another average setting, one of [None, 'micro', "
                             "'macro', 'weighted'].")
        return part(*each.get(pos_label, (0, 0, 0)))
    if average == "micro":
        return part(*[sum([each[c][i] for c in classes]) for i in range(3)])
    scores = [part(*each[c]) for c in classes]
    if average == "macro":
        return sum(scores) / len(scores)
    if average == "weighted":
        return sum([s * each[c][2] for s, c in zip(scores, classes)]) / sum([each[c][2] for c in classes])
    return np.array(scores)


def precision_score(y_true, y_pred, *, pos_label=1, average="binary", zero_division=0):
    return _score(y_true, y_pred, average, pos_label, lambda hit, said, there: hit / said if said else float(zero_division))


def recall_score(y_true, y_pred, *, pos_label=1, average="binary", zero_division=0):
    return _score(y_true, y_pred, average, pos_label, lambda hit, said, there: hit / there if there else float(zero_division))


def f1_score(y_true, y_pred, *, pos_label=1, average="binary", zero_division=0):
    return _score(y_true, y_pred, average, pos_label,
                  lambda hit, said, there: 2 * hit / (said + there) if said + there else float(zero_division))


def _apart(y_true, y_pred):
    return np.array(y_true).astype(np.float64).reshape(-1), np.array(y_pred).astype(np.float64).reshape(-1)


def mean_squared_error(y_true, y_pred):
    a, b = _apart(y_true, y_pred)
    return float(((a - b) ** 2).mean())


def root_mean_squared_error(y_true, y_pred):
    return mean_squared_error(y_true, y_pred) ** 0.5


def mean_absolute_error(y_true, y_pred):
    a, b = _apart(y_true, y_pred)
    return float(np.abs(a - b).mean())


def r2_score(y_true, y_pred):
    a, b = _apart(y_true, y_pred)
    return 1.0 - float(((a - b) ** 2).sum() / ((a - a.mean()) ** 2).sum())


def roc_auc_score(y_true, y_score):
    """How often a positive is ranked above a negative; equal scores count half."""
    pairs = sorted(zip(_values(y_score), _values(y_true)))
    ranks, i = 0.0, 0
    positives = sum([1 for _, t in pairs if t])
    while i < len(pairs):
        j = i
        while j < len(pairs) and pairs[j][0] == pairs[i][0]:
            j += 1
        ranks += sum([1 for _, t in pairs[i:j] if t]) * (i + 1 + j) / 2
        i = j
    negatives = len(pairs) - positives
    if not positives or not negatives:
        raise ValueError("Only one class present in y_true. ROC AUC score is not defined in that case.")
    return (ranks - positives * (positives + 1) / 2) / (positives * negatives)
