from collections import deque
d = deque([1, 2, 3], maxlen=3)
d.append(4); d.appendleft(0); print(d, d.maxlen, d[0], d[-1], len(d), 2 in d)
q = deque(); q.extend('abc'); q.extendleft('xy'); print(q, q.popleft(), q.pop(), list(q))
q.rotate(1); print(q); q.rotate(-2); print(q); q.insert(1, 'new'); q.remove('a'); q.reverse(); print(q, q.count('b'), q.index('b'))
for i in range(100): q.append(i)
for i in range(99): q.popleft()
print(q, deque('ab') == deque('ab'), deque('ab') + deque('c'), list(reversed(deque([1, 2]))))
for f in (lambda: deque().pop(), lambda: deque().popleft(), lambda: deque([1])[5]):
    try:
        f()
    except IndexError as e:
        print(e)
