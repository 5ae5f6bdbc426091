for name, mode in (('missing/file.txt', 'r'), ('missing/file.txt', 'w'), ('x.txt', 'zz'), ('', 'r')):
    try:
        open(name, mode)
    except (OSError, ValueError) as e:
        print(type(e).__name__, e)
f = open('tmp_corpus2.txt', 'w')
f.close()
try:
    f.write('x')
except ValueError as e:
    print(e)
g = open('tmp_corpus2.txt')
try:
    g.write('x')
except OSError as e:
    print(type(e).__name__, e)
g.close()
import os
os.remove('tmp_corpus2.txt')
