a = [1, [2, 3]]
b = a[:]
c = list(a)
b[1].append(4); b[0] = 9
print(a, b, c, a[1] is b[1] is c[1], a == c)
def change(x, y=None):
    x.append('changed'); x = ['local']; return x
print(change(a), a)
d = {'k': a}; e = dict(d); e['k'].pop(); print(d)
