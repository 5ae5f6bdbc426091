"""Errors of environments."""


class Error(Exception):
    pass


class NameNotFound(Error):
    pass


class ResetNeeded(Error):
    pass


class InvalidAction(Error):
    pass
