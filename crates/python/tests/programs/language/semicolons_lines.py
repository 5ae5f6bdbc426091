a = 1; b = 2; print(a, b)
total = (1 +
         2 +
         3)
s = 'one' \
    'two'
print(total, s)
if a: print('inline')
x = [
    1,
    2,
]
print(x, ('implicit ' 'concat ' f'{a}'))
