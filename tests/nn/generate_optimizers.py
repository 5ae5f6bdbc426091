"""PyTorch's trajectories of optimizers and sequences of schedulers: writes optimizers.json beside this file. Run with PyTorch 2.15.

Every run minimises sum(w * c_t) + sum(w^2) / 2 over a matrix and a vector; the learning rate is halved after ten steps. Values are
computed in float64. Lion, which PyTorch does not have, follows the paper's listing. The Newton-Schulz iterations of Muon run in
bfloat16 as PyTorch has them, and once more in float64, where results can be compared closely.
"""

import json
import pathlib

import torch
import torch.optim._muon as muon_module
from torch.optim import lr_scheduler as S

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
STEPS, KEPT = 20, [1, 2, 5, 10, 20]
rounded = lambda t: t.float().double()
WEIGHT, BIAS = rounded(torch.randn(3, 2)), rounded(torch.randn(3))
PUSH = [(rounded(torch.randn(3, 2)), rounded(torch.randn(3))) for _ in range(STEPS)]
numbers = lambda t: [float(f"{v:.9g}") for v in t.detach().flatten().tolist()]


class Lion(torch.optim.Optimizer):
    """Chen et al., "Symbolic discovery of optimization algorithms", listing 1."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                update = group["betas"][0] * m + (1 - group["betas"][0]) * p.grad
                p -= group["lr"] * (update.sign() + group["weight_decay"] * p)
                m.copy_(group["betas"][1] * m + (1 - group["betas"][1]) * p.grad)


def run(name, kind, make, matrix_only=False):
    w, b = WEIGHT.clone().requires_grad_(), BIAS.clone().requires_grad_()
    optimizer = make([w] if matrix_only else [w, b], w, b)
    kept = []
    for t, (cw, cb) in enumerate(PUSH):
        if t == 10:
            for g in optimizer.param_groups:
                g["lr"] /= 2
        optimizer.zero_grad()
        loss = (w * cw).sum() + (w * w).sum() / 2
        if not matrix_only:
            loss = loss + (b * cb).sum() + (b * b).sum() / 2
        loss.backward()
        optimizer.step()
        if t + 1 in KEPT:
            kept.append({"weight": numbers(w), "bias": numbers(b)})
    return {"name": name, "kind": kind, "kept": kept}


def runs():
    O = torch.optim
    plain = lambda cls, **o: lambda ps, w, b: cls(ps, **o)
    yield run("sgd", "Sgd", plain(O.SGD, lr=0.1))
    yield run("sgd_momentum", "Sgd", plain(O.SGD, lr=0.1, momentum=0.9))
    yield run("sgd_dampening", "Sgd", plain(O.SGD, lr=0.1, momentum=0.8, dampening=0.3, weight_decay=0.05))
    yield run("sgd_nesterov", "Sgd", plain(O.SGD, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.1))
    yield run("sgd_maximize", "Sgd", plain(O.SGD, lr=0.01, maximize=True))
    yield run("adam", "Adam", plain(O.Adam, lr=0.1))
    yield run("adam_options", "Adam", plain(O.Adam, lr=0.05, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1))
    yield run("adam_amsgrad", "Adam", plain(O.Adam, lr=0.1, betas=(0.5, 0.6), amsgrad=True, maximize=True))
    yield run("adamw", "AdamW", plain(O.AdamW, lr=0.1))
    yield run("adamw_options", "AdamW", plain(O.AdamW, lr=0.05, betas=(0.0, 0.9), weight_decay=0.2, amsgrad=True))
    yield run("rmsprop", "RmsProp", plain(O.RMSprop))
    yield run("rmsprop_options", "RmsProp", plain(O.RMSprop, lr=0.02, alpha=0.9, eps=1e-3, weight_decay=0.1, momentum=0.8, centered=True))
    yield run("rmsprop_momentum", "RmsProp", plain(O.RMSprop, momentum=0.5, maximize=True))
    yield run("adagrad", "Adagrad", plain(O.Adagrad))
    yield run("adagrad_options", "Adagrad",
              plain(O.Adagrad, lr=0.1, lr_decay=0.2, weight_decay=0.1, initial_accumulator_value=0.5, eps=1e-3))
    yield run("lion", "Lion", plain(Lion, lr=0.01))
    yield run("lion_options", "Lion", plain(Lion, lr=0.02, betas=(0.8, 0.7), weight_decay=0.3))
    groups = lambda ps, w, b: O.AdamW([{"params": [b], "weight_decay": 0.0, "lr": 0.2}, {"params": [w]}], lr=0.1, weight_decay=0.3)
    yield run("adamw_groups", "AdamW", groups)
    yield run("muon_bf16", "Muon", plain(O.Muon, lr=0.1), True)
    yield run("adadelta", "Adadelta", plain(O.Adadelta))
    yield run("adadelta_options", "Adadelta", plain(O.Adadelta, lr=0.5, rho=0.7, eps=1e-3, weight_decay=0.1, maximize=True))
    yield run("adafactor", "Adafactor", plain(O.Adafactor))
    yield run("adafactor_options", "Adafactor",
              plain(O.Adafactor, lr=0.3, beta2_decay=-0.5, eps=(1e-4, 1e-2), d=1.5, weight_decay=0.2))
    yield run("adamax", "Adamax", plain(O.Adamax))
    yield run("adamax_options", "Adamax", plain(O.Adamax, lr=0.1, betas=(0.7, 0.9), eps=1e-3, weight_decay=0.1))
    yield run("nadam", "NAdam", plain(O.NAdam, lr=0.1))
    yield run("nadam_options", "NAdam",
              plain(O.NAdam, lr=0.1, betas=(0.8, 0.95), weight_decay=0.1, momentum_decay=0.1, decoupled_weight_decay=True))
    yield run("radam", "RAdam", plain(O.RAdam, lr=0.1))
    yield run("radam_options", "RAdam", plain(O.RAdam, lr=0.1, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.1, decoupled_weight_decay=True))
    yield run("rprop", "Rprop", plain(O.Rprop))
    yield run("rprop_options", "Rprop", plain(O.Rprop, lr=0.1, etas=(0.3, 1.5), step_sizes=(0.02, 0.3), maximize=True))
    yield run("asgd", "Asgd", plain(O.ASGD))
    yield run("asgd_options", "Asgd", plain(O.ASGD, lr=0.1, lambd=0.2, alpha=0.5, t0=4, weight_decay=0.1))
    original = muon_module._zeropower_via_newtonschulz

    class Wide(torch.Tensor):
        """Stays in float64 where the function asks for bfloat16."""

        def to(self, *args, **kwargs):
            return self.as_subclass(torch.Tensor).clone()

    muon_module._zeropower_via_newtonschulz = lambda g, *a: original(g.as_subclass(Wide), *a)
    yield run("muon", "Muon", plain(O.Muon, lr=0.1), True)
    yield run("muon_options", "Muon", plain(O.Muon, lr=0.05, weight_decay=0.2, momentum=0.8, nesterov=False, ns_steps=3,
                                            ns_coefficients=(2.0, -1.5, 0.5), adjust_lr_fn="match_rms_adamw"), True)
    muon_module._zeropower_via_newtonschulz = original


def lbfgs(name, **options):
    """Steps of L-BFGS towards the least of a function of four variables (Rosenbrock's, twice)."""
    x = torch.nn.Parameter(torch.tensor([-1.2, 1.0, 0.5, -0.3]))
    optimizer = torch.optim.LBFGS([x], **options)
    kept = []
    for _ in range(4):
        def closure():
            optimizer.zero_grad()
            a, b = x[0::2], x[1::2]
            loss = ((1 - a) ** 2 + 10 * (b - a**2) ** 2).sum()
            loss.backward()
            return loss
        kept.append({"loss": float(optimizer.step(closure)), "x": numbers(x)})
    return {"name": name, "kept": kept}


def clipped(clip):
    grads = [torch.nn.Parameter(torch.zeros_like(c)) for c in PUSH[0]]
    for p, c in zip(grads, PUSH[0]):
        p.grad = c.clone()
    norm = clip(grads)
    return {"norm": None if norm is None else float(norm), "weight": numbers(grads[0].grad), "bias": numbers(grads[1].grad)}


def schedule(name, make, steps=24, metrics=None):
    a, b = torch.nn.Parameter(torch.zeros(1)), torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.03}], lr=0.1, momentum=0.9)
    scheduler = make(optimizer)
    read = lambda: [[g["lr"] for g in optimizer.param_groups], optimizer.param_groups[0]["momentum"]]
    values = [read()]
    for t in range(steps):
        optimizer.step()
        scheduler.step(*([] if metrics is None else [metrics[t]]))
        values.append(read())
    return {"name": name, "metrics": metrics, "lr": [v[0] for v in values], "momentum": [v[1] for v in values]}


