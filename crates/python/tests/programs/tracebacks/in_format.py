x = 'text'
print(f'{x:.2f}')
