print(lenn([1]))
