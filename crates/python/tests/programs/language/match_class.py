class Point:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y):
        self.x, self.y = x, y
def where(p):
    match p:
        case Point(0, 0):
            return 'origin'
        case Point(x=0):
            return 'y axis'
        case Point(x, y) if x == y:
            return f'diagonal {x}'
        case Point():
            return 'elsewhere'
    return 'no point'
print(where(Point(0, 0)), where(Point(0, 1)), where(Point(2, 2)), where(Point(1, 2)), where(3))