def schedules():
    yield schedule("step", lambda o: S.StepLR(o, 5, gamma=0.5))
    yield schedule("multi_step", lambda o: S.MultiStepLR(o, [3, 4, 10], gamma=0.3))
    yield schedule("exponential", lambda o: S.ExponentialLR(o, 0.9))
    yield schedule("constant", lambda o: S.ConstantLR(o, factor=0.25, total_iters=4))
    yield schedule("linear", lambda o: S.LinearLR(o, start_factor=0.2, end_factor=0.9, total_iters=6))
    yield schedule("polynomial", lambda o: S.PolynomialLR(o, total_iters=10, power=2.0))
    yield schedule("cosine", lambda o: S.CosineAnnealingLR(o, 8, eta_min=0.01))
    yield schedule("warm_restarts", lambda o: S.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.001))
    yield schedule("lambda", lambda o: S.LambdaLR(o, [lambda e: 1 / (1 + e), lambda e: 0.5**e]))
    yield schedule("sequential", lambda o: S.SequentialLR(
        o, [S.LinearLR(o, start_factor=0.1, total_iters=5), S.CosineAnnealingLR(o, 12)], milestones=[5]))
    yield schedule("one_cycle", lambda o: S.OneCycleLR(o, [0.5, 0.2], total_steps=25))
    yield schedule("one_cycle_three_phase", lambda o: S.OneCycleLR(
        o, 0.4, total_steps=25, pct_start=0.4, anneal_strategy="linear", three_phase=True, div_factor=10, final_div_factor=100))
    falling = [1.0 / (1 + t) if t < 6 else 0.17 for t in range(24)]
    yield schedule("plateau", lambda o: S.ReduceLROnPlateau(o, patience=2, factor=0.5, cooldown=1, min_lr=0.02), metrics=falling)
    rising = [0.1 * min(t, 4) for t in range(24)]
    yield schedule("plateau_max", lambda o: S.ReduceLROnPlateau(
        o, mode="max", patience=1, threshold=0.05, threshold_mode="abs"), metrics=rising)


