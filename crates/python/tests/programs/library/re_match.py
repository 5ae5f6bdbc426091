import re
m = re.match(r'(?P<year>\d{4})-(\d\d)', '2024-05-17')
print(m, m.group(), m.group(1), m['year'], m.groups(), m.groupdict(), m.span(), m.start(2), m.end('year'), m.group(1, 2))
print(re.match('b', 'ab'), re.search('b', 'ab').span(), re.fullmatch(r'\w+', 'abc def'), re.fullmatch(r'[a-z ]+', 'abc def')[0])
print(bool(re.search(r'^\s*#', '  # c')), re.search(r'(a)|(b)', 'b').groups(), re.search(r'x*', 'aaa').span(), re.match(r'(?i)HELLO', 'hello').group(), re.search('é+', 'caféé').group())
p = re.compile(r'epoch=(\d+).*?loss=([\d.]+)')
for line in ['epoch=1 loss=0.5', 'noise', 'epoch=12 step=3 loss=0.25']:
    r = p.search(line)
    print(r and (int(r.group(1)), float(r.group(2))))
print(p.pattern, p.groups, re.compile('(?P<a>x)').groupindex['a'], p.match('zzepoch=1 loss=2', 2) is not None)
for g in (5, 'nope'):
    try:
        m.group(g)
    except IndexError as e:
        print(e)
