class A:
    def __str__(self):
        return 1 + 'a'
print(A())
