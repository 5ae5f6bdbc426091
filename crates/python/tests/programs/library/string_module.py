import string
print(string.ascii_lowercase, string.digits, string.ascii_letters[:30], string.punctuation, repr(string.whitespace), string.hexdigits)
t = string.Template('$who likes ${what} $$5')
print(t.substitute(who='tim', what='tea'), t.safe_substitute(who='x'), string.capwords('hello big world'))
for bad in ('$', '$ x', '${a'):
    try:
        string.Template('ok ' + bad).substitute(a=1)
    except ValueError as e:
        print(e)
try:
    t.substitute(who='a')
except KeyError as e:
    print(repr(e))
print(''.join(c for c in 'Hello, World!' if c not in string.punctuation))
