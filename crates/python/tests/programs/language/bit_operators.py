a, b = 0b1100, 0b1010
print(a & b, a | b, a ^ b, ~a, a << 2, a >> 2)
print(-5 >> 1, -5 & 3, ~0, 1 << 70, (1 << 70) >> 68, -1 << 3)
print(True & False, True | False, True ^ True, type(True & 1).__name__)
print({1, 2} & {2, 3}, sorted({1, 2} ^ {2, 3}), {1, 2} - {2})
try:
    1 << -1
except ValueError as e:
    print(e)
try:
    1.0 | 2
except TypeError as e:
    print(e)
