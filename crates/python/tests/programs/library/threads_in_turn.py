import queue
import threading

found, lock = [], threading.Lock()


def work(n, *, scale=1):
    with lock:
        found.append(n * n * scale)


threads = [threading.Thread(target=work, args=(i,), kwargs={"scale": 2}, name=f"worker-{i}") for i in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(found), threads[1].name, threads[1].is_alive(), threading.current_thread().name, threading.active_count())


class Counter(threading.Thread):
    def __init__(self, items):
        super().__init__(daemon=True)
        self.items, self.total = items, 0

    def run(self):
        while not self.items.empty():
            self.total += self.items.get()
            self.items.task_done()


items = queue.Queue()
for i in range(5):
    items.put(i)
counter = Counter(items)
counter.start()
counter.join()
items.join()
print(counter.total, counter.daemon)
done = threading.Event()
timer = threading.Timer(0.01, done.set)
timer.start()
timer.join()
print(done.is_set(), done.wait(0.1))
with threading.Semaphore(2), threading.RLock(), threading.Condition():
    print("held")
try:
    counter.start()
except RuntimeError as error:
    print(error)
