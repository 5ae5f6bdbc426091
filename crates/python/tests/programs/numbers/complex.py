a, b = 1 + 2j, 3 - 1j
print(a + b, a - b, a * b, a / b, a ** 2, -a, abs(3 + 4j), a.real, a.imag, a.conjugate(), a == 1 + 2j, complex(1), complex(0, -1), 2j * 2j)
print(a + 1, 1.5 * a, repr(-0j), complex('3j'), f'{a:.1f}', [1j, 2 + 0j])
try:
    a < b
except TypeError as e:
    print(e)
