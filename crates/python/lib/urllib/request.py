"""Requests: scripts have no network. A file that a script would fetch is put where it looks for it."""

from urllib.error import URLError


def urlopen(url, data=None, timeout=None, **kwargs):
    raise URLError(f"scripts have no network here: fetch {getattr(url, 'full_url', url)} yourself and put it where the script looks")


def urlretrieve(url, filename=None, reporthook=None, data=None):
    urlopen(url)


class Request:
    def __init__(self, url, data=None, headers={}, **kwargs):
        self.full_url, self.headers = url, headers
