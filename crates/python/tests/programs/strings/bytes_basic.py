b = b'abc\x00\xff'
print(b, b[0], b[1:3], len(b), list(b), b + b'd', b * 2, b'b' in b, 97 in b)
print('é€'.encode(), 'é'.encode('utf-8'), b'\xc3\xa9'.decode(), 'abc'.encode('ascii'), bytes([1, 2, 3]), bytes(3), bytes('x', 'utf8'), b.hex(), bytes.fromhex('ff00'))
print(b'a,b'.split(b','), b' x '.strip(), b'abc'.replace(b'b', b'Z'), b'abc'.find(b'c'), b'AbC'.lower(), b','.join([b'1', b'2']))
try:
    b'\xff'.decode()
except UnicodeDecodeError as e:
    print(e)
print(b'\xff\xfea'.decode('utf-8', errors='ignore'), b'\xff'.decode('latin-1'), 'é'.encode('ascii', 'replace'))
