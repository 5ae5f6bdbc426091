import re
print(re.sub(r'\d', '#', 'a1b2'), re.sub(r'(\w+) (\w+)', r'\2 \1', 'hello world'), re.sub(r'(?P<n>\d+)', r'<\g<n>>', 'a12'), re.sub('a', lambda m: m.group().upper() + str(m.start()), 'banana'), re.sub('a', 'x', 'aaa', count=2), re.subn('a', 'b', 'aa'), re.sub('', '-', 'ab'), re.sub('x*', '-', 'abxd'), re.sub(r'\s+', ' ', ' a \n b '), re.sub(r'(a)|b', r'[\1]', 'ab'), re.sub('a', r'\n\\', 'a'), re.sub(r'(.)\1', r'\g<1>\g<0>', 'aab'))
print(re.escape('a.b*c[d]'), re.sub('[aeiou]', '', 'education', flags=re.I), re.sub(r'(?i)B', 'x', 'abB'), re.compile('a', re.I | re.M), repr(re.compile('x')))
camel = lambda s: re.sub(r'(?<!^)(?=[A-Z])', '_', s).lower()
print(camel('LayerNormGRU'), re.sub(r'_(\w)', lambda m: m[1].upper(), 'snake_case_name'))
