def outer(a):
    b = a + 1
    def middle(c):
        def inner(d):
            return a, b, c, d
        return inner
    return middle
print(outer(1)(3)(4))
def fact_table(n):
    def fact(k):
        return 1 if k == 0 else k * fact(k - 1)
    return [fact(i) for i in range(n)]
print(fact_table(6))
def make_avg():
    xs = []
    def avg(x):
        xs.append(x)
        return sum(xs) / len(xs)
    return avg
avg = make_avg()
print(avg(1), avg(2), avg(6))
