def attempt(line):
    try:
        value = eval(line)
    except BaseException as e:
        return f"{type(e).__name__}: {e}"
    return repr(value)
for line in r'''
'abc'.center(10,'*'), 'abc'.center(9,'*'), 'ab'.center(5,'*'), 'abc'.center(2)
'abc'.center(5,'ab')
'abc'.ljust(5)+'|', 'abc'.rjust(5,'0'), '-5'.zfill(5), '+5'.zfill(4), 'abc'.zfill(2), ''.zfill(3)
'a,b,,c'.split(','), 'a b  c '.split(), 'a b  c '.split(' '), 'a,b,c'.split(',',1), 'abc'.split('')
'a,b,c'.rsplit(',',1), ' a b c '.rsplit(None,1), ' a b c '.split(None,1), ''.split(), ''.split(',')
'a\nb\r\nc\x0bd\x0ce\x1cf\x85g\u2028h'.splitlines(), 'a\nb\n'.splitlines(True), ''.splitlines(), '\n'.splitlines()
'abc'.partition('b'), 'abc'.partition('x'), 'abcb'.rpartition('b'), 'abc'.rpartition('x'), 'abc'.partition('')
'abcabc'.find('c'), 'abcabc'.rfind('c'), 'abc'.find(''), 'abc'.rfind(''), 'abc'.find('',3), 'abc'.find('',4), 'abc'.find('a',-2)
'abcabc'.index('c',3), 'abc'.index('x')
'abc'.rindex('x')
'aaaa'.count('aa'), 'abc'.count(''), 'abc'.count('',1), 'abc'.count('', 4), 'aXbX'.count('X',2)
'abc'.startswith(('x','a')), 'abc'.endswith('bc'), 'abc'.startswith('b',1), 'abc'.startswith(''), 'abc'.startswith('',4), 'abc'.endswith(('c',),0,2)
'abc'.startswith(1)
'abc'.startswith(['a'])
'abc'.endswith((1,))
'aabbcc'.replace('b','x'), 'aaa'.replace('a','b',2), 'abc'.replace('','-'), 'abc'.replace('','-',2), ''.replace('','x'), 'aaa'.replace('a','', -1)
'  abc '.strip(), 'xxabcxx'.strip('x'), 'abcba'.lstrip('ab'), 'abcba'.rstrip('ab'), 'abc'.strip(None), 'abc'.strip('')
'abc'.strip(1)
'Hello World'.swapcase(), 'hello world'.title(), "they're bill's".title(), 'hELLO'.capitalize(), 'ß'.upper(), 'ǆ'.title(), 'İ'.lower(), 'ΑΣ'.lower(), 'ﬁ'.capitalize()
'Straße'.casefold(), 'ÀÉ'.casefold()
'abc'.isalpha(), ''.isalpha(), 'a1'.isalnum(), '1'.isdigit(), '²'.isdigit(), '²'.isdecimal(), '½'.isnumeric(), '½'.isdigit(), '٣'.isdecimal(), '一'.isnumeric()
'Abc Def'.istitle(), 'ABC'.isupper(), 'abc1'.islower(), '1'.islower(), ' \t'.isspace(), ''.isspace(), 'a_1'.isidentifier(), '1a'.isidentifier(), 'class'.isidentifier(), 'é'.isidentifier()
'abc'.isprintable(), 'a\n'.isprintable(), ''.isprintable(), '\xa0'.isprintable(), 'abc'.isascii(), 'é'.isascii()
'a\tb\tc'.expandtabs(), 'a\tb'.expandtabs(4), '\t'.expandtabs(0), 'ab\ncd\te'.expandtabs(4)
'-'.join(['a','b']), '-'.join('abc'), ''.join(()), '-'.join(['a',1])
'-'.join(1)
'-'.join([b'a'])
'abc'.translate({97:'x',98:None,99:'yz'}), 'abc'.translate(str.maketrans('ab','xy','c')), str.maketrans({'a':1,98:'c'})
str.maketrans('a','bc')
str.maketrans({'ab':1})
str.maketrans(1)
'prefix_abc'.removeprefix('prefix_'), 'abc.py'.removesuffix('.py'), 'abc'.removesuffix(''), 'abc'.removeprefix('x')
'é'.encode('ascii')
'éa€'.encode('latin-1')
'a'.encode('foo')
'a€'.encode('utf-16'), 'a'.encode('utf-16-le'), 'a'.encode('utf-32'), 'a'.encode('utf-8-sig'), '€'.encode('cp1252'), 'a'.encode('utf_8'), 'a'.encode('UTF8'), 'é'.encode('iso-8859-1')
b'\xff'.decode()
b'a\xe2\x82'.decode()
b'\xff'.decode('utf-8','replace'), b'a\xffb'.decode('utf-8','ignore'), b'\xff'.decode('utf-8','backslashreplace'), b'\xff'.decode('ascii','replace'), b'\xff'.decode('latin-1')
b'\xff'.decode('ascii')
'abc'[10]
'abc'[::-1], 'abc'[5:], 'abc'[-2:], 'abc'[::2], 'abc'[2:0:-1], 'abc'[::0]
'a'+1
'a'*2.0
1+'a'
'a'*-1, 3*'ab', 'a'*0
'a'<'b', 'a'<'B', 'é'>'z', 'a'=='a', 'a'!=1
'a'<1
'b' in 'abc', '' in 'abc', 'x' not in 'abc', 'bc' in 'abc'
1 in 'abc'
repr('a\'b'), repr('a"b'), repr('a\'"b'), repr('\n\t\\\x00\x7f\x80\xad\u200b\ue000\U0001F600\U000E0001')
str(b'abc'), str(b'abc','utf-8'), str(object=3), str()
str(b'\xff','utf-8','replace'), str('a','utf-8')
ord('é'), chr(233), chr(0x10ffff)
ord('ab')
ord('')
ord(1)
chr(-1)
chr(0x110000)
chr('a')
len('😀é'), '😀é'[0], list('e\u0301')
hash('a') == hash('a'), 'a'.__hash__() == hash('a')
'abc'.__add__(1)
'abc'.upper(1)
'abc'.split(sep=',', maxsplit=1), 'a,b'.rsplit(maxsplit=0)
'abc'.split(1)
'abc'.replace('a')
'abc'.replace(1,2)
'abc'.replace('a', 'b', count=1)
'abc'.foo
'abc'.foo()
'abc'.Upper
str.upper(1)
str.upper()
str.join
max('abc'), min('b', 'a'), sorted('hello'), ''.join(reversed('abc')), list(enumerate('ab', 1)), sum(map(ord, 'abc'))
'%s' % 'a' 'b', 'a' 'b'.upper()
'A'.lower().upper().title().casefold()
'a-b_c'.replace('-', '_').split('_')
'Ⅷ'.isnumeric(), 'Ⅷ'.isalpha(), 'ª'.isalpha(), '१२३'.isdigit(), int('१२३'), float('१.5')
'a\0b', len('a\0b'), '\0'.isprintable()
'Hello'.istitle(), 'HELLO World'.istitle(), 'hello'.capitalize().istitle()
"abc".rjust(5, "é"), "é".center(4, "ü")
'ŉ'.upper(), 'ΐ'.upper(), 'ß'.title(), 'ß'.capitalize(), 'ŉ'.title(), 'ﬀ'.title(), 'ﬀ'.upper()
'\x1c'.isspace(), '\u3000'.isspace(), '\u200b'.isspace(), 'a\u3000b'.split(), 'a\x1cb'.split()
'''.splitlines():
    if line.strip():
        print(line, '->', attempt(line))
