def check(p):
    if not 0 <= p <= 1:
        raise ValueError(f'dropout probability has to be between 0 and 1, but got {p}')
check(0.5)
check(1.5)
