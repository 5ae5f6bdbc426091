def gen(n):
    for i in range(n):
        yield 6 / (2 - i)
for v in gen(4):
    print(v)
