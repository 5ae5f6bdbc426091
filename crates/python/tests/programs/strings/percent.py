print('%d %s %r %5.2f %x' % (1, 'a', 'b', 3.14159, 255), '%s' % 5, '%s %s' % ('a', [1]), '%%', '100%% of %d' % 3)
print('%(name)s is %(age)03d' % {'name': 'Bob', 'age': 7}, '%-5s|%5s|%05d|%+d|% d' % ('a', 'b', 42, 5, 6), '%e %g %G' % (12345.678, 1e-5, 1e20), '%o %#o %#X' % (8, 8, 255), '%c%c' % (65, 'b'), '%*d' % (5, 3), '%.3s' % 'abcdef')
print('%s' % None, '%s' % (1,), '%r' % ({},), '%i%%' % 50.9)
for t, v in (('%d', 'x'), ('%d %d', (1,)), ('%d', (1, 2)), ('%z', 1), ('%(a)s', 1), ('%x', 1.5), ('%f', 's')):
    try:
        print(t % v)
    except (TypeError, ValueError) as e:
        print(type(e).__name__, e)
