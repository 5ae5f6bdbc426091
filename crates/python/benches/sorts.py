import time
def run(n):
    x = 12345
    items = []
    for i in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
        items.append((x, i))
    a = sorted(items, key=lambda p: p[0])
    items.sort(key=lambda p: -p[1])
    b = sorted(items, key=lambda p: str(p[0]))
    return a[0], b[0]
t=time.perf_counter(); run(200000); print("sorts", time.perf_counter()-t)
