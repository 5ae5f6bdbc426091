import torch
import torch.nn as nn


def attempt(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, str(e).split("\n")[0])


attempt(lambda: nn.Linear(3, 4)(torch.ones(2, 5)))
attempt(lambda: torch.ones(2, 3) @ torch.ones(2, 3))
attempt(lambda: torch.ones(2, 3) + torch.ones(2, 4))
attempt(lambda: torch.ones(3)[5])
attempt(lambda: torch.ones(2)[0, 0])
attempt(lambda: torch.ones(2, 2).item())
attempt(lambda: bool(torch.ones(2)))
attempt(lambda: nn.Module()(1))
attempt(lambda: torch.optim.SGD([], lr=0.1))
attempt(lambda: nn.CrossEntropyLoss()(torch.ones(2, 3), torch.tensor([1])))
attempt(lambda: nn.Linear(2, 2).foo)
attempt(lambda: torch.tensor([[1, 2], [3]]))
attempt(lambda: len(torch.tensor(1)))
attempt(lambda: torch.ones(2).nothing)
raise ValueError(f"the end {torch.tensor(3)}")
