import time

for length in (0, 0.0, float("nan"), float("inf"), -float("inf"), 1e20, -1, "a", None):
    try:
        print(length, time.sleep(length))
    except Exception as e:
        print(length, type(e).__name__, e)
