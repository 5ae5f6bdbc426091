count = 0
def inc():
    global count
    count += 1
def make():
    total = 0
    def add(n):
        nonlocal total
        total += n
        return total
    return add
inc(); inc()
add = make()
add(3)
print(count, add(4))
def define():
    global made
    made = 'here'
define()
print(made)
