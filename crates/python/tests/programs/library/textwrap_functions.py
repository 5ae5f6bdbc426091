import textwrap
s = 'The quick brown fox jumped over the lazy dog, and a well-known re-examination of things took place.'
print(textwrap.fill(s, 30)); print(textwrap.wrap(s, 20)); print(textwrap.shorten(s, 40)); print(textwrap.indent('a\n\nb', '> '))
print(textwrap.dedent('''\
    one
      two

    three''')); print(textwrap.fill('aaaaaaaaaaaaaaaaaaaaaaaa bb', 10)); print(textwrap.fill(s, 40, initial_indent='* ', subsequent_indent='  '))
print(textwrap.wrap(''), textwrap.wrap('a\tb  c', 80), textwrap.wrap('long-hyphenated-words-here ok', 12), textwrap.wrap('x' * 5, 3, break_long_words=False))
