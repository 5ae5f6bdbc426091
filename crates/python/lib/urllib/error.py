"""Errors of urllib."""


class URLError(OSError):
    def __init__(self, reason, filename=None):
        super().__init__(reason)
        self.reason = reason

    def __str__(self):
        return f"<urlopen error {self.reason}>"


class HTTPError(URLError):
    pass
