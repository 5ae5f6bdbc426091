print('ab' * 3, 3 * '-', 'a' * 0, 'a' * -1, '=' * 20, 'a' + 'b' 'c')
s = ''
for i in range(5):
    s += str(i)
print(s)
for f in (lambda: 'a' + 1, lambda: 1 + 'a', lambda: 'a' * 'b', lambda: 'a' - 'b', lambda: 'a' * 1.5, lambda: -'a'):
    try:
        f()
    except TypeError as e:
        print(e)
