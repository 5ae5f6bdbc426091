"""The part of matplotlib that scripts use: figures as descriptions, which savefig writes as SVG."""


def use(backend, force=True):
    pass


class _Settings(dict):
    def update(self, *args, **kwargs):
        pass


rcParams = _Settings()


def __getattr__(name):
    import importlib
    if name in ("axes", "colors", "figure", "pyplot", "ticker"):
        return importlib.import_module("matplotlib." + name)
    raise AttributeError(f"module 'matplotlib' has no attribute '{name}'")
