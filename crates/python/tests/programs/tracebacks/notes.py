try:
    raise ValueError('bad')
except ValueError as e:
    e.add_note('while loading')
    e.add_note('second note')
    raise
