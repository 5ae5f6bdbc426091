"""How models are made by name."""


def maker(name, kind, *given):
    """The function of a name, which makes a model of a class with these arguments."""
    def build(*, weights=None, progress=True, pretrained=False, **kwargs):
        if weights is not None or pretrained:
            raise NotImplementedError(f"{name}(weights=..): nothing is downloaded; make it without and load_state_dict(torch.load(file))")
        return kind(*given, **kwargs)
    build.__name__ = build.__qualname__ = name
    return build
