"""How models are made by name."""

from torch import nn


def maker(name, kind, *given):
    """The function of a name, which makes a model of a class with these arguments."""
    def build(*, weights=None, progress=True, pretrained=False, **kwargs):
        if weights is not None or pretrained:
            raise NotImplementedError(f"{name}(weights=..): nothing is downloaded; make it without and load_state_dict(torch.load(file))")
        return kind(*given, **kwargs)
    build.__name__ = build.__qualname__ = name
    return build


def reset(model, linear):
    """Initial weights of convolutions, normalizations and, by a function, of linear layers."""
    for m in model.modules():
        if isinstance(m, nn.Conv2d):
            nn.init.kaiming_normal_(m.weight, mode="fan_out")
        elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
            nn.init.ones_(m.weight)
        elif isinstance(m, nn.Linear):
            linear(m.weight)
        else:
            continue
        if m.bias is not None:
            nn.init.zeros_(m.bias)
