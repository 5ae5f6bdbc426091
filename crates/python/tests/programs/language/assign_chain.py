a = b = c = [1]
b.append(2)
print(a, c, a is c)
x = y = 0
x += 5
print(x, y)
d = {}
d['k'] = e = 7
print(d, e)
