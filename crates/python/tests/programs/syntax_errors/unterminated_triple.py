s = """abc
def
