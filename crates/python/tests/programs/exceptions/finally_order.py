log = []
def f():
    try:
        log.append('try')
        return log.append('return')
    finally:
        log.append('finally')
def g():
    for i in range(2):
        try:
            try:
                raise ValueError
            finally:
                log.append(f'inner {i}')
        except ValueError:
            log.append(f'caught {i}')
            continue
        finally:
            log.append(f'outer {i}')
f(); g()
print(log)
def h():
    try:
        return 1
    finally:
        return 2
print(h())
