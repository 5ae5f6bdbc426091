x = list(range(6))
x[1:3] = ['a', 'b', 'c']
print(x)
x[::2] = [0, 0, 0, 0]
print(x)
x[2:2] = [7, 8]
print(x)
x[:] = x[::-1]
print(x)
del x[1:4]
print(x)
del x[::2]
print(x)
x[10:] = [99]
print(x)
try:
    x[::2] = [1, 2, 3, 4, 5]
except ValueError as e:
    print(e)
