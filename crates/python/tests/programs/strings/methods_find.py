s = 'banana'
print(s.find('an'), s.rfind('an'), s.find('x'), s.index('n'), s.rindex('a'), s.count('a'), s.count('an'), s.find('a', 2), s.find('a', 2, 3), s.count('', 1))
print(s.startswith('ba'), s.endswith(('na', 'x')), s.startswith('an', 1), 'nan' in s, '' in s)
try:
    s.index('q')
except ValueError as e:
    print(e)
