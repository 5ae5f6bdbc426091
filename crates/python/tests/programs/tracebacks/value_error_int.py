print(int('42'))
n = int('4x2')
