print(r'\n\d', b'by\x00te', f'{1+1}', rf'\{2}', 'a\tb', '\x41\u00e9\U0001F600', '\101')
print("it's", 'say "hi"', '''multi
line''', """quo'"te""")
print(len(r'\\'), '\\', 'line\
continued')
print('\N{GREEK SMALL LETTER ALPHA}' if False else 'ok')
