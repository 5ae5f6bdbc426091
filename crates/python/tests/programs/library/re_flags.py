import re
print(re.findall('^a', 'a\na', re.M), re.findall('a.b', 'a\nb', re.S), re.findall('A', 'aA', re.I), re.search(r'''
    (\d+)   # number
    \s* [ ] # space
    kg ''', '12  kg', re.X).group(1), re.findall(r'\w', 'aé', re.A), re.I | re.M, re.compile('a', re.X).flags & re.X != 0)
print(re.search(r'a$', 'a\n') is not None, re.search(r'a\Z', 'a\n'), re.findall(r'$', 'a\n'), re.match(r'(?:a|ab)(?:c|bcd)', 'abcd').group(), re.match(r'(a+)+b', 'aaab').group(1), re.search(r'(?P<q>[\'"]).*?(?P=q)', 'say "hi" ok').group())
print(re.match(r'a{,2}', 'aaa').group(), re.match(r'a{2}', 'aaa').group(), re.match(r'a{x', 'a{x').group(), re.match('[]a]+', 'a]b').group(), re.match(r'[\d-]+', '1-2').group(), re.match(r'(?>a+)b', 'aab').group())
