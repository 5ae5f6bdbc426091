"""The names of http.client, for those who catch its errors: scripts have no network."""


class HTTPException(Exception):
    pass


class NotConnected(HTTPException):
    pass


class IncompleteRead(HTTPException):
    def __init__(self, partial, expected=None):
        super().__init__(partial)
        self.partial, self.expected = partial, expected


class BadStatusLine(HTTPException):
    pass


class RemoteDisconnected(ConnectionResetError, BadStatusLine):
    pass


class InvalidURL(HTTPException):
    pass


class HTTPResponse:
    pass


class HTTPConnection:
    def __init__(self, host, *args, **kwargs):
        raise OSError(f"scripts have no network here, {host} is not reached; put files where the script looks for them")


class HTTPSConnection(HTTPConnection):
    pass
