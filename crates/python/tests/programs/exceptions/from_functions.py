def risky(n):
    if n > 2:
        raise ValueError(n)
    return risky(n + 1)
try:
    risky(0)
except ValueError as e:
    print(e, e.__traceback__ is not None, e.__traceback__.tb_lineno)
    depth = 0
    tb = e.__traceback__
    while tb:
        depth += 1
        tb = tb.tb_next
    print(depth)
