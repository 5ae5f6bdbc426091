"""A multilayer perceptron tells drawn digits apart: seven by five points of ink, moved, thinned and noisy.

    aludel run examples/digits_mlp.py --epochs 20
"""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

GLYPHS = """
.###. ..#.. .###. .###. ...#. ##### .###. ##### .###. .###.
#...# .##.. #...# #...# ..##. #.... #.... ....# #...# #...#
#..## ..#.. ....# ....# .#.#. ####. ####. ...#. #...# #...#
#.#.# ..#.. ...#. ..##. #..#. ....# #...# ..#.. .###. .####
##..# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. .#... #...# ...#. #...# #...# ..#.. #...# ....#
.###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .###.
"""


def draw(count, size=10):
    rows = [line.split() for line in GLYPHS.strip().splitlines()]
    shapes = torch.tensor([[[float(c == "#") for c in row[d]] for row in rows] for d in range(10)])
    labels = torch.randint(0, 10, (count,))
    images = torch.zeros(count, 1, size, size)
    for i, label in enumerate(labels.tolist()):
        top, left = torch.randint(0, size - 6, (1,)).item(), torch.randint(0, size - 4, (1,)).item()
        images[i, 0, top:top + 7, left:left + 5] = shapes[label]
    return images * (0.6 + 0.4 * torch.rand(count, 1, 1, 1)) + 0.1 * torch.randn_like(images), labels


class Net(nn.Module):
    def __init__(self, pixels, hidden):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(pixels, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 10)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        x = torch.flatten(x, 1)
        x = self.dropout(F.relu(self.fc1(x)))
        x = F.relu(self.fc2(x))
        return F.log_softmax(self.fc3(x), dim=1)


def train(args, model, device, train_loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            done, total = batch_idx * len(data), len(train_loader.dataset)
            print("Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.4f}".format(epoch, done, total, 100. * done / total, loss.item()))


def test(model, device, test_loader):
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for data, target in test_loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()
    n = len(test_loader.dataset)
    print("Test set: average loss {:.4f}, accuracy {}/{} ({:.0f}%)".format(test_loss / n, correct, n, 100. * correct / n))


def main():
    parser = argparse.ArgumentParser(description="digits with a multilayer perceptron")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--gamma", type=float, default=0.9)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log-interval", type=int, default=10)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    images, labels = draw(args.count)
    edge = args.count * 4 // 5
    train_loader = DataLoader(TensorDataset(images[:edge], labels[:edge]), batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(TensorDataset(images[edge:], labels[edge:]), batch_size=256)
    model = Net(100, args.hidden).to(device)
    optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    scheduler = StepLR(optimizer, step_size=1, gamma=args.gamma)
    for epoch in range(1, args.epochs + 1):
        train(args, model, device, train_loader, optimizer, epoch)
        test(model, device, test_loader)
        scheduler.step()


if __name__ == "__main__":
    main()
