b = bytearray(b'abc')
b[0] = 65
b.append(100)
b += b'ef'
b.extend([1, 2])
print(b, len(b), b[1:3], bytes(b), b.pop(), b)
del b[:2]
print(b, b.decode('latin-1') == 'cdef\x01', b == bytes(b))
