# What changes beneath the machine, and what is set to nonsense, is an exception as CPython's.
import queue, struct, threading


def shown(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


class Clears:
    def __index__(self):
        x.clear()
        return 0

    def __eq__(self, other):
        x.clear()
        return False

    def __lt__(self, other):
        return True


class Zero:
    def __index__(self):
        return 0


def deletes():
    del x[Zero():2]
    return x


def sets():
    x[Clears():2] = [9]
    return x


for f in deletes, sets, lambda: x[Clears():5], lambda: x[Clears()], lambda: x == [Clears()] * 3, lambda: x.count(1):
    x = [1, 2, 3]
    shown(f)
x = [Clears(), Clears(), Clears()]
shown(lambda: x == [1, 2, 3])
x = [Clears(), Clears(), Clears()]
shown(lambda: (1 in x, x))
x = [Clears(), Clears(), Clears()]
shown(lambda: x < [1, 2, 3])


def f(a, b=1):
    return a, b


def g(*, k):
    return k


for name, value in [("__name__", 5), ("__qualname__", 5), ("__defaults__", 5), ("__kwdefaults__", 5), ("__code__", 5), ("__closure__", 5),
                    ("__globals__", 5), ("__defaults__", (1, 2, 3)), ("__defaults__", None)]:
    shown(lambda: setattr(f, name, value))
    shown(lambda: f(*range(3)))
    shown(lambda: f(1))
g.__kwdefaults__ = {"k": 7}
print(g(), g.__kwdefaults__)
g.__kwdefaults__ = None
shown(g)

for at in -1, -3, -4, 3:
    shown(lambda: struct.unpack_from("b", b"abc", at))

q = queue.Queue()
q.put(1)
print(q.unfinished_tasks, q.get())
q.task_done()
shown(q.task_done)
shown(threading.current_thread().join)
before = threading.excepthook
threading.excepthook = lambda args: print(args.exc_type.__name__, args.exc_value, args.thread.name)
thread = threading.Thread(target=lambda: 1 / 0, name="one")
thread.start()
thread.join()
threading.excepthook = before
print(threading.excepthook is threading.__excepthook__)
