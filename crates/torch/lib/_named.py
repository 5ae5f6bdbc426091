"""A module of which only the names are there, as many imports of packages ask for more than runs: what is called refuses by its name."""

_HINTS = {
    "torch.onnx": "graphs are not exported; torch.save keeps a model", "torch.export": "graphs are not exported; torch.save keeps a model",
    "torch.nested": "pad the sequences, torch.nn.utils.rnn.pad_sequence does, and pass a mask",
    "torch.utils.dlpack": "memory is not shared with other libraries; numpy() and from_numpy copy",
    "torch.distributed": "DistributedDataParallel and the functions of torch.distributed are there",
    "PIL": "torchvision.transforms has blurs, colours and shears of tensors", "torchvision.datasets": "ImageFolder reads images in folders",
    "matplotlib": "matplotlib.pyplot makes figures and axes, by subplots",
    "scipy.ndimage": "torch.nn.functional has interpolate and conv2d",
}


class _Name(type):
    def __getattr__(cls, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return name(cls._where, attribute)

    def __getitem__(cls, item):
        return cls


def name(module, title):
    def refuse(cls, *args, **kwargs):
        hint = next((text for start, text in _HINTS.items() if module.startswith(start)), "")
        raise NotImplementedError(f"{module}.{title} is not there" + (f": {hint}" if hint else ""))
    return _Name(title, (), {"__new__": refuse, "__module__": module, "_where": f"{module}.{title}"})


def names(module):
    """The `__getattr__` of such a module; each name is made once."""
    made = {}

    def find(title):
        if title.startswith("__"):
            raise AttributeError(f"module '{module}' has no attribute '{title}'")
        # Nothing is ever exported, which `bool()` says.
        if title == "is_in_onnx_export":
            return bool
        if title not in made:
            made[title] = name(module, title)
        return made[title]
    return find
