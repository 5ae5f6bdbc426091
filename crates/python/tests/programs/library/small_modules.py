import base64
import queue
import secrets
import shlex
import timeit
from timeit import default_timer as timer

for data in [b"", b"f", b"fo", b"foo", b"foob", bytes(range(250, 256)) + b"\xfb\xff"]:
    text = base64.b64encode(data)
    safe = base64.urlsafe_b64encode(data)
    print(text, safe, base64.b64decode(text) == data, base64.urlsafe_b64decode(safe) == data, base64.b16encode(data))
print(base64.b64decode("Zm9v\nYg=="), base64.b16decode(b"0AFF"))
for bad in ["Zg", "Z", "Zm9vYg="]:
    try:
        print(base64.b64decode(bad))
    except ValueError as e:
        print(type(e).__name__, e)
try:
    base64.b16decode("0g")
except ValueError as e:
    print(e)

q = queue.Queue(maxsize=2)
q.put(1)
q.put_nowait("b")
print(q.full(), q.qsize(), q.empty())
try:
    q.put_nowait(3)
except queue.Full as e:
    print("full", repr(e))
print(q.get(), q.get_nowait())
try:
    q.get(timeout=0.01)
except queue.Empty:
    print("empty")
p = queue.PriorityQueue()
for item in [(3, "c"), (1, "a"), (2, "b")]:
    p.put(item)
print([p.get() for _ in range(3)])
s = queue.LifoQueue()
s.put(1)
s.put(2)
print(s.get(), s.get())

for line in ["a 'b c' d", 'x "y \\" z" w\\ v', "--lr=0.1 --name='it''s' # no", "  "]:
    print(shlex.split(line), shlex.split(line, comments=True))
for bad in ["a 'b", 'a "b', "a \\"]:
    try:
        shlex.split(bad)
    except ValueError as e:
        print(e)
print(shlex.quote("a b"), shlex.quote(""), shlex.quote("plain-1.0"), shlex.quote("it's"), shlex.join(["a", "b c"]))

print(len(secrets.token_bytes(5)), len(secrets.token_hex(4)), 0 <= secrets.randbelow(7) < 7, secrets.choice([3]), secrets.randbits(0))
try:
    secrets.randbelow(0)
except ValueError as e:
    print(e)

calls = []
taken = timeit.timeit(lambda: calls.append(1), number=10)
print(len(calls), taken >= 0, len(timeit.repeat(lambda: None, number=3, repeat=4)), timer() <= timer())
