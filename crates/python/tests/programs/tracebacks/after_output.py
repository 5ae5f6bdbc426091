for i in range(3):
    print('step', i)
    if i == 2:
        raise SystemError('bad step %d' % i)
