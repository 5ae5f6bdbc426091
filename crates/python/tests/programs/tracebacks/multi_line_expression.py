a, b = 1, None
r = (a +
     b)
