def fact(n):
    return 1 if n < 2 else n * fact(n - 1)
print(fact(5), fact(25))
def fib(n, memo={}):
    if n in memo:
        return memo[n]
    memo[n] = n if n < 2 else fib(n - 1) + fib(n - 2)
    return memo[n]
print(fib(80))
def flat(x):
    return [y for e in x for y in flat(e)] if isinstance(x, list) else [x]
print(flat([1, [2, [3, [4]]], []]))
def even(n): return True if n == 0 else odd(n - 1)
def odd(n): return False if n == 0 else even(n - 1)
print(even(100))
def forever(n): return forever(n + 1)
try:
    forever(0)
except RecursionError as e:
    print(e)
