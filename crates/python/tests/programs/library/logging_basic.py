import logging, sys
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format='%(levelname)s %(name)s: %(message)s')
log = logging.getLogger('train')
log.debug('hidden'); log.info('step %d loss %.3f', 3, 0.12345); log.warning('careful'); logging.info('root'); log.error('bad %s', 'thing')
child = logging.getLogger('train.sub'); child.setLevel(logging.ERROR); child.warning('no'); child.critical('yes')
print(log.getEffectiveLevel(), logging.getLevelName(20), log.isEnabledFor(10), child.parent is log, logging.getLogger('train') is log, log)
h = logging.StreamHandler(sys.stdout); h.setFormatter(logging.Formatter('[{levelname:>8}] {message}', style='{')); other = logging.getLogger('other'); other.addHandler(h); other.propagate = False; other.info('fmt')
try:
    1 / 0
except ZeroDivisionError:
    log.info('caught', exc_info=False)
for bad in ('NOPE', 1.5):
    try:
        log.setLevel(bad)
    except (ValueError, TypeError) as e:
        print(e)
