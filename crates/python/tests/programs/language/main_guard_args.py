# argv: --epochs 3 data
import sys
if __name__ == '__main__':
    print(len(sys.argv), sys.argv[1:])
