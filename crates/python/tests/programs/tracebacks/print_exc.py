import traceback, sys
def f():
    raise ValueError('inner')
try:
    f()
except ValueError:
    traceback.print_exc(file=sys.stdout)
    print(traceback.format_exc().splitlines()[-1])
print('continues')
