import math, sys
ns = {}
exec("def f(x):\n    return x * 2\ny = f(4)", ns); print(ns['y'], ns['f'](3), sorted(k for k in ns if not k.startswith('__')))
print(eval('1 + 2 * 3'), eval('x + 1', {'x': 5}), eval('[i ** 2 for i in range(n)]', {'n': 4}), eval(' max(a, b)', {}, {'a': 1, 'b': 2}))
z = 10; exec('z += 1; w = z * 2'); print(z, w)
def g(a):
    b = 3
    return eval('a + b + z')
print(g(1)); c = compile('a * 2', '<s>', 'eval'); print(eval(c, {'a': 21}))
for s in ('1 +', 'x = 1', 'foo', '1/0', 'a b', ''):
    try: print(eval(s))
    except Exception as e: print(type(e).__name__, str(e).split('(')[0])
loc = {}; exec('q = 1', {}, loc); print(loc); print(eval('__import__("math").sqrt(16)'), eval("{'a': [1, 2]}['a'][0]"), eval('math.pi'))
for name in ('relu', 'tanh'): exec(f'def act_{name}(x): return "{name}" + str(x)')
print(act_relu(1), act_tanh(2))


