import struct, hashlib, weakref, gzip, zipfile, tarfile, io, os, sys, importlib, importlib.util, unittest
print(struct.pack('>IIII', 2051, 1, 28, 28), struct.unpack('>IIII', struct.pack('>IIII', 2051,1,28,28)))
print(struct.pack('<bhiqfd?3sx2H', -1, -2, 3, -4, 1.5, 3.141592653589793, True, b'ab', 1, 65535))
print(struct.unpack('<bhiqfd?3sx2H', struct.pack('<bhiqfd?3sx2H', -1, -2, 3, -4, 1.5, 3.141592653589793, True, b'ab', 1, 65535)))
print(struct.calcsize('bi'), struct.calcsize('@bq'), struct.calcsize('=bq'), struct.pack('e', 0.1), struct.unpack('<e', b'\x66\x2e'), struct.pack('<f', 1e-45), struct.pack('<d', float('-inf')), struct.pack('<f', 0.1))
for f in ((lambda: struct.unpack('<I', b'123')), (lambda: struct.pack('b', 200)), (lambda: struct.pack('<I', 1, 2))):
    try: f()
    except struct.error as e: print(e)
print(hashlib.md5(b'hello').hexdigest(), hashlib.sha1(b'hello world'*20).hexdigest(), hashlib.sha256(b'').hexdigest(), hashlib.sha256(b'x'*119).hexdigest())
h=hashlib.new('sha256'); h.update(b'ab'); h.update(b'c'); print(h.hexdigest(), h.digest_size, h.name)
class A: pass
a=A(); r=weakref.ref(a); print(r() is a)
print(importlib.util.find_spec('nothing_like_this'), importlib.util.find_spec('json') is not None)
import tempfile
root = tempfile.mkdtemp()
with zipfile.ZipFile(root + '/t.zip','w') as z: z.writestr('a/b.txt','hi'); z.writestr('c.bin', b'\x00\x01')
with zipfile.ZipFile(root + '/t.zip') as z: print(sorted(z.namelist()), z.read('a/b.txt'), z.open('c.bin').read()); z.extractall(root + '/tz')
print(open(root + '/tz/a/b.txt').read())
class T(unittest.TestCase):
    def setUp(self): self.x=1
    def test_a(self): self.assertEqual(self.x,1)
    def test_b(self):
        with self.assertRaises(ValueError): int('x')
    def test_c(self): self.assertAlmostEqual(0.1+0.2,0.3)
unittest.main(exit=False)
from multiprocessing import cpu_count
print(cpu_count()>0)
