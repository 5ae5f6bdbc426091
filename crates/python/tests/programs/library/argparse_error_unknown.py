# argv: --known 1 --unknown 2 extra
import argparse
p = argparse.ArgumentParser()
p.add_argument('--known', type=int)
args, rest = p.parse_known_args()
print(args, rest)
p.parse_args()
