"""An LSTM learns to add: it reads two numbers, character by character, and writes their sum reversed.

    aludel run examples/addition_lstm.py --steps 2000
"""

import argparse

import torch
from torch import nn

CHARS = "0123456789+="


def batch(count, digits):
    rows = []
    for a, b in torch.randint(0, 10 ** digits, (count, 2)).tolist():
        total = str(a + b).zfill(digits + 1)[::-1]
        rows.append([CHARS.index(c) for c in f"{a:0{digits}d}+{b:0{digits}d}={total}"])
    text = torch.tensor(rows)
    return text[:, :-1], text[:, 1:]


class Adder(nn.Module):
    def __init__(self, width=64, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(len(CHARS), width)
        self.lstm = nn.LSTM(width, width, num_layers=layers, batch_first=True)
        self.decoder = nn.Linear(width, len(CHARS))

    def forward(self, x, state=None):
        out, state = self.lstm(self.embedding(x), state)
        return self.decoder(out), state

    @torch.no_grad()
    def answer(self, prompt, length):
        scores, state = self(prompt)
        digits = []
        for _ in range(length):
            token = scores[:, -1].argmax(-1, keepdim=True)
            digits.append(token)
            scores, state = self(token, state)
        return torch.cat(digits, dim=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--digits", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--width", type=int, default=64)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Adder(args.width).to(device)
    print(f"{sum(p.numel() for p in model.parameters())} parameters")
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    start = 2 * args.digits + 1
    for step in range(args.steps):
        x, y = (t.to(device) for t in batch(args.batch_size, args.digits))
        scores, _ = model(x)
        loss = criterion(scores[:, start:].flatten(0, 1), y[:, start:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % args.every == 0 or step == args.steps - 1:
            print(f"step {step:5d}  loss {loss.item():.4f}")

    x, y = batch(256, args.digits)
    answers = model.answer(x[:, :start + 1], args.digits + 1)
    right = (answers == y[:, start:]).all(dim=1)
    print(f"{right.float().mean().item():.1%} of sums are right")
    for row, guess in list(zip(x.tolist(), answers.tolist()))[:3]:
        problem = "".join(CHARS[i] for i in row[:start])
        print(problem, "=", "".join(CHARS[i] for i in reversed(guess)))


if __name__ == "__main__":
    main()
