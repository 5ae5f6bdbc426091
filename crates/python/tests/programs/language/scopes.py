x = 'global'
def outer():
    x = 'outer'
    def inner():
        return x
    class K:
        x = 'class'
        def m(self):
            return x
        y = x
    return inner(), K().m(), K.y
print(outer())
fs = [lambda: i for i in range(3)]
print([f() for f in fs])
fs = [lambda i=i: i for i in range(3)]
print([f() for f in fs])
print([x for x in range(3)], x)
