é = 1
变量 = 2
print(é + 变量, 'é'.isidentifier())
π = 3.14
print(π)
