n = 7
n += 3; print(n)
n -= 1; print(n)
n *= 4; print(n)
n //= 5; print(n)
n **= 2; print(n)
n %= 13; print(n)
n <<= 3; print(n)
n >>= 1; print(n)
n |= 1; print(n)
n &= 6; print(n)
n ^= 15; print(n)
f = 9
f /= 2
print(f)
s = 'a'
s += 'b'
s *= 3
print(s)
