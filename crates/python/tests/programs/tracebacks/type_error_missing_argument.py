class Net:
    def __init__(self, size, depth):
        self.size = size
n = Net(3)
