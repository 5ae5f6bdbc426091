print('[' + 'ab'.center(7) + ']', 'ab'.ljust(5, '.'), 'ab'.rjust(5, '*'), '42'.zfill(5), '-42'.zfill(5), 'abc'.center(2))
for row in (('name', 'n'), ('alpha', '10')):
    print(row[0].ljust(8) + row[1].rjust(4))
