# argv: -x 1
import argparse
p = argparse.ArgumentParser()
p.add_argument('-x')
p.add_argument('--data', required=True)
p.add_argument('file')
p.parse_args()
