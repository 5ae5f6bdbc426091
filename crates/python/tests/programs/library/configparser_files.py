import configparser
import io

c = configparser.ConfigParser()
c.read_string('[DEFAULT]\nlr = 0.1\n[train]\nepochs: 5\n; comment\nuse = yes\nname = run_%(epochs)s\nmulti = a\n  b\n')
print(c.sections(), c['train']['epochs'], c.getint('train', 'epochs'), c.getfloat('train', 'lr'), c.getboolean('train', 'use'), c['train']['name'], repr(c['train']['multi']), c.get('train', 'zz', fallback='d'), dict(c['train'])['use'], 'train' in c, c.has_option('train', 'lr'))
for f in (lambda: c.get('no', 'x'), lambda: c.get('train', 'x'), lambda: c['no']):
    try: f()
    except Exception as e: print(type(e).__name__, e)
o = io.StringIO()
c['new'] = {'a': 1}
c.write(o)
print(o.getvalue())
