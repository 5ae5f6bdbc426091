"""Quotients rounded down at zero, at infinity and between; losses of what has no logarithm; what LBFGS keeps."""
import math

import torch
import torch.nn.functional as F

values = torch.tensor([1.0, -1.0, 0.0, -0.0, 7.5, -7.5, math.inf, -math.inf, math.nan])
for divisor in (math.inf, -math.inf, 0.0, 2.0, -2.0, 0.3):
    print(divisor, torch.div(values, divisor, rounding_mode="floor").tolist(), (values // torch.tensor(divisor)).tolist())
    print(divisor, torch.remainder(values, divisor).tolist(), torch.fmod(values, divisor).tolist())
    print(divisor, torch.div(values, divisor, rounding_mode="trunc").tolist())
x = torch.tensor([5.0, -3.0], requires_grad=True)
y = torch.tensor([2.0, 2.0], requires_grad=True)
torch.div(x, y, rounding_mode="floor").sum().backward()
print(x.grad, y.grad)
print((torch.tensor([7, -7, 6]) // torch.tensor([2, 2, -4])).tolist())

logits = torch.tensor([-1.0, -2.0, -0.5])
for target in ([0.5, -0.1, 0.0], [0.2, 0.0, 0.8]):
    t = torch.tensor(target)
    print([round(v, 5) for v in F.kl_div(logits, t, reduction="none").tolist()])
    print([round(v, 5) for v in F.kl_div(logits, t, reduction="none", log_target=True).tolist()])
for call in (lambda: F.celu(logits, 0.0), lambda: torch.nn.CELU(0.0)(logits)):
    try:
        call()
    except RuntimeError as error:
        print(type(error).__name__, "alpha cannot be 0" in str(error))

p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
optimizer = torch.optim.LBFGS([p], lr=0.1, max_iter=3)


def closure():
    optimizer.zero_grad()
    loss = (p ** 4).sum()
    loss.backward()
    return loss


optimizer.step(closure)
state = optimizer.state_dict()["state"][0]
print(sorted(state), state["func_evals"], state["n_iter"], len(state["al"]), round(state["prev_loss"], 4))
