import re

def attempt(line):
    try:
        value = eval(line)
    except BaseException as e:
        return f"{type(e).__name__}: {e}"
    return repr(value)
for line in r'''
re.match(r'(\w+) (\w+)', 'hello world foo').groups()
re.match(r'a', 'b')
re.search(r'\d+', 'ab12cd').group()
re.fullmatch(r'\d+', '12a')
re.match('(?P<a>x)(?P<b>y)?', 'x').groupdict()
re.match('(?P<a>x)(?P<b>y)?', 'x').groupdict('d')
re.match(r'(a)(b)?', 'ab').span()
re.match(r'(a)(b)?', 'ab').start(2)
re.match(r'(a)(b)?', 'a').span(2)
re.match('(a)', 'abc').re.pattern
re.match('(a)', 'abc').string
re.match('a', 'abc').pos
re.match('a', 'abc').endpos
re.match('(a)(b)', 'ab').lastindex
re.match('(?P<n>a)', 'ab').lastgroup
re.match('(a)', 'a')[1]
re.match('(?P<n>a)', 'a')['n']
re.match('a', 'ab')
re.match('(a)(b)', 'ab').group(1, 2)
re.match('(a)', 'a').expand(r'<\1>')
re.match('(a)', 'a').group(2)
re.match('(a)', 'a').group('x')
re.findall(r'\d', 'a1b2')
re.findall(r'(\w)(\d)', 'a1b2')
re.findall(r'(\d)', 'a1b2')
re.findall('', 'ab')
re.findall(r'x*', 'axb')
[m.group() for m in re.finditer(r'\w+', 'ab cd')]
[m.span() for m in re.finditer(r'', 'ab')]
re.sub(r'\d', 'X', 'a1b2')
re.sub(r'(\w)(\d)', r'\2\1', 'a1b2')
re.sub(r'(?P<l>\w)', r'<\g<l>>', 'ab')
re.sub(r'\w', lambda m: m.group().upper(), 'ab')
re.sub('a', 'b', 'aaa', count=2)
re.subn('a', 'b', 'aaa')
re.sub('', '-', 'abc')
re.sub('x*', '-', 'abxd')
re.sub('a', r'\\', 'a')
re.sub('a', r'\n', 'a')
re.sub(r'(a)|(b)', r'[\1\2]', 'ab')
re.sub('(a)', r'\g<1>0', 'a')
re.sub('(a)', r'\g<0>', 'a')
re.sub('(a)', r'\2', 'a')
re.sub('a', r'\g<x>', 'a')
re.sub('a', r'\q', 'a')
re.sub('(a)', r'\g<', 'a')
re.split(r',', 'a,b,c')
re.split(r'(,)', 'a,b')
re.split(r'\s+', ' a  b ')
re.split(r',', 'a,b,c', maxsplit=1)
re.split('x*', 'axbc')
re.split(r'(a)|b', 'xaybz')
re.split('', 'ab')
re.compile(r'a+', re.I).findall('aAbA')
re.compile('a', re.I | re.M).flags
re.compile('a').pattern
re.compile('(a)(?P<n>b)').groups
re.compile('(a)(?P<n>b)').groupindex
re.compile('a', re.I)
re.compile('a')
re.compile(r'\n')
re.compile('a', re.X | re.S)
repr(re.I)
repr(re.I | re.M)
re.compile('a') == re.compile('a')
re.compile('a').search('ba', 1)
re.compile('^a').match('ba', 1)
re.compile('a').fullmatch('aa', 1)
re.compile('$').search('ab', 0, 1)
re.findall(r'^\w', 'a\nb', re.M)
re.findall(r'.', 'a\nb', re.S)
re.findall(r'a b', 'ab', re.X)
re.findall(r'(?i)A', 'aA')
re.findall(r'(?m)^a', 'a\na')
re.findall(r'(?x) a # c', 'a')
re.findall(r'\w', 'é', re.A)
re.findall(r'\w', 'é')
re.findall(r'(?i:a)b', 'AbAB')
re.match(r'(?s:.)', '\n')
re.findall(r'(?<=a)b', 'abcb')
re.findall(r'(?<!a)b', 'abcb')
re.findall(r'a(?=b)', 'abac')
re.findall(r'a(?!b)', 'abac')
re.findall(r'(?:a|b)+', 'abc')
re.findall(r'a{2,3}', 'aaaaa')
re.findall(r'a{2,3}?', 'aaaaa')
re.findall(r'a+?', 'aaa')
re.findall(r'(a)(?(1)b|c)', 'abac')
re.match(r'(a)\1', 'aa')
re.match(r'(?P<q>a)(?P=q)', 'aa')
re.findall(r'\bfoo\b', 'foo foobar')
re.findall(r'\Boo', 'foo')
re.match(r'\Aa\Z', 'a')
re.findall(r'[^\W\d]', 'a1_')
re.findall(r'[a-c\d]', 'ad1')
re.findall(r'[]a]', 'a]')
re.findall(r'[\]\-a]', '-]a')
re.match(r'(?>a+)b', 'aab')
re.match(r'a++b', 'aab')
re.match(r'a*+a', 'aa')
re.compile('(')
re.compile(')')
re.compile('[')
re.compile('[b-a]')
re.compile('*')
re.compile('a**')
re.compile('a{2,1}')
re.compile('(?P<a>x)(?P<a>y)')
re.compile('(?P<1>x)')
re.compile('(?P<a')
re.compile('(?P=x)')
re.compile(r'\1')
re.compile('(?z)')
re.compile('\\')
re.compile(r'\q')
re.compile('(?')
re.compile('a(?i)b')
re.compile(r'\x1')
re.compile(r'\u12')
re.compile('(?#abc')
re.compile(5)
re.compile(b'a').findall(b'aba')
re.match(rb'(\w)', b'ab').group(1)
re.sub(b'a', b'b', b'aa')
re.split(b',', b'a,b')
re.match('a', b'a')
re.match(b'a', 'a')
re.sub('a', b'b', 'a')
re.escape('a.b*c-d e')
re.escape('é\n')
re.purge()
re.error('m', 'p', 1).msg
re.NOFLAG
re.IGNORECASE is re.I
re.match(r'\d', '٣')
re.match(r'\s', '\u3000')
re.findall(r'\S+', 'a b')
re.findall(r'\D', 'a1')
re.findall(r'\W', 'a!')
re.match(r'[\s\S]', '\n')
re.match(r'\t\x41\u0042\101', '\tABA')
re.match(r'\0', '\0')
re.findall(r'(?P<y>\d{4})-(?P<m>\d\d)', '2024-01 2023-12')
[m.groupdict() for m in re.finditer(r'(?P<y>\d{4})-(?P<m>\d\d)', '2024-01 2023-12')]
re.match(r'(?P<a>.)', 'x').groupdict()
re.match('(.)(.)', 'ab').regs if 0 else 1
re.search('b', 'abc').start()
re.search('(?P<x>b)', 'abc').span('x')
re.search('b', 'abc').end()
bool(re.search('b', 'abc'))
re.search('b', 'abcb', ).group(0)
re.match('(a|b)*', 'abab').group(1)
re.match('(?:(a)|b)*', 'ab').groups()
re.findall('(a)|(b)', 'ab')
re.match('((a)(b))', 'ab').groups()
re.match('a|ab', 'ab').group()
re.match('(a?)*', 'aa').span() if 0 else 0
re.template if 0 else 0
re.IGNORECASE
re.RegexFlag.M
int(re.DOTALL)
re.VERBOSE | re.ASCII
re.compile('', re.U).flags
re.compile(b'').flags
re.Scanner if 0 else 0
type(re.compile('a'))
type(re.match('a','a'))
re.Pattern
re.Match
re.sub(r'\b(\w)', lambda m: m[1].upper(), 'hello world')
re.sub(r'(\d+)', lambda m: str(int(m[1]) * 2), 'a1b22')
re.sub('(?P<w>o)', '\\g<w>\\g<w>', 'foo')
re.sub('a', '', 'banana', 1)
re.subn('(?i)B', 'x', 'abB')
'''.splitlines():
    if line.strip():
        print(line, '->', attempt(line))
