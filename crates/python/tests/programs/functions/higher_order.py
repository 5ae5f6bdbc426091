def compose(*fs):
    def run(x):
        for f in reversed(fs):
            x = f(x)
        return x
    return run
print(compose(str, abs, int)('-5'))
ops = {'+': lambda a, b: a + b, '-': lambda a, b: a - b}
print(ops['+'](1, 2), ops['-'](1, 2))
print(list(filter(None, [0, 1, '', 'a'])), list(filter(lambda x: x > 1, [1, 2, 3])), list(map(str.upper, 'ab')))
from functools import reduce
print(reduce(lambda a, b: a * b, range(1, 6)), reduce(lambda a, b: a + b, [], 'init'))
print([f(3) for f in (lambda x: x, int, float, str, bool)])
