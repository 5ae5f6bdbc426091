"""`ast.literal_eval`, hues, views of ordered dictionaries, and functions chosen by annotations that are kept as text."""
from __future__ import annotations

import ast
import collections
import colorsys
import functools
import socket

print(ast.literal_eval("{'a': [1, -2.5, (3, None)], 'b': True, \"c\": 'it\\'s (x)'}"), ast.literal_eval(" -1e-3 "), ast.literal_eval("b'x'"))
for text in ("foo()", "__import__('os')", "a", "[x for x in 'a']"):
    try:
        ast.literal_eval(text)
    except ValueError as e:
        print(type(e).__name__, str(e)[:24])
try:
    ast.literal_eval("[1,")
except SyntaxError as e:
    print(type(e).__name__)
print(colorsys.hsv_to_rgb(0.5, 1, 1), colorsys.rgb_to_hsv(0.2, 0.4, 0.6), colorsys.hls_to_rgb(0.3, 0.5, 0.8))

ordered = collections.OrderedDict(a=1, b=2)
print(ordered.keys(), ordered.values(), ordered.items(), dict(ordered).keys())


@functools.singledispatch
def show(value):
    return "anything"


@show.register
def _(value: int):
    return "a whole number"


@show.register
def _(value: list) -> str:
    return "a list"


print(show(1), show([]), show("x"), isinstance(socket.gethostname(), str))
print(complex(3).conjugate(), complex(1, -0.0), complex(complex(3, -0.0)), complex(1 + 2j, 3), complex(1, 2j))
