s = 'héllo😀'
print(len(s), s[1], s[-1], s[1:3], s[::-1], s[5], 'abc'[0] + 'abc'[-1])
for c in 'aé':
    print(c, ord(c), chr(ord(c) + 1))
for i in (10, -10):
    try:
        s[i]
    except IndexError as e:
        print(e)
