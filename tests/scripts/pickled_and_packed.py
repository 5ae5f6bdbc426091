import zlib, gzip, pickle, io, struct, base64
print(zlib.crc32(b'abc'), zlib.adler32(b'abc'), zlib.decompress(zlib.compress(b'abc' * 10)), gzip.decompress(gzip.compress(b'abc')))
for f in (lambda: zlib.decompress(b'abc'), lambda: gzip.decompress(b'abc'), lambda: pickle.loads(b''), lambda: pickle.loads(b'junk')):
    try: print(f())
    except Exception as e: print(type(e).__name__, str(e)[:60])
class P:
    def __init__(s, x): s.x = x
    def __eq__(s, o): return s.x == o.x
    def __getstate__(s): return {'x': s.x, 'v': 2}
    def __setstate__(s, d): s.__dict__.update(d)
class Q:
    __slots__ = ('a',)
    def __init__(s, a): s.a = a
class R:
    def __reduce__(s): return (complex, (1, 2))
for o in (1, 2**70, -5, 1.5, 'é', b'x', None, True, [1, [2]], (1, (2, 3)), {'a': {1: 2}}, {1, 2}, frozenset([1]), 1 + 2j, range(3), slice(1, 2), P(3), R(), bytearray(b'q'), [..., NotImplemented], len, int, P):
    for proto in (0, 2, 4, 5):
        try: r = pickle.loads(pickle.dumps(o, proto)); print(type(r).__name__, r == o, end=' ')
        except Exception as e: print(type(e).__name__, str(e)[:50], end=' ')
    print()
l = []; l.append(l); m = pickle.loads(pickle.dumps(l)); print(m[0] is m)
d = pickle.loads(pickle.dumps(P(5))); print(d.x, d.v)
q = pickle.loads(pickle.dumps(Q(7), 4)); print(q.a)
b = io.BytesIO(); pickle.dump([1], b); pickle.dump({'k': 2}, b); b.seek(0); print(pickle.load(b), pickle.load(b))
try: pickle.load(b)
except EOFError as e: print('EOF', e)
