print(0.1 + 0.2, 0.1 * 3, 1 - 0.9, 1e308 * 10, 5.5 // 2, -5.5 // 2, 5.5 % 2, -5.5 % 2, 5.5 % -2, divmod(5.5, 2), 2.0 ** 0.5, 1e3)
print(3.0 == 3, 3.0 is 3, 0.1 + 0.2 == 0.3, float('inf') - float('inf'), 1 / float('inf'), -1 / float('inf'))
print(3.7 .__int__(), (3.5).is_integer(), (4.0).is_integer(), (0.75).as_integer_ratio(), float.fromhex('0x1.8p1'), (0.1).hex())
