def g():
    try:
        while True:
            try:
                x = yield 'ready'
                print('got', x)
            except ValueError as e:
                print('caught', e)
                yield 'recovered'
    finally:
        print('cleanup')
i = g()
print(next(i), i.throw(ValueError('v')), next(i))
i.close()
i.close()
try:
    next(i)
except StopIteration:
    print('closed')
j = g(); next(j)
try:
    j.throw(KeyError('k'))
except KeyError as e:
    print('out', e)
