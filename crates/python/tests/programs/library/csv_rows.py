import csv, io
out = io.StringIO()
w = csv.writer(out); w.writerow(['name', 'v']); w.writerow(['a,b', 1.5]); w.writerows([['q"t', None], ['x\ny', True]])
print(repr(out.getvalue())); out.seek(0); print(list(csv.reader(io.StringIO(out.getvalue(), newline=''))))
d = csv.DictReader(io.StringIO('epoch,loss\n1,0.5\n2,0.25\n')); print([dict(r) for r in d], d.fieldnames)
o = io.StringIO(); dw = csv.DictWriter(o, fieldnames=['a', 'b'], lineterminator='\n'); dw.writeheader(); dw.writerow({'a': 1, 'b': 'x y'}); print(o.getvalue())
try:
    dw.writerow({'a': 1, 'zz': 2})
except ValueError as e:
    print(e)
print(list(csv.reader(['a;b;"c;d"'], delimiter=';')), list(csv.reader(['1, 2'], skipinitialspace=True)), next(csv.reader(['"a""b",c'])))
