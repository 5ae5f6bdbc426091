s = 'hello World'
print(s.upper(), s.lower(), s.title(), s.capitalize(), s.swapcase())
print('ß'.upper(), 'ÉCOLE'.lower(), 'Straße'.casefold(), "they're".title())
print('abc'.islower(), 'ABC'.isupper(), 'Abc Def'.istitle(), '12'.isdigit(), 'a1'.isalnum(), 'ab'.isalpha(), ' '.isspace(), 'x1'.isidentifier(), ''.isalpha())
