"""Module doc."""
def f():
    """Function doc.

    More."""
class C:
    'Class doc'
    def m(self):
        "method doc"
print(__doc__)
print(f.__doc__)
print(C.__doc__, C.m.__doc__, C().m.__doc__, (lambda: 0).__doc__)
