print((255).bit_length(), (7).bit_count(), (1024).to_bytes(2, 'big'), (1024).to_bytes(4, 'little'), int.from_bytes(b'\x04\x00', 'big'), int.from_bytes(b'\xff\xff', 'little', signed=True), (5).conjugate(), (5).numerator, (5).denominator, (5).real, (5).imag, (3).as_integer_ratio(), (-5).to_bytes(2, 'big', signed=True))
try:
    (300).to_bytes(1, 'big')
except OverflowError as e:
    print(e)
