for v in ['1', 'x', '3', None, '5']:
    try:
        n = int(v)
    except ValueError:
        print('skip', v)
        continue
    except TypeError:
        print('stop')
        break
    print(n)
else:
    print('no')
