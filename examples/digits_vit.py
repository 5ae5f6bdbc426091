"""A vision transformer reads drawn digits in patches of three by three: Dosovitskiy et al., 2020.

    aludel run examples/digits_vit.py --epochs 20
"""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

GLYPHS = """
.###. ..#.. .###. .###. ...#. ##### .###. ##### .###. .###.
#...# .##.. #...# #...# ..##. #.... #.... ....# #...# #...#
#..## ..#.. ....# ....# .#.#. ####. ####. ...#. #...# #...#
#.#.# ..#.. ...#. ..##. #..#. ....# #...# ..#.. .###. .####
##..# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. .#... #...# ...#. #...# #...# ..#.. #...# ....#
.###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .###.
"""


def draw(count, size=12):
    rows = [line.split() for line in GLYPHS.strip().splitlines()]
    shapes = torch.tensor([[[float(c == "#") for c in row[d]] for row in rows] for d in range(10)])
    labels = torch.randint(0, 10, (count,))
    images = torch.zeros(count, 1, size, size)
    for i, label in enumerate(labels.tolist()):
        top, left = torch.randint(0, size - 6, (1,)).item(), torch.randint(0, size - 4, (1,)).item()
        images[i, 0, top:top + 7, left:left + 5] = shapes[label]
    return images * (0.6 + 0.4 * torch.rand(count, 1, 1, 1)) + 0.1 * torch.randn_like(images), labels


class ViT(nn.Module):
    def __init__(self, image=12, patch=3, width=48, depth=2, heads=4, classes=10):
        super().__init__()
        self.patches = nn.Conv2d(1, width, kernel_size=patch, stride=patch)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, 1 + (image // patch) ** 2, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, heads, dim_feedforward=2 * width, dropout=0.0, activation="gelu", batch_first=True,
                                           norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, norm=nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.positions
        return self.head(self.encoder(x)[:, 0])


@torch.no_grad()
def accuracy(model, loader, device):
    model.eval()
    right = sum((model(x.to(device)).argmax(1) == y.to(device)).sum().item() for x, y in loader)
    return right / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    train, held_out = random_split(TensorDataset(*draw(args.count)), [0.8, 0.2])
    loader = DataLoader(train, args.batch_size, shuffle=True, drop_last=True)
    model = ViT().to(device)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters")
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=args.epochs * len(loader))
    for epoch in range(args.epochs):
        model.train()
        losses = []
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device), label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        print(f"epoch {epoch}  loss {sum(losses) / len(losses):.4f}  lr {scheduler.get_last_lr()[0]:.5f}")
    print(f"accuracy {accuracy(model, DataLoader(held_out, 256), device):.3f}")


if __name__ == "__main__":
    main()
