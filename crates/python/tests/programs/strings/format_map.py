class Default(dict):
    def __missing__(self, k):
        return '?' + k
print('{a} {b}'.format_map(Default(a=1)))
print(format(3.14159, '.3f'), format(42, '08b'), format('s', '>4'), format(True), format(None), format([1]))
try:
    format([1], '>5')
except TypeError as e:
    print(e)
