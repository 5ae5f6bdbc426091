import struct, base64, hashlib, io



def attempt(line):
    try:
        value = eval(line)
    except BaseException as e:
        return f"{type(e).__name__}: {e}"
    return repr(value)
for line in r'''
b'abc'[0], b'abc'[0:2], b'abc'+b'd', b'ab'*2, b'a' in b'abc', 97 in b'abc', len(b'abc'), list(b'abc'), bytes(3), bytes([1,2]), bytes('é','utf-8'), bytes(b'a'), bytes(), bytes(range(3))
b'\x00\n\t\r\\\'"\x7f\xff', b"'", b'"', b'\'"'
bytes('a')
bytes([256])
bytes([-1])
bytes(-1)
bytes(1.5)
bytes(['a'])
bytes([1],'utf-8')
b'abc'[5]
b'a'+'a'
b'a'+1
'a'+b'a'
b'a'=='a', b'a'<b'b', b'a'==bytearray(b'a'), hash(b'a')==hash(b'a')
b'a'<'a'
'a' in b'abc'
300 in b'abc'
b'abc'.hex(), b'abc'.hex('-'), b'abcd'.hex(':',2), b'abcde'.hex('_',-2), bytes.fromhex('61 62'), bytes.fromhex('6162'), bytearray.fromhex('00ff')
bytes.fromhex('6')
bytes.fromhex('zz')
b'a,b'.split(b','), b' a b '.split(), b'a\nb\r\nc'.splitlines(), b'abc'.replace(b'b',b'x'), b'abc'.find(b'c'), b'abc'.find(99), b'abc'.index(b'b'), b'abc'.count(b'a'), b'abc'.startswith(b'a'), b'abc'.endswith((b'c',b'd')), b'abc'.upper(), b'ABC'.lower(), b'a b'.title(), b'abc'.capitalize(), b'aB'.swapcase(), b' a '.strip(), b'xax'.strip(b'x'), b'a'.center(5,b'*'), b'a'.ljust(3), b'a'.rjust(3), b'5'.zfill(3), b','.join([b'a',b'b']), b'a-b'.partition(b'-'), b'a-b-c'.rpartition(b'-'), b'abc'.isalpha(), b'12'.isdigit(), b'a1'.isalnum(), b' '.isspace(), b'ABC'.isupper(), b'abc'.islower(), b'abc'.translate(None,b'b'), bytes.maketrans(b'a',b'b')[97], b'a\tb'.expandtabs(4), b'abc'.removeprefix(b'a'), b'abc'.removesuffix(b'c'), b'abc'.rfind(b'b'), b'abc'.isascii(), b'Abc'.istitle(), b'a,b,c'.rsplit(b',',1)
b'abc'.split(',')
b'abc'.replace('a','b')
b'abc'.join(['a'])
b'abc'.strip('a')
b'abc'.foo
b'abc'.encode
'abc'.decode
bytearray(b'abc'), bytearray(3), bytearray([1]), bytearray('a','ascii'), bytearray(b'abc')[0], bytearray(b'abc')[1:], bytearray(b'a')+b'b', b'a'+bytearray(b'b'), bytearray(b'abc').upper(), bytearray(b'abc').decode(), bytearray(b'a').append(98), bytearray(b'a').extend(b'bc'), bytearray(b'abc').pop(), bytearray(b'abc').reverse(), bytearray(b'abc').insert(0,5), bytearray(b'abc').remove(97), bytearray(b'abc').index(98), bytearray(b'a').copy(), bytearray(b'a').clear(), bytearray(b'a')==b'a'
bytearray(b'a').append(256)
bytearray(b'a').append('a')
bytearray().pop()
bytearray(b'a').remove(5)
hash(bytearray())
bytearray(b'abc').__setitem__(0,300)
bytearray(b'abc').__setitem__(slice(0,1),b'xyz')
bytearray(b'abc').__setitem__(5,1)
memoryview(b'abc')[0], bytes(memoryview(b'abc')[1:]), memoryview(b'abc').tobytes(), len(memoryview(b'abc')), memoryview(b'abc').nbytes, memoryview(b'abc').tolist(), memoryview(b'abc')==b'abc', memoryview(b'abc').format, memoryview(b'abc').itemsize, memoryview(b'abc').readonly, memoryview(bytearray(2)).readonly, memoryview(b'abcd').cast('H').tolist(), memoryview(b'abcd').shape, memoryview(b'ab').hex()
memoryview(1)
memoryview('a')
memoryview(b'abc').__setitem__(0,1)
memoryview(b'abc')[5]
struct.pack('i','a')
struct.pack('i',2**40)
struct.pack('ii',1)
struct.pack('z',1)
struct.unpack('i',b'abc')
struct.unpack_from('i',b'abc')
struct.pack('h', 40000)
struct.pack('H', 1.5)
base64.b64decode('a')
base64.b64decode('abc')
base64.b64decode('!!!!', validate=True)
hashlib.new('foo')
io.BytesIO(b'abc').read(2), io.StringIO('a\nb').readlines(), io.BytesIO(b'abc').getvalue(), io.StringIO('abc').seek(1), io.BytesIO(b'a\nb').readline()
io.StringIO(b'a')
io.BytesIO().write('a')
io.StringIO().write(b'a')
b'abc'.decode('utf-16')
b'\xff\xfea\x00'.decode('utf-16'), b'a\x00'.decode('utf-16le'), b'\x80'.decode('cp1252')
int.from_bytes(bytearray(b'\x01\x00'),'big'), bytes(bytearray(b'a')), bytes(memoryview(b'a')), b''.join([b'a',bytearray(b'b')])
bytes.__name__, b''.__class__, b'a'.__add__(b'b'), b'a'.__len__(), b'a'.__eq__('a'), b'ab'.__getitem__(0), b'ab'.__contains__(97), b'a'.__hash__()==hash(b'a')
'''.splitlines():
    if line.strip():
        print(line, '->', attempt(line))
