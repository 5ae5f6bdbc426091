d = {'key': 'value', 'n': [1, 2]}
print(f"{d['key']} {d["n"][0]} {', '.join(f'{v:02d}' for v in d['n'])}")
print(f'''triple {
    d['key']
} end''')
print(f'{(lambda v: v * 2)(4)} {d["key"].upper()!r:>10} {"a" if d else "b"}')
print(f'{1!r}{2!s:>3}{"":5}|')
