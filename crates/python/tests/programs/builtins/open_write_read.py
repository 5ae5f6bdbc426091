with open('tmp_corpus.txt', 'w') as f:
    print(f.write('line 1\nline 2\n'))
    f.writelines(['a\n', 'b'])
    print('via print', file=f)
with open('tmp_corpus.txt') as f:
    print(f.readline(), end='')
    print(repr(f.read()))
print([line.rstrip('\n') for line in open('tmp_corpus.txt')])
with open('tmp_corpus.txt', 'a') as f:
    f.write('more')
with open('tmp_corpus.txt', 'rb') as f:
    data = f.read()
print(len(data), data[:6], f.closed, f.name, f.mode)
import os
os.remove('tmp_corpus.txt')
print(os.path.exists('tmp_corpus.txt'))
