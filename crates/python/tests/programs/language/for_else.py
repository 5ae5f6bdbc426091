for n in range(2, 12):
    for d in range(2, n):
        if n % d == 0:
            break
    else:
        print(n, 'is prime')
for x in []:
    pass
else:
    print('empty')
print(n, d)
