import io
s = io.StringIO()
print(s.write('hello '), s.write('world\n'), repr(s.getvalue()), s.tell())
print('printed', 5, file=s); s.seek(0); print(s.read(5), repr(s.readline()), [l for l in s]); s.truncate(0) if False else None
t = io.StringIO('a\nb\nc'); print(list(t), t.read(), t.seek(0), t.readlines(), t.closed); t.close()
try:
    t.read()
except ValueError as e:
    print(e)
with io.StringIO('x') as u: print(u.read())
b = io.BytesIO(b'abcdef'); print(b.read(2), b.tell(), b.read(), b.getvalue(), b.seek(1), b.read(1)); b2 = io.BytesIO(); b2.write(b'xy'); print(b2.getvalue(), len(b2.getbuffer()))
import sys
old = sys.stdout; sys.stdout = io.StringIO(); print('captured'); text = sys.stdout.getvalue(); sys.stdout = old; print(repr(text))
