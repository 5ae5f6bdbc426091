class Stop(Exception):
    pass
def f():
    raise Stop
f()
