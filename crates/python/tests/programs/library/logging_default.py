import logging
logging.warning('shown on stderr')
logging.info('not shown')
logging.getLogger('x').error('with name')
