import sys
def main():
    sys.exit('fatal: no data')
main()
