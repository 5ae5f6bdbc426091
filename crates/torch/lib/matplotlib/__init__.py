"""The part of matplotlib that scripts use: figures as descriptions, which savefig writes as SVG."""


def use(backend, force=True):
    pass


class _Settings(dict):
    def update(self, *args, **kwargs):
        pass


rcParams = _Settings()
