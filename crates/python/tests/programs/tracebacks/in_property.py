class C:
    @property
    def size(self):
        return self._size
C().size
