raise RuntimeError('something failed')
