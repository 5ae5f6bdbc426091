s = 'hello
print(s)
