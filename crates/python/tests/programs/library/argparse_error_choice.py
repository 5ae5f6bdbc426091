# argv: --opt nope
import argparse
p = argparse.ArgumentParser()
p.add_argument('--opt', choices=['sgd', 'adam'])
p.parse_args()
