"""Heaps in lists."""


def _down(heap, start, at):
    item = heap[at]
    while at > start:
        parent = (at - 1) >> 1
        if not item < heap[parent]:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = item


def _up(heap, at):
    end, start, item = len(heap), at, heap[at]
    child = 2 * at + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = item
    _down(heap, start, at)


def heappush(heap, item):
    heap.append(item)
    _down(heap, 0, len(heap) - 1)


def heappop(heap):
    if not heap:
        raise IndexError("index out of range")
    last = heap.pop()
    if heap:
        item, heap[0] = heap[0], last
        _up(heap, 0)
        return item
    return last


def heapreplace(heap, item):
    first, heap[0] = heap[0], item
    _up(heap, 0)
    return first


def heappushpop(heap, item):
    if heap and heap[0] < item:
        item, heap[0] = heap[0], item
        _up(heap, 0)
    return item


def heapify(x):
    for i in reversed(range(len(x) // 2)):
        _up(x, i)


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[:max(n, 0)]


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[:max(n, 0)]


def merge(*iterables, key=None, reverse=False):
    heap = []
    for i, it in enumerate(map(iter, iterables)):
        for x in it:
            heap.append([x if key is None else key(x), i, x, it])
            break
    while heap:
        best = heap[0]
        for entry in heap[1:]:
            if (best[0] < entry[0]) if reverse else (entry[0] < best[0]):
                best = entry
        yield best[2]
        for x in best[3]:
            best[0], best[2] = x if key is None else key(x), x
            break
        else:
            heap.remove(best)
