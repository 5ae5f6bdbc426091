raise ValueError('a', 2, None)
