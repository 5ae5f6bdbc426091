import argparse
p = argparse.ArgumentParser()
p.add_argument('--lr', type=float)
p.add_argument('-b', '--batch', type=int, default='7')
p.add_argument('-v', '--verbose', action='count', default=0)
p.add_argument('-q', action='store_const', const='quiet', default='loud')
p.add_argument('--tag', action='append')
p.add_argument('--dims', nargs='+', type=int, default=[1])
p.add_argument('--opt', nargs='?', const='c', default='d')
p.add_argument('--fn', type=lambda s: s.upper())
for argv in ([], ['--lr=0.5', '-b3', '-vvv'], ['--lr', '-1.5', '-v', '-q'], ['--tag', 'a', '--tag', 'b'], ['--dims', '1', '2', '3', '--opt'], ['--opt', 'x', '--fn', 'abc'], ['--ver', '--ba', '9'], ['-vb', '4']):
    print(p.parse_args(argv))
try:
    p.parse_args(['--l'])
except SystemExit as e:
    print('exit', e.code)
