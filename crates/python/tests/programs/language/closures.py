def counter(start):
    n = start
    def up():
        nonlocal n
        n += 1
        return n
    def get():
        return n
    return up, get
up, get = counter(10)
up(); up()
print(get())
u2, g2 = counter(0)
u2()
print(get(), g2())
def powers():
    fs = []
    for p in range(3):
        def f(x, p=p):
            return x ** p
        fs.append(f)
    return fs
print([f(3) for f in powers()])
print(up.__closure__[0].cell_contents, up.__code__.co_freevars)
