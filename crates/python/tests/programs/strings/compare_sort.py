words = ['banana', 'Apple', 'cherry', 'apple', 'Éclair', '10', '9']
print(sorted(words), sorted(words, key=str.lower), max(words), min(words))
print('a' < 'B', 'abc' < 'abcd', '10' < '9', 'Z' < 'a', 'é' > 'z')
print(sorted('hello'), ''.join(sorted(set('banana'))))
