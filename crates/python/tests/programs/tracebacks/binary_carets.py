a = 1; b = '2'
print((a + 2) * 3 + b)
