def train(epochs, lr=0.1):
    pass
train(3, lrate=0.2)
