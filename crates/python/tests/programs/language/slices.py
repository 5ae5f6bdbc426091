x = list(range(10))
print(x[2:5], x[:3], x[7:], x[-3:], x[:-7], x[::3], x[::-1], x[8:2:-2], x[20:], x[5:2])
s = 'hello world'
print(s[1:4], s[::-1], s[-5:], s[:5], s[::2])
t = tuple(x)
print(t[3:6], t[-2:], t[::4])
print(range(20)[2:10:3], list(range(20)[::-6]))
print(b'bytes'[1:3])
