"""torch.func's results: writes func.json beside this file. Run with PyTorch 2.15; needs nothing else.

One small classifier (linear, layer norm, tanh, linear, cross entropy) under every transformation. Values are computed in float64 from
numbers that float32 can hold.
"""

import json
import pathlib

import torch
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
randn = lambda *shape: torch.randn(*shape).float().double()


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 4)
        self.norm = torch.nn.LayerNorm(4)
        self.second = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.second(torch.tanh(self.norm(self.first(x))))


model = Classifier()
with torch.no_grad():
    for p in model.parameters():
        p.copy_((p + 0.3 * torch.randn_like(p)).float().double())
params = {n: p.detach() for n, p in model.named_parameters()}
directions = {n: randn(*p.shape) for n, p in params.items()}
x, y = randn(5, 3), torch.tensor([0, 1, 1, 0, 1])


def loss(params, x, y):
    return torch.nn.functional.cross_entropy(functional_call(model, params, (x,)), y)


flat = lambda t: [float(f"{v:.9g}") for v in t.flatten().tolist()]
tree = lambda d: {n: flat(t) for n, t in d.items()}
one = x[0]
probabilities = lambda x: torch.softmax(functional_call(model, params, (x,)), -1)
negentropy = lambda x: (probabilities(x) * probabilities(x).log()).sum()
cotangent = randn(5, 2)
value, pullback = vjp(lambda p: functional_call(model, p, (x,)), params)
# By differences: torch 2.15's own third derivative through layer_norm does not agree with them.
along = lambda i: 1e-4 * torch.eye(3)[i]
third = torch.stack([(hessian(negentropy)(one + along(i)) - hessian(negentropy)(one - along(i))).sum() / 2e-4 for i in range(3)])
result = {
    "parameters": tree(params),
    "shapes": {n: list(p.shape) for n, p in params.items()},
    "directions": tree(directions),
    "x": flat(x),
    "y": y.tolist(),
    "cotangent": flat(cotangent),
    "functional_call": flat(value),
    "loss": flat(loss(params, x, y)),
    "grad": tree(grad(loss)(params, x, y)),
    "per_sample_grad": tree(vmap(grad(lambda p, x, y: loss(p, x[None], y[None])), in_dims=(None, 0, 0))(params, x, y)),
    "vjp": tree(pullback(cotangent)[0]),
    "jvp": flat(jvp(lambda p: loss(p, x, y), (params,), (directions,))[1]),
    "hvp": tree(jvp(grad(lambda p: loss(p, x, y)), (params,), (directions,))[1]),
    "jacobian": flat(jacrev(probabilities)(one)),
    "hessian": flat(hessian(negentropy)(one)),
    "third": flat(third),
}
assert torch.allclose(jacfwd(probabilities)(one), jacrev(probabilities)(one))
path = pathlib.Path(__file__).with_name("func.json")
path.write_text(json.dumps(result, indent=1) + "\n")
