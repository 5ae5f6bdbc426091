f = lambda x: x['key']
print(f({'key': 1}))
f([])
