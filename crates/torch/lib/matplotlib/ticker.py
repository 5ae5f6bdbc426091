"""matplotlib.ticker: where ticks are is chosen here."""


class MaxNLocator:
    def __init__(self, nbins="auto", integer=False, **others):
        self.integer = integer
