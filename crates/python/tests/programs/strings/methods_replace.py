s = 'a-b-c'
print(s.replace('-', '+'), s.replace('-', '', 1), s.replace('x', 'y'), 'aaa'.replace('aa', 'b'), 'ab'.replace('', '.'))
print(s.translate({ord('a'): 'X', ord('-'): None}), 'hello'.translate(str.maketrans('el', 'ip', 'o')), 'tab\tx'.expandtabs(4))
