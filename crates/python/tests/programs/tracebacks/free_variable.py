def outer():
    def inner():
        return later
    inner()
    later = 1
outer()
