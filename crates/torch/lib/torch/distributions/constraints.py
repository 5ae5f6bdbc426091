"""What values a parameter or a sample may have, and functions from all real numbers onto such values."""

from torch import _C


class Constraint:
    is_discrete, event_dim = False, 0

    def check(self, value):
        raise NotImplementedError

    def __repr__(self):
        return type(self).__name__.lstrip("_") + "()"


class _Bounded(Constraint):
    def __init__(self, **bounds):
        self.__dict__.update(bounds)
        self._bounds = bounds

    def __repr__(self):
        return type(self).__name__.lstrip("_") + "(" + ", ".join([f"{k}={v}" for k, v in self._bounds.items()]) + ")"


class _Dependent(Constraint):
    """Depends on other values: it is known of an instance alone."""

    def __init__(self, *, is_discrete=False, event_dim=0):
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def check(self, value):
        raise ValueError("Cannot determine validity of dependent constraint")


class dependent_property(_Dependent):
    """A property of a distribution that is the constraint of its values."""

    def __init__(self, fn=None, *, is_discrete=False, event_dim=0):
        super().__init__(is_discrete=is_discrete, event_dim=event_dim)
        self._fn = fn

    def __call__(self, fn):
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)

    def __get__(self, instance, owner=None):
        return self if instance is None else self._fn(instance)


def is_dependent(constraint):
    return isinstance(constraint, _Dependent)


class _Real(Constraint):
    def check(self, value):
        return value == value


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value):
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete, event_dim = True, 1

    def check(self, value):
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Above(_Bounded):
    def __init__(self, lower_bound):
        super().__init__(lower_bound=lower_bound)


class _Below(_Bounded):
    def __init__(self, upper_bound):
        super().__init__(upper_bound=upper_bound)


class _Between(_Bounded):
    def __init__(self, lower_bound, upper_bound):
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)


class _GreaterThan(_Above):
    def check(self, value):
        return self.lower_bound < value


class _GreaterThanEq(_Above):
    def check(self, value):
        return self.lower_bound <= value


class _LessThan(_Below):
    def check(self, value):
        return value < self.upper_bound


class _IntegerGreaterThan(_Above):
    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Interval(_Between):
    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    def check(self, value):
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _IntegerInterval(_Between):
    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value):
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _LowerCholesky(Constraint):
    event_dim = 2

    def check(self, value):
        lower = (value.tril() == value).reshape(tuple(value.shape[:-2]) + (-1,)).all(-1)
        return lower & (value.diagonal(0, -2, -1) > 0).all(-1)


def _cholesky(a):
    """The lower triangle L with L L^T = A, column by column: A is small. What is not positive definite gives NaN."""
    # Of both triangles, as the derivative is of both.
    n, a = a.shape[-1], (a + a.mT) * 0.5
    columns = []
    for j in range(n):
        rest = a[..., :, j]
        for c in columns:
            rest = rest - c * c[..., j:j + 1]
        column = rest / rest[..., j:j + 1].sqrt()
        columns.append(column * (_C.arange(0, n, 1, _C.int64) >= j).to(a.dtype))
    return _C._ops["stack"](columns, -1)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value):
        return (value.tril() == value).reshape(tuple(value.shape[:-2]) + (-1,)).all(-1)


class _Symmetric(Constraint):
    event_dim = 2

    def check(self, value):
        return ((value - value.mT).abs() < 1e-6).all(-1).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value):
        from torch.linalg import eigvalsh
        return super().check(value) & (eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value):
        return super().check(value) & (_cholesky(value).diagonal(0, -2, -1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value):
        near = (value.square().sum(-1) - 1).abs() <= 1e-5 * value.shape[-1]
        return super().check(value) & near.all(-1)


class _Multinomial(Constraint):
    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, value):
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _IndependentConstraint(Constraint):
    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value):
        good = self.base_constraint.check(value)
        for _ in range(self.reinterpreted_batch_ndims):
            good = good.all(-1)
        return good

    def __repr__(self):
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """What every component of a mixture may have."""

    def __init__(self, base_constraint):
        self.base_constraint = base_constraint
        self.is_discrete, self.event_dim = base_constraint.is_discrete, base_constraint.event_dim

    def check(self, value):
        return self.base_constraint.check(value)

    def __repr__(self):
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


independent, greater_than, greater_than_eq, less_than = _IndependentConstraint, _GreaterThan, _GreaterThanEq, _LessThan
interval, half_open_interval, integer_interval = _Interval, _HalfOpenInterval, _IntegerInterval
boolean, one_hot, real, simplex = _Boolean(), _OneHot(), _Real(), _Simplex()
lower_cholesky, positive_definite, corr_cholesky = _LowerCholesky(), _PositiveDefinite(), _CorrCholesky()
lower_triangular, symmetric, positive_semidefinite = _LowerTriangular(), _Symmetric(), _PositiveSemidefinite()
multinomial, dependent = _Multinomial, _Dependent()
real_vector = independent(real, 1)
positive, nonnegative, unit_interval = greater_than(0.0), greater_than_eq(0.0), interval(0.0, 1.0)
positive_integer, nonnegative_integer = _IntegerGreaterThan(1), _IntegerGreaterThan(0)


def _onto(constraint, simplex):
    from torch.distributions import transforms as _t
    if isinstance(constraint, _Real):
        return _t.ComposeTransform([])
    if isinstance(constraint, _IndependentConstraint):
        return _t.IndependentTransform(_onto(constraint.base_constraint, simplex), constraint.reinterpreted_batch_ndims)
    if isinstance(constraint, _Simplex):
        return simplex()
    if isinstance(constraint, (_GreaterThan, _GreaterThanEq)):
        low = constraint.lower_bound
        from_zero = isinstance(low, (int, float)) and low == 0
        return _t.ExpTransform() if from_zero else _t.ComposeTransform([_t.ExpTransform(), _t.AffineTransform(low, 1)])
    if isinstance(constraint, _LessThan):
        return _t.ComposeTransform([_t.ExpTransform(), _t.AffineTransform(constraint.upper_bound, -1)])
    if isinstance(constraint, (_Interval, _HalfOpenInterval)):
        low, high = constraint.lower_bound, constraint.upper_bound
        if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
            return _t.SigmoidTransform()
        return _t.ComposeTransform([_t.SigmoidTransform(), _t.AffineTransform(low, high - low)])
    from torch.distributions import matrix_transforms as _m
    if isinstance(constraint, _CorrCholesky):
        return _m.CorrCholeskyTransform()
    if simplex is _t.SoftmaxTransform and isinstance(constraint, (_LowerCholesky, _PositiveDefinite, _PositiveSemidefinite)):
        return _m.LowerCholeskyTransform() if isinstance(constraint, _LowerCholesky) else _m.PositiveDefiniteTransform()
    raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")


def biject_to(constraint):
    from torch.distributions import transforms as _t
    return _onto(constraint, _t.StickBreakingTransform)


def transform_to(constraint):
    from torch.distributions import transforms as _t
    return _onto(constraint, _t.SoftmaxTransform)
