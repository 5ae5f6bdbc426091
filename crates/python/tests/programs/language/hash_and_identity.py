print(hash(1) == hash(1.0) == hash(True), hash('a') == hash('a'), hash((1, 2)) == hash((1, 2)))
d = {1: 'int'}
d[1.0] = 'float'
d[True] = 'bool'
print(d)
try:
    hash([])
except TypeError as e:
    print(e)
try:
    {}[[1]] = 2
except TypeError as e:
    print(e)
try:
    {{}}
except TypeError as e:
    print(e)
print(hash(-1), hash(0), hash(2 ** 61 - 1), hash(0.5), hash(float('inf')))
