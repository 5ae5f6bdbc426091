"""An autoencoder finds the numbers that made a picture: each shows one spot of light, at some place and of some width.

    aludel run examples/autoencoder.py
"""

import argparse

import torch
import torch.nn as nn

SIZE = 10


def spots(n):
    grid = torch.linspace(0, 1, SIZE)
    x, y = torch.rand(n, 1, 1), torch.rand(n, 1, 1)
    width = 0.1 + 0.15 * torch.rand(n, 1, 1)
    distance = (grid[None, None, :] - x) ** 2 + (grid[None, :, None] - y) ** 2
    return torch.exp(-distance / (2 * width ** 2))


class Autoencoder(nn.Module):
    def __init__(self, code=3, hidden=64):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(SIZE * SIZE, hidden), nn.GELU(), nn.Linear(hidden, code))
        self.decoder = nn.Sequential(nn.Linear(code, hidden), nn.GELU(), nn.Linear(hidden, SIZE * SIZE), nn.Sigmoid())

    def forward(self, x):
        code = self.encoder(x)
        return self.decoder(code).view(-1, SIZE, SIZE), code


def show(image):
    """A picture in characters, dark to light."""
    shades = " .:-=+*#%@"
    for row in image.tolist():
        print("  " + "".join(shades[min(int(v * 10), 9)] for v in row))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--every", type=int, default=200)
    parser.add_argument("--show", action="store_true", help="draw a picture and what became of it")
    args = parser.parse_args()

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Autoencoder().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.MSELoss()
    for step in range(1, args.steps + 1):
        images = spots(64).to(device)
        restored, _ = model(images)
        loss = criterion(restored, images)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % args.every == 0:
            print(f"step {step}: {loss.item():.5f}")

    model.eval()
    with torch.no_grad():
        images = spots(256).to(device)
        restored, code = model(images)
        print(f"error {criterion(restored, images).item():.5f}, of the mean picture {images.var(dim=0, unbiased=False).mean().item():.5f}")
        print("codes lie between", [round(v, 2) for v in code.amin(0).tolist()], "and", [round(v, 2) for v in code.amax(0).tolist()])
        if args.show:
            show(images[0])
            print()
            show(restored[0])


if __name__ == "__main__":
    main()
