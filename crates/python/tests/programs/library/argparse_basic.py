# argv: --epochs 3 -l 0.5 --verbose data.txt a b
import argparse
p = argparse.ArgumentParser(description='Train a model.')
p.add_argument('data', help='input file')
p.add_argument('rest', nargs='*')
p.add_argument('--epochs', '-e', type=int, default=10, help='number of epochs')
p.add_argument('-l', '--lr', type=float, default=1e-3, metavar='LR', help='learning rate (default: %(default)s)')
p.add_argument('--verbose', action='store_true')
p.add_argument('--no-cuda', action='store_false', dest='cuda')
p.add_argument('--opt', choices=['sgd', 'adam'], default='sgd')
args = p.parse_args()
print(args)
print(args.epochs, args.lr, vars(args)['data'], args.cuda)
