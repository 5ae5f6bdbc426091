import argparse
p = argparse.ArgumentParser(prog='app')
p.add_argument('--debug', action='store_true')
sub = p.add_subparsers(dest='command', required=True, help='what to do')
t = sub.add_parser('train', help='train it')
t.add_argument('--epochs', type=int, default=1)
e = sub.add_parser('eval', help='evaluate it')
e.add_argument('ckpt')
e.set_defaults(func='run_eval')
print(p.parse_args(['train', '--epochs', '5']))
print(p.parse_args(['--debug', 'eval', 'a.pt']))
p.print_help()
t.print_usage()
for argv in ([], ['nope'], ['eval']):
    try:
        p.parse_args(argv)
    except SystemExit as ex:
        print('exit', ex.code)
