import os
p = '/home/user/data/model.tar.gz'
print(os.path.join('a', 'b', '/c', 'd'), os.path.basename(p), os.path.dirname(p), os.path.split(p), os.path.splitext(p), os.path.normpath('a//b/../c/./d'), os.path.isabs(p), os.path.exists('/no/such/path'), os.path.isdir('.'), os.path.relpath('/a/b/c', '/a/d'), os.path.commonprefix(['abc', 'abd']), os.path.commonpath(['/a/b', '/a/c']), os.path.splitext('.bashrc'), os.sep, os.path.join('x', ''), os.path.expanduser('~/x'))
print(os.environ.get('NO_SUCH_VAR'), os.environ.get('NO_SUCH_VAR', 'd'), os.getenv('NO_SUCH_VAR', 'e'), 'NO_SUCH_VAR' in os.environ, isinstance(os.getcwd(), str), os.path.isfile(__file__) or True, os.path.abspath('/a/../b'))
os.environ['MADE_HERE'] = '1'; print(os.environ['MADE_HERE'], os.name, os.linesep == '\n')
for f in (lambda: os.listdir('/no/such/dir'), lambda: os.remove('/no/such'), lambda: os.environ['NO_SUCH_VAR'], lambda: os.path.getsize('/no/such'), lambda: os.makedirs('/'), lambda: os.path.join('a', 5)):
    try:
        f()
    except (OSError, KeyError, TypeError) as e:
        print(type(e).__name__, e)
