class Box:
    def __class_getitem__(cls, item): return f'{cls.__name__}[{item}]'
print(Box[3], Box['x', 1])
print(list[int], dict[str, int], tuple[int, ...], type[int])
class G(list): pass
print(isinstance(G(), list), int | str, int | None)
