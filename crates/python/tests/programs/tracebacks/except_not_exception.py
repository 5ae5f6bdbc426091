try:
    1 / 0
except 'nope':
    pass
