n = 10
while n > 0:
    n -= 1
    if n % 2:
        continue
    if n < 3:
        break
    print(n)
else:
    print('not printed')
while n:
    n -= 1
else:
    print('done', n)
