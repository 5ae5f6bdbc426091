"""safetensors.torch."""

from safetensors import _deserialize, _serialize


def save_file(tensors, filename, metadata=None):
    with open(filename, "wb") as file:
        file.write(_serialize(tensors, metadata))


def load_file(filename, device="cpu"):
    with open(filename, "rb") as file:
        return _deserialize(file.read())


def save(tensors, metadata=None):
    return _serialize(tensors, metadata)


def load(data):
    return _deserialize(data)


def save_model(model, filename, metadata=None, force_contiguous=True):
    save_file(dict(model.state_dict()), filename, metadata)


def load_model(model, filename, strict=True, device="cpu"):
    found = model.load_state_dict(load_file(filename), strict=strict)
    return found.missing_keys, found.unexpected_keys
