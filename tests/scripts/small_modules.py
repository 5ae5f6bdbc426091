import codecs, binascii, contextvars, graphlib, reprlib, io
print(codecs.encode('Hello', 'rot13'), codecs.decode('Uryyb', 'rot_13'), codecs.lookup('utf8').name, codecs.BOM_UTF8, codecs.encode(b'a', 'hex'), codecs.decode(b'61', 'hex'), codecs.encode('é', 'latin-1'), codecs.decode(b'\xc3\xa9'), codecs.lookup('latin-1').name, codecs.getencoder('utf-8')('ab'))
for f in (lambda: codecs.lookup('nope'), lambda: codecs.decode(b'\xff'), lambda: binascii.unhexlify('6'), lambda: binascii.unhexlify('zz'), lambda: binascii.a2b_base64('a')):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
print(binascii.hexlify(b'ab'), binascii.hexlify(b'abc', '-'), binascii.unhexlify('6162'), binascii.crc32(b'abc'), binascii.b2a_base64(b'hello'), binascii.b2a_base64(b'x', newline=False), binascii.a2b_base64('aGVsbG8='))
v = contextvars.ContextVar('v', default=1); t = v.set(2); print(v.get(), v.name); v.reset(t); print(v.get(), contextvars.ContextVar('w').get('d'), contextvars.copy_context().run(lambda x: x + 1, 1))
try: contextvars.ContextVar('w').get()
except LookupError as e: print('LookupError')
g = graphlib.TopologicalSorter({'d': {'b'}, 'b': {'a'}, 'c': {'a'}}); print(sorted(list(g.static_order())[:1]))
ts = graphlib.TopologicalSorter(); ts.add(3, 2); ts.add(2, 1); ts.prepare(); print(ts.get_ready(), ts.is_active()); ts.done(1); print(ts.get_ready()); ts.done(2); print(ts.get_ready()); ts.done(3); print(ts.is_active())
try: list(graphlib.TopologicalSorter({1: [2], 2: [1]}).static_order())
except graphlib.CycleError as e: print(e.args[0], len(e.args[1]))
print(reprlib.repr(list(range(100))), reprlib.repr('x' * 100), reprlib.repr({i: i for i in range(10)}), reprlib.repr([[[[[[[[1]]]]]]]]), reprlib.repr(10 ** 60), reprlib.repr((1,)), reprlib.repr({3, 1, 2}))
class A:
    @reprlib.recursive_repr()
    def __repr__(self): return f'<A {self.x!r}>'
a = A(); a.x = a; print(a)
