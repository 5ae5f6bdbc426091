import argparse
p = argparse.ArgumentParser(prog='g')
m = p.add_mutually_exclusive_group(required=True)
m.add_argument('--cpu', action='store_true')
m.add_argument('--gpu', type=int)
p.set_defaults(extra=5)
print(p.parse_args(['--cpu']), p.parse_args(['--gpu', '0']))
print(p.format_usage(), end='')
for argv in ([], ['--cpu', '--gpu', '1']):
    try:
        p.parse_args(argv)
    except SystemExit as e:
        print('exit', e.code)
ns = argparse.Namespace(a=1, b='x')
print(ns, ns == argparse.Namespace(a=1, b='x'), 'a' in ns, vars(ns))
