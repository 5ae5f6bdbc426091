class E(Exception):
    def __str__(self):
        return 'custom text'
raise E(1, 2)
