"""Differential equations: `torchdiffeq`'s own methods need none of these."""

import _missing


def solve_ivp(fun, t_span, y0, method="RK45", **options):
    raise NotImplementedError("scipy.integrate.solve_ivp: integrate with torchdiffeq's own methods, or write the steps out")


__getattr__ = _missing.names("scipy.integrate", globals())
