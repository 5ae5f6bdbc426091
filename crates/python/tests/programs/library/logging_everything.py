import logging, sys, io, warnings
s = io.StringIO()
h = logging.StreamHandler(s); h.setFormatter(logging.Formatter('%(levelname)-8s|%(name)s|%(message)s|%(funcName)s|%(lineno)d'))
log = logging.getLogger('a.b'); log.addHandler(h); log.setLevel(logging.DEBUG); log.propagate = False
log.debug('d %s', 1); log.info('i %d %s', 1, 'x'); log.warning('w'); log.error('e %(k)s', {'k': 5}); log.critical('c'); log.log(25, 'custom')
try: 1 / 0
except ZeroDivisionError: log.exception('exc'); log.error('with info', exc_info=True)
print(s.getvalue())
logging.addLevelName(25, 'NOTICE'); print(logging.getLevelName(25))
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format='%(asctime)s [%(levelname)s] %(message)s', datefmt='DATE')
logging.info('root info'); logging.debug('no'); logging.warning('warn %s', [1])
child = logging.getLogger('x.y'); child.info('child'); child.setLevel('ERROR'); child.info('hidden'); child.error('shown')
class F(logging.Filter):
    def filter(self, r): r.extra = 'E'; return 'secret' not in r.getMessage()
f = F(); child.addFilter(f); child.error('a secret'); child.error('fine'); child.removeFilter(f)
fm = logging.Formatter('{levelname}:{message}', style='{'); r = logging.LogRecord('n', 20, 'p.py', 5, 'msg %s', ('a',), None); print(fm.format(r), r.getMessage(), r.module, r.levelno)
print(logging.Formatter('$message', style='$').format(r), logging.Formatter('%(message)s %(custom)s', defaults={'custom': 'D'}).format(r))
try: log.setLevel('NOPE')
except ValueError as e: print(e)
logging.disable(logging.ERROR); child.error('disabled'); logging.disable(logging.NOTSET)
ad = logging.LoggerAdapter(log, {'u': 1}); ad.info('adapted'); print(s.getvalue().splitlines()[-1])
nh = logging.NullHandler(); l2 = logging.getLogger('nul'); l2.addHandler(nh); l2.propagate = False; l2.error('nothing')
class ListH(logging.Handler):
    def __init__(self): super().__init__(); self.items = []
    def emit(self, rec): self.items.append(self.format(rec))
lh = ListH(); lh.setLevel(logging.WARNING); l2.addHandler(lh); l2.info('x'); l2.warning('y'); print(lh.items)
log.info('bad %d', 'str') if 0 else None
log.warning('extra', extra={'k': 1}); log.info('multi\nline')
warnings.simplefilter('always')
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter('always'); warnings.warn('hey'); warnings.warn('dep', DeprecationWarning); print(len(w), w[0].category.__name__, w[1].message, str(w[0].message))
with warnings.catch_warnings():
    warnings.simplefilter('error')
    try: warnings.warn('err', RuntimeWarning)
    except RuntimeWarning as e: print('raised', e)
warnings.filterwarnings('ignore', message='skip.*'); warnings.warn('skip this'); warnings.warn('shown one')
warnings.warn_explicit('expl', UserWarning, 'f.py', 7)
def dep(): warnings.warn('old', FutureWarning, stacklevel=2)
dep()
logging.captureWarnings(False); logging.shutdown()
logging.getLogger('last').warning('to root')
