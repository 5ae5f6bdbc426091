text = """line one
  line two
line three"""
for i, line in enumerate(text.split('\n'), 1):
    print(f'{i:>3}: {line.strip()!r}')
import textwrap
print(textwrap.dedent("""
    a
      b
    c""").strip())
