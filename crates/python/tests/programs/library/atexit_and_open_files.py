import atexit
import json
import os
import tempfile

folder = tempfile.mkdtemp()
path = os.path.join(folder, "settings.json")
# Nobody closes this file: what was written is there for whoever opens it next, and at the end.
json.dump({"lr": 0.1}, open(path, "w"))
print(json.load(open(path)), os.path.getsize(path))


def last(word, times=1):
    print("last", word * times)


def reads():
    print(open(path).read())


@atexit.register
def decorated():
    print("decorated")


atexit.register(last, "a", times=2)
atexit.register(reads)
atexit.register(print, "taken back")
atexit.unregister(print)
print("end of the script")
raise SystemExit(0)
