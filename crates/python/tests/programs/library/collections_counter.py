from collections import Counter
c = Counter('mississippi')
print(c, c['s'], c['zz'], c.most_common(2), sum(c.values()), c.total(), sorted(c.elements())[:3])
c.update('miss'); c.subtract({'i': 2}); print(c, len(c), list(c))
print(Counter(a=3, b=1) + Counter(a=1, c=2), Counter(a=3, b=1) - Counter(a=1, b=5), Counter(a=1) | Counter(a=3), Counter(a=1) & Counter(a=3))
print(Counter(['x', 'y', 'x']).most_common(), dict(Counter('ab')), Counter() == Counter({'a': 0}))
words = 'the cat the dog'.split()
print(Counter(words).most_common(1)[0][0], Counter(len(w) for w in words))
