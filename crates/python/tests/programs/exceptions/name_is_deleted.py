try:
    1 / 0
except ZeroDivisionError as err:
    pass
try:
    err
except NameError as e:
    print(e)
def f():
    e = 'outer'
    try:
        raise ValueError
    except ValueError as e:
        pass
    return 'e' in locals()
print(f())
