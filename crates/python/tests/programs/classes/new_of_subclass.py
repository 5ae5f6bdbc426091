class Shape:
    def __new__(cls, kind, *args):
        if cls is Shape:
            cls = {"square": Square, "circle": Circle}.get(kind, Shape)
        return object.__new__(cls)

    def __init__(self, kind, size=0):
        self.text = f"shape {kind} {size}"


class Square(Shape):
    def __init__(self, kind, size):
        super().__init__(kind, size)
        self.text = "square of " + self.text


class Circle(Shape):
    pass


print(Shape("square", 2).text, type(Shape("square", 2)).__name__)
print(Shape("circle", 3).text, type(Shape("circle", 3)).__name__)
print(Shape("other").text, Square("square", 4).text)


class Other:
    def __new__(cls):
        return 5

    def __init__(self):
        print("not called")


class Counted(int):
    def __new__(cls, n):
        return int.__new__(More if n > 3 else cls, n)

    def __init__(self, n):
        self.name = "counted"


class More(Counted):
    def __init__(self, n):
        self.name = f"more than {n - 1}"


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.seen = True
        return made


class Made(metaclass=Meta):
    def __new__(cls, *args):
        return super().__new__(Below if args else cls)

    def __init__(self, *args):
        self.how = "made"


class Below(Made):
    def __init__(self, *args):
        self.how = f"below {args}"


print(Other(), Counted(2).name, Counted(5).name, Made().how, Made(1).how, Made(1).seen)
