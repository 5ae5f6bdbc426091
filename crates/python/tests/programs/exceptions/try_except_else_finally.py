def f(x):
    try:
        r = 10 / x
    except ZeroDivisionError as e:
        print('except', e)
        return 'bad'
    else:
        print('else', r)
        return r
    finally:
        print('finally')
print(f(2), f(0))
try:
    print('only try')
finally:
    print('only finally')
