import threading, gc, errno, uuid, numbers, importlib, fnmatch, platform
lock = threading.Lock()
with lock:
    print(lock.locked())
print(lock.locked(), errno.EEXIST, errno.ENOENT, isinstance(1, numbers.Number), isinstance(1.5, numbers.Integral), isinstance(True, numbers.Integral), len(str(uuid.uuid4())), uuid.UUID('12345678123456781234567812345678'))
print(importlib.import_module('math').sqrt(4), importlib.import_module('os.path').basename('a/b'), fnmatch.fnmatch('a.txt', '*.txt'), fnmatch.filter(['a.py', 'b.txt'], '*.py'), fnmatch.fnmatch('ab', '[!b]?'), isinstance(gc.collect(), int), isinstance(platform.system(), str))
e = threading.Event(); e.set(); print(e.is_set(), e.wait(0))
