try:
    int('x')
except ValueError:
    {}['missing']
