"""torch.special: the functions that have rows of the table."""

import _missing
from torch import _C
from torch._functions import softmax, log_softmax

_ops = _C._ops

expit, erf, erfc, erfinv, exp2, expm1, log1p = [_ops[n] for n in "sigmoid erf erfc erfinv exp2 expm1 log1p".split()]
gammaln, digamma, psi, xlogy, xlog1py, sinc, round, logit, logsumexp = [
    _ops[n] for n in "lgamma digamma digamma xlogy xlog1py sinc round logit logsumexp".split()]


def entr(input):
    return -_ops["xlogy"](input, input)


def ndtr(input):
    return 0.5 * _ops["erfc"](input * -0.7071067811865476)


__getattr__ = _missing.names("torch.special", globals())
