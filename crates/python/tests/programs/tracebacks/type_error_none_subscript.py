def find(d):
    d.get('missing')
r = find({})
print(r[0])
