"""torchvision.utils."""

from torch import _C
import math
import torch


@torch.no_grad()
def make_grid(tensor, nrow=8, padding=2, normalize=False, value_range=None, scale_each=False, pad_value=0.0):
    if isinstance(tensor, (list, tuple)):
        tensor = torch.stack(list(tensor))
    if tensor.dim() == 2:
        tensor = tensor.unsqueeze(0)
    if tensor.dim() == 3:
        tensor = tensor.unsqueeze(0) if tensor.shape[0] in (1, 3) else tensor.unsqueeze(1)
    if tensor.shape[1] == 1:
        tensor = tensor.expand(tensor.shape[0], 3, tensor.shape[2], tensor.shape[3])
    if normalize:
        def scaled(t):
            low, high = value_range if value_range is not None else (t.min().item(), t.max().item())
            return (t.clamp(low, high) - low) / max(high - low, 1e-5)
        tensor = torch.stack([scaled(t) for t in tensor]) if scale_each else scaled(tensor)
    if tensor.shape[0] == 1:
        return tensor.squeeze(0)
    count = tensor.shape[0]
    columns = min(nrow, count)
    rows = math.ceil(count / columns)
    height, width = tensor.shape[2] + padding, tensor.shape[3] + padding
    grid = torch.full((tensor.shape[1], height * rows + padding, width * columns + padding), pad_value, dtype=tensor.dtype)
    for k in range(count):
        y, x = k // columns * height + padding, k % columns * width + padding
        grid[:, y:y + tensor.shape[2], x:x + tensor.shape[3]] = tensor[k]
    return grid


@torch.no_grad()
def save_image(tensor, fp, format=None, **kwargs):
    grid = make_grid(tensor, **kwargs)
    pixels = (grid * 255 + 0.5).clamp(0, 255).permute(1, 2, 0).to(torch.uint8)
    name = str(fp) if not hasattr(fp, "write") else ""
    if name and not name.lower().endswith(".png"):
        raise NotImplementedError(f"save_image to {name}: images are written as .png")
    data = _C.png(_C.to_bytes(pixels), pixels.shape[1], pixels.shape[0])
    if hasattr(fp, "write"):
        fp.write(data)
    else:
        with open(fp, "wb") as file:
            file.write(data)
