data = [1, 5, 2, 8]
if (n := len(data)) > 3:
    print('long', n)
print([y for x in data if (y := x * 2) > 5], y)
i = 0
while (i := i + 1) < 4:
    print(i)
print((a := 1, b := 2), a, b)
def f(x):
    return (m := x + 1) * m
print(f(2))
