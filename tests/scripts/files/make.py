"""Makes the files of this directory with PyTorch: python tests/scripts/files/make.py"""

import pathlib
import torch

here = pathlib.Path(__file__).parent
torch.manual_seed(1)
base = torch.arange(12.0).reshape(3, 4)
torch.save({"w": torch.nn.Parameter(torch.randn(2, 2)), "view": base[:, 1:3].T, "half": torch.tensor([1.5, -2.0], dtype=torch.float16),
            "long": torch.tensor([[1, 2 ** 31 - 1]]), "list": [1, "two", 3.0], "shared": (base, base)}, here / "pytorch.pt")
