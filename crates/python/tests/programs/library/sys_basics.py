import sys
print(sys.version_info[0], sys.version_info >= (3, 8), sys.maxsize, sys.argv[0].endswith('.py'), type(sys.path).__name__, 'sys' in sys.modules, sys.byteorder, sys.getrecursionlimit(), sys.float_info.epsilon, sys.float_info.max)
sys.stdout.write('written\n'); sys.stdout.flush()
try:
    sys.exit(3)
except SystemExit as e:
    print('exit', e.code)
try:
    sys.exit('message')
except SystemExit as e:
    print('exit', e.code)
print(sys.getsizeof([]) > 0, callable(sys.exit), sys.stderr is not sys.stdout, sys.version.split('.')[0])
