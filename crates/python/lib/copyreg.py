"""How objects are made anew from a pickle."""


def __newobj__(cls, *args):
    return cls.__new__(cls, *args)


def _reconstructor(cls, base, state):
    return object.__new__(cls) if base is object else base.__new__(cls, state)
