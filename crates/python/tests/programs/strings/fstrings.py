name, n, x = 'Ann', 42, 3.14159
print(f'{name} {n} {x}', f'{name!r} {name!s} {name!a}', f'{n:5d}|{n:<5}|{n:^5}|{n:>5}|{n:05}', f'{x:.2f} {x:8.3f} {x:e}')
print(f'{n + 1} {n * 2 = } {name=} {x=:.1f} {{literal}}', f'{"nested"} {[i for i in range(3)]} {({"a": 1})["a"]}')
w, p = 10, 3
print(f'{x:{w}.{p}f}|{name:>{w}}|{name:*^{w}}|{x!r:>10}')
print(f'{n:,} {1234567:,} {1234567.891:,.2f} {255:#x} {255:b} {0.256:.1%}')
print(f'multi '
      f'{n}' ' part')
