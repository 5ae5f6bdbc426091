"""A small convolutional network reads digits that the script draws itself: shifted, of different ink, with noise.

    aludel run examples/digits_cnn.py --epochs 10
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


def glyphs():
    rows = [line.split() for line in GLYPHS.strip().splitlines()]
    return torch.tensor([[[float(c == "#") for c in row[d]] for row in rows] for d in range(10)])


def draw(count, size=12):
    shapes = glyphs()
    labels = torch.randint(0, 10, (count,))
    images = torch.zeros(count, 1, size, size)
    for i, label in enumerate(labels.tolist()):
        top = torch.randint(0, size - 6, (1,)).item()
        left = torch.randint(0, size - 4, (1,)).item()
        images[i, 0, top:top + 7, left:left + 5] = shapes[label]
    ink = 0.5 + 0.5 * torch.rand(count, 1, 1, 1)
    return images * ink + 0.15 * torch.randn_like(images), labels


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * 3 * 3, 10),
    )


def evaluate(model, loader, device):
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for images, labels in loader:
            images, labels = images.to(device), labels.to(device)
            correct += (model(images).argmax(1) == labels).sum().item()
            total += labels.size(0)
    return correct / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    held_out = args.count // 5
    train, test = random_split(TensorDataset(*draw(args.count)), [args.count - held_out, held_out])
    train_loader = DataLoader(train, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test, batch_size=args.batch_size)

    model = network().to(device)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters")
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(1, args.epochs + 1):
        model.train()
        running = 0.0
        for images, labels in train_loader:
            images, labels = images.to(device), labels.to(device)
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            running += loss.item() * images.size(0)
        print(f"epoch {epoch}  loss {running / len(train):.4f}  test accuracy {evaluate(model, test_loader, device):.3f}")


if __name__ == "__main__":
    main()
