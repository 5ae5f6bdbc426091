"""Special functions of arrays."""

import math
import numpy as np
import _missing


def _each(function):
    def apply(x):
        x = np.array(x, np.float64)
        made = np.array([function(v) for v in x.reshape(-1).tolist()], np.float64).reshape(x.shape)
        return made if made.ndim else made.item()
    return apply


expit = _each(lambda v: 1 / (1 + math.exp(-v)) if v >= 0 else math.exp(v) / (1 + math.exp(v)))
logit = _each(lambda v: math.log(v / (1 - v)))
erf, erfc, gamma, gammaln = _each(math.erf), _each(math.erfc), _each(math.gamma), _each(math.lgamma)


def softmax(x, axis=None):
    x = np.array(x, np.float64)
    made = np.exp(x - x.max(axis, keepdims=True))
    return made / made.sum(axis, keepdims=True)


def logsumexp(a, axis=None, keepdims=False):
    a = np.array(a, np.float64)
    top = a.max(axis, keepdims=True)
    made = np.log(np.exp(a - top).sum(axis, keepdims=True)) + top
    return made if keepdims else (made.reshape(-1)[0] if axis is None else np.squeeze(made, axis))


def comb(N, k, exact=False):
    return math.comb(N, k) if exact else float(math.comb(N, k))


binom = comb

__getattr__ = _missing.names("scipy.special", globals())
