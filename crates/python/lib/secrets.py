"""Random numbers from the system, which no seed repeats."""
import base64
import os

DEFAULT_ENTROPY = 32


def token_bytes(nbytes=None):
    return os.urandom(DEFAULT_ENTROPY if nbytes is None else nbytes)


def token_hex(nbytes=None):
    return token_bytes(nbytes).hex()


def token_urlsafe(nbytes=None):
    return base64.urlsafe_b64encode(token_bytes(nbytes)).rstrip(b"=").decode("ascii")


def randbits(k):
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    return int.from_bytes(os.urandom((k + 7) // 8), "big") >> (-k % 8)


def randbelow(exclusive_upper_bound):
    if exclusive_upper_bound <= 0:
        raise ValueError("Upper bound must be positive.")
    k = exclusive_upper_bound.bit_length()
    while True:
        number = randbits(k)
        if number < exclusive_upper_bound:
            return number


def choice(seq):
    return seq[randbelow(len(seq))]


def compare_digest(a, b):
    return a == b
