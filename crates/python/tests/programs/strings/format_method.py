print('{} {}'.format(1, 'a'), '{1} {0} {1}'.format('x', 'y'), '{name}: {v:.2f}'.format(name='n', v=1.5), '{0[0]} {1[k]} {2.real}'.format([7], {'k': 8}, 9))
print('{:>6}|{:<6}|{:^6}|{:06.2f}'.format('a', 'b', 'c', 3.14159), '{:{}}|{:{w}.{p}}'.format('x', 5, 'abcdef', w=8, p=3), '{{}}'.format())
print('{!r} {!s} {!a}'.format('é', 'é', 'é'), '{:,}'.format(1234567), '{:+d} {: d}'.format(3, 4))
for t in ('{} {}', '{a}', '{', '}', '{0} {}', '{!x}', '{:d}'):
    try:
        print(t.format('s'))
    except (IndexError, KeyError, ValueError) as e:
        print(type(e).__name__, e)
