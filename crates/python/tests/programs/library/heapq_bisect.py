import heapq, bisect
h = []
for x in [5, 1, 4, 1, 3]: heapq.heappush(h, x)
print([heapq.heappop(h) for _ in range(5)], heapq.nlargest(2, [1, 5, 3]), heapq.nsmallest(2, [4, 2, 9]), list(heapq.merge([1, 4], [2, 3])))
y = [9, 2, 7, 1]; heapq.heapify(y); print(y[0], heapq.heapreplace(y, 0), heapq.heappushpop(y, 5), y)
a = [1, 3, 3, 5]; print(bisect.bisect(a, 3), bisect.bisect_left(a, 3), bisect.bisect_right(a, 4)); bisect.insort(a, 4); print(a)
