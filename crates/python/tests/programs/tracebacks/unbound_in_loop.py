def noisy():
    print("never")
    return 1


def count(items):
    for item in items:
        if item > 1:
            n = 0
        n += noisy()
    return n


def fine(total, items):
    seen = 0
    for item in items:
        total += item
        seen += 1
    return total, seen


print(fine(0, [1, 2]))
print(count([]) if False else "not called")
try:
    count([1])
except UnboundLocalError as e:
    print(e)
count([1])
