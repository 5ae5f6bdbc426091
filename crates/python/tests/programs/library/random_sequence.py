import random
random.seed(42)
print(random.random(), random.randint(1, 10), random.uniform(-1, 1), random.choice('abc'), random.randrange(0, 100, 5), random.getrandbits(40), random.gauss(0, 1), random.gauss(0, 1), random.normalvariate(0, 1))
x = list(range(10)); random.shuffle(x); print(x, random.sample(range(100), 5), random.sample('abcdef', 3), random.choices([1, 2, 3], k=5), random.choices('ab', weights=[1, 9], k=8))
print(random.expovariate(1.5), random.betavariate(2, 3), random.gammavariate(2, 1), random.gammavariate(0.5, 1), random.triangular(0, 10, 3), random.lognormvariate(0, 1), random.vonmisesvariate(0, 4), random.paretovariate(3), random.weibullvariate(1, 1.5))
r = random.Random(7); s = r.getstate(); a = [r.random() for _ in range(3)]; r.setstate(s); print(a == [r.random() for _ in range(3)], a)
for seed in (0, -5, 10 ** 30, 'text', 1.5, b'bytes', None and 0, True):
    random.seed(seed if seed is not None else 0)
    print(repr(seed), random.random(), random.randint(0, 10 ** 20))
for f in (lambda: random.choice([]), lambda: random.randint(5, 1), lambda: random.sample([1], 2), lambda: random.randrange(0), lambda: random.sample({1}, 1), lambda: random.seed([1])):
    try:
        f()
    except (IndexError, ValueError, TypeError) as e:
        print(type(e).__name__, e)
random.seed(1); print(random.randbytes(5), random.binomialvariate(10, 0.3), random.binomialvariate(100, 0.4), [random.randrange(2 ** 70) for _ in range(2)])
