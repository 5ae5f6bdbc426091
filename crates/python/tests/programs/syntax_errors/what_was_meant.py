"""Errors of the parser for what is written most, by mistake."""
texts = [
    "SIZE ( = 10", "f(a=, b)", "f(a, b", "f(a,\nx = 1", "import [ .x", "x = a if b", "x = [a if b, c]", "x = a if b. else c", "def f: pass",
    "def f(a b): pass", "class A print(x)", "class A", "while x print(x)", "for x in y print(x)", "try print(x)", "if x:\n pass\nelif y print(x)",
    "class A:", "1024def", "x = 2hidden", "x = 1_", "x = 0xg", "a == b = c", "not a = 1", "lambda: 1 = 2", "a + b = 1", "if a == b = c: pass",
    "f(not a = 1)", "f('a'=1)", "f(a.b=1)", "(a = 1)", "(a.b = 1)", "print(x y)", "print(type type)", "f(a=1, b c)", "f(a=1, b 1)", "f(a=1, 2)",
    "x = {'a': 1, 'b' 2}", "x = [1, 2 3]", "x = f(description'VAE')", "raise E, 'm'", "x <> y", "{c: i for i, c e in x}", "f(x))\ny = (", "f(x]\n", "x = (1,\ny]",
    "a b = )", "x = 5 5\ny = ]", "1.eval()", "x = 0.5help", "from a import b,", "a not b", "f(1 's')", "é1 = 2 3", "x = [1 if a]",
]
for text in texts:
    try:
        compile(text, "text", "exec")
        print(repr(text), "compiles")
    except SyntaxError as e:
        print(repr(text), type(e).__name__, e.msg, e.lineno, e.offset)
for attempt in (lambda: int("x", bas=3), lambda: print(foo=1), lambda: "a".split(foo=1), lambda: sum([1], foo=1)):
    try:
        attempt()
    except TypeError as e:
        print(e)
for attempt in (lambda: [[1, 2] [3, 4]], lambda: {1} [0], lambda: "abc" ["a"], lambda: None [0]):
    try:
        attempt()
    except TypeError as e:
        print(e)