U = torch.nn.utils
out = {
    "torch": torch.__version__,
    "weight": numbers(WEIGHT),
    "bias": numbers(BIAS),
    "push": [{"weight": numbers(w), "bias": numbers(b)} for w, b in PUSH],
    "steps": KEPT,
    "runs": list(runs()),
    "lbfgs": [
        lbfgs("fixed", lr=0.1, max_iter=3),
        lbfgs("short", lr=0.1, max_iter=3, history_size=2),
        lbfgs("wolfe", max_iter=3, line_search_fn="strong_wolfe"),
    ],
    "clip": {
        "norm": clipped(lambda p: U.clip_grad_norm_(p, 0.5)),
        "norm_large": clipped(lambda p: U.clip_grad_norm_(p, 50.0)),
        "norm_3": clipped(lambda p: U.clip_grad_norm_(p, 0.5, norm_type=3.0)),
        "norm_inf": clipped(lambda p: U.clip_grad_norm_(p, 0.5, norm_type=float("inf"))),
        "value": clipped(lambda p: U.clip_grad_value_(p, 0.3)),
    },
    "schedules": list(schedules()),
}
text = json.dumps(out, separators=(",", ":")).replace('{"name"', '\n{"name"')
pathlib.Path(__file__).with_name("optimizers.json").write_text(text + "\n")
print(len(out["runs"]), "runs,", len(out["schedules"]), "schedules")
