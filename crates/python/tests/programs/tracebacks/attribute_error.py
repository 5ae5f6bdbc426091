class Box:
    def __init__(self):
        self.weight = 1
b = Box()
print(b.weight)
print(b.wieght)
