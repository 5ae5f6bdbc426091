# argv: --n twelve
import argparse
p = argparse.ArgumentParser(prog='tool')
p.add_argument('-n', '--n', type=int)
p.parse_args()
