from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed, wait

with ThreadPoolExecutor(max_workers=2) as pool:
    print(list(pool.map(lambda x: x ** 2, range(4))), list(pool.map(pow, [2, 3], [3, 2])))
    futures = {pool.submit(pow, 2, i): i for i in range(3)}
    print(sorted((futures[f], f.result()) for f in as_completed(futures)))
    failed = pool.submit(lambda: 1 / 0)
    try:
        failed.result()
    except ZeroDivisionError as error:
        print("caught", error, failed.done(), type(failed.exception()).__name__)
    done, pending = wait([pool.submit(len, "abc")])
    print([f.result() for f in done], pending)
    heard = []
    pool.submit(int, "7").add_done_callback(lambda f: heard.append(f.result()))
print(heard)
try:
    pool.submit(int)
except RuntimeError as error:
    print(error)
try:
    ThreadPoolExecutor(0)
except ValueError as error:
    print(error)
