for i in range(3):
    try:
        if i == 0:
            continue
        if i == 1:
            break
    finally:
        print('finally', i)
def f():
    for i in range(3):
        try:
            return i
        finally:
            print('leaving')
print(f())
def g():
    while True:
        try:
            return 1
        finally:
            break
    return 2
print(g())
