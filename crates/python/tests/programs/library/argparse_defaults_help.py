# argv: --help
import argparse
p = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
p.add_argument('--lr', type=float, default=0.001, help='learning rate')
p.add_argument('--name', default='run', help='name of the run')
p.add_argument('--flag', action='store_true', help='a flag')
p.add_argument('--nothing', help='no default')
p.add_argument('--undocumented', type=int, default=5)
p.add_argument('pos', nargs='?', default=3, help='positional')
p.parse_args()
