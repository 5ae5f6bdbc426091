class A:
    def __init__(self):
        self.__x = 1
        self.__y_ = 2
        self.__z__ = 3
    def get(self): return self.__x
    def __private(self): return 'p'
    def call(self): return self.__private()
class B(A):
    def __init__(self):
        super().__init__()
        self.__x = 10
    def both(self): return self.get(), self.__x
b = B()
print(b.both(), sorted(vars(b)), b.call(), b._A__private())
try:
    b.__x
except AttributeError as e:
    print(e)
