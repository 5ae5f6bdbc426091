"""numpy.exceptions."""


class AxisError(ValueError, IndexError):
    """An axis that an array does not have."""

    def __init__(self, axis, ndim=None, msg_prefix=None):
        self.axis, self.ndim = axis, ndim
        text = axis if ndim is None else f"axis {axis} is out of bounds for array of dimension {ndim}"
        super().__init__(text if msg_prefix is None else f"{msg_prefix}: {text}")


class ComplexWarning(RuntimeWarning):
    pass


class RankWarning(RuntimeWarning):
    pass


class VisibleDeprecationWarning(UserWarning):
    pass


class DTypePromotionError(TypeError):
    pass


class TooHardError(RuntimeError):
    pass
