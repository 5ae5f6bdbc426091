"""torch.hub: scripts have no network."""

import os
import re
import torch

_dir = [None]
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")


def urlparse(url):
    from urllib.parse import urlparse
    return urlparse(url)


def get_dir():
    return _dir[0] or os.path.join(os.path.expanduser(os.getenv("TORCH_HOME", "~/.cache/torch")), "hub")


def set_dir(d):
    _dir[0] = os.path.expanduser(d)


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None, weights_only=False):
    """A file that is there already is read."""
    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    path = os.path.join(folder, file_name or os.path.basename(url))
    if not os.path.exists(path):
        raise NotImplementedError(f"scripts have no network: put {url} at {path}")
    return torch.load(path, map_location=map_location, weights_only=weights_only)


load_url = load_state_dict_from_url


def _refused(name, instead):
    def function(*args, **kwargs):
        raise NotImplementedError(f"torch.hub.{name}: scripts have no network; {instead}")
    return function


load = _refused("load", "import the model's module from beside the script")
list = _refused("list", "import the model's module from beside the script")
help = _refused("help", "import the model's module from beside the script")
download_url_to_file = _refused("download_url_to_file", "put the file where the script reads it")
