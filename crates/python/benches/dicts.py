import time
def count(n):
    d = {}
    words = ["w%d" % (i % 1000) for i in range(n)]
    for w in words:
        d[w] = d.get(w, 0) + 1
    e = {}
    for i in range(n):
        k = i * 7919 % 10007
        if k in e:
            e[k] += 1
        else:
            e[k] = 1
    return len(d), len(e), max(d.values())
t=time.perf_counter(); count(500000); print("dicts", time.perf_counter()-t)
