"""How objects are made anew from a pickle."""

# By its class, what says how an object is made anew.
dispatch_table = {}


def __newobj__(cls, *args):
    return cls.__new__(cls, *args)


def pickle(ob_type, pickle_function, constructor_ob=None):
    dispatch_table[ob_type] = pickle_function


def constructor(object):
    if not callable(object):
        raise TypeError("constructors must be callable")


def _reconstructor(cls, base, state):
    return object.__new__(cls) if base is object else base.__new__(cls, state)
