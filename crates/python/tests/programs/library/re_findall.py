import re
print(re.findall(r'\d+', 'a1b22c333'), re.findall(r'(\w)(\d)', 'a1 b2'), re.findall(r'(\w)\d', 'a1 b2'), re.findall('x', 'abc'), re.findall('', 'ab'), re.findall('a*', 'baac'), re.findall('|a', 'a'))
print([m.span() for m in re.finditer(r'\bt\w+', 'the cat took ten')], re.split(r'[,;]\s*', 'a, b;c'), re.split(r'(-)', 'a-b-c'), re.split(r'\s+', ' a b ', maxsplit=1), re.split('x*', 'axbc'))
print(re.findall(r'(?m)^\w', 'ab\ncd'), re.findall(r'(?s)a.b', 'a\nb'), re.findall(r'[^\W\d_]+', 'ab1_c é'), re.findall(r'\$\{(\w+)\}', '${a} ${b}'), re.findall(r'(?<!\d)\d{2}(?!\d)', '12 345 67'), re.findall(r'"([^"\\]*(?:\\.[^"\\]*)*)"', r'"a\"b" "c"'))
print(re.findall(r"'s|'t|\w+|[^\s\w]+", "it's don't, ok!"), re.findall(r' ?[A-Za-z]+| ?\d+', 'Hello world 42'))
