def t(x):
    print('t', x)
    return x
print(t(0) or t('') or t([]) or t('end'))
print(t(1) and t([0]) and t({}) and t('never'))
print(not t(0), not not t(5))
x = None
print(x or 'default', x and x.y)
print(bool([]), bool([0]), bool(''), bool(' '), bool(0.0), bool({}), bool(None), bool(set()), bool(range(0)))
