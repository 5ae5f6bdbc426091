class Parent:
    def __init__(self, n):
        self.n = int(n)
class Child(Parent):
    def __init__(self, n):
        super().__init__(n)
Child('abc')
