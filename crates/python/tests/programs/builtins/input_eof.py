try:
    input('prompt> ')
except EOFError as e:
    print()
    print(type(e).__name__, e)
