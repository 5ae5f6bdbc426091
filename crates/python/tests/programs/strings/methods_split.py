print('a b  c'.split(), 'a,b,,c'.split(','), 'a,b,c'.split(',', 1), 'a,b,c'.rsplit(',', 1), ''.split(), ''.split(','))
print('one\ntwo\r\nthree\n'.splitlines(), 'a\nb'.splitlines(True), 'k=v=w'.partition('='), 'k=v=w'.rpartition('='), 'x'.partition('='))
print(' a b '.split(' '), 'abc'.split('b', maxsplit=0))
try:
    'a'.split('')
except ValueError as e:
    print(e)
