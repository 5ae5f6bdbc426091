"""Optimizers that adapt their steps, and averaged SGD. The update of one parameter is an operator."""

from torch import _C
from torch._C import Tensor
from torch.optim.optimizer import Optimizer, _betas, _check, _next, _ops, _scalar, _zeros


class _Table(Optimizer):
    """Puts the results of a row of the table where they belong: the parameter, then the state of `_kept`."""

    _kept = ()

    def _put(self, p, state, made):
        p.copy_(made[0])
        for name, value in zip(self._kept, made[1:]):
            state[name].copy_(value)

    def _start(self, p, state, **numbers):
        """The state before the first step, in PyTorch's order: the step, numbers, tensors like the parameter."""
        state["step"] = 0.0
        for name, value in numbers.items():
            state[name] = _C.scalar(value)
        for name in self._kept:
            if name not in numbers:
                state[name] = _zeros(p)


def _should(name, value, fits, be=">= 0"):
    if name == "Learning rate" and isinstance(value, Tensor) and value.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not fits:
        raise ValueError(f"{name} should be {be} but is: {value}")


class Adadelta(_Table):
    _kept = ("square_avg", "acc_delta")

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False,
                 differentiable=False):
        _check(lr, rho=rho, epsilon=eps, weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize, capturable=capturable,
                                      foreach=foreach, differentiable=differentiable))

    def _update(self, p, grad, state, group):
        if not state:
            self._start(p, state)
        _next(state)
        self._put(p, state, _ops["adadelta_step"](
            p, grad, state["square_avg"], state["acc_delta"], _scalar("lr", group["lr"]),
            _scalar("weight_decay", group["weight_decay"]), rho=group["rho"], eps=group["eps"], maximize=group["maximize"]))


class Adamax(_Table):
    _kept = ("exp_avg", "exp_inf")

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False):
        _check(lr, epsilon=eps, betas=betas, weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, capturable=capturable))

    def _update(self, p, grad, state, group):
        if not state:
            self._start(p, state)
        self._put(p, state, _ops["adamax_step"](
            p, grad, state["exp_avg"], state["exp_inf"], _next(state), _scalar("lr", group["lr"]),
            _scalar("weight_decay", group["weight_decay"]),
            _betas(group["betas"]), eps=group["eps"], maximize=group["maximize"]))


class NAdam(_Table):
    _kept = ("exp_avg", "exp_avg_sq", "mu_product")

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, decoupled_weight_decay=False,
                 *, foreach=None, maximize=False, capturable=False, differentiable=False):
        _check(lr, epsilon=eps, betas=betas, weight_decay=weight_decay)
        _check(lr, momentum_decay=momentum_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay,
                                      decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, foreach=foreach,
                                      capturable=capturable, differentiable=differentiable))

    def _update(self, p, grad, state, group):
        if not state:
            self._start(p, state, mu_product=1.0)
        self._put(p, state, _ops["nadam_step"](
            p, grad, state["exp_avg"], state["exp_avg_sq"], state["mu_product"], _next(state), _scalar("lr", group["lr"]),
            _scalar("weight_decay", group["weight_decay"]), _betas(group["betas"]), momentum_decay=group["momentum_decay"], eps=group["eps"],
            decoupled_weight_decay=group["decoupled_weight_decay"], maximize=group["maximize"]))


class RAdam(_Table):
    _kept = ("exp_avg", "exp_avg_sq")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False):
        _check(lr, epsilon=eps, betas=betas, weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize, foreach=foreach,
                                      capturable=capturable, decoupled_weight_decay=decoupled_weight_decay,
                                      differentiable=differentiable))

    def _update(self, p, grad, state, group):
        if not state:
            self._start(p, state)
        self._put(p, state, _ops["radam_step"](
            p, grad, state["exp_avg"], state["exp_avg_sq"], _next(state), _scalar("lr", group["lr"]),
            _scalar("weight_decay", group["weight_decay"]),
            _betas(group["betas"]), eps=group["eps"], decoupled_weight_decay=group["decoupled_weight_decay"],
            maximize=group["maximize"]))


class Rprop(_Table):
    _kept = ("prev", "step_size")

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None, maximize=False,
                 differentiable=False):
        _check(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, capturable=capturable))

    def _update(self, p, grad, state, group):
        if not state:
            self._start(p, state)
            state["step_size"] = _C.full(p.shape, float(group["lr"]), p.dtype)
        _next(state)
        (minus, plus), (low, high) = group["etas"], group["step_sizes"]
        self._put(p, state, _ops["rprop_step"](
            p, grad, state["prev"], state["step_size"], etaminus=minus, etaplus=plus, step_size_min=float(low),
            step_size_max=float(high), maximize=group["maximize"]))


class ASGD(_Table):
    _kept = ("ax", "mu", "eta")

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        _check(lr, lambd=lambd, alpha=alpha, weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, capturable=capturable))

    def _update(self, p, grad, state, group):
        if not state:
            self._start(p, state, eta=float(group["lr"]), mu=1.0)
        self._put(p, state, _ops["asgd_step"](
            p, grad, state["ax"], state["mu"], state["eta"], _next(state), _scalar("lr", group["lr"]),
            _scalar("weight_decay", group["weight_decay"]),
            lambd=group["lambd"], alpha=group["alpha"], t0=float(group["t0"]), maximize=group["maximize"]))


class Adafactor(_Table):
    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None, maximize=False):
        _should("Learning rate", lr, lr >= 0.0)
        _should("beta2_decay", beta2_decay, beta2_decay <= 0.0, "<= 0")
        for i, value in enumerate(eps):
            _should(f"epsilon{i + 1}", value, value is None or value >= 0.0)
        _should("Clipping threshold d", d, d >= 1.0, ">= 1")
        _should("weight_decay", weight_decay, weight_decay >= 0.0)
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize))

    def _update(self, p, grad, state, group):
        matrix = p.dim() > 1
        if not state:
            state["step"] = 0.0
            if matrix:
                rows, columns = list(p.shape), list(p.shape)
                rows[-1] = columns[-2] = 1
                state["row_var"], state["col_var"] = _C.full(rows, 0.0, p.dtype), _C.full(columns, 0.0, p.dtype)
            else:
                state["variance"] = _zeros(p)
        low, high = group["eps"]
        made = _ops["adafactor_step"](
            p, grad, state["row_var"] if matrix else state["variance"], state.get("col_var"), _next(state), _scalar("lr", group["lr"]),
            _scalar("weight_decay", group["weight_decay"]), beta2_decay=group["beta2_decay"], eps1=low, eps2=high, d=float(group["d"]),
            maximize=group["maximize"])
        p.copy_(made[0])
        for name, value in zip(("row_var", "col_var") if matrix else ("variance",), made[1:]):
            state[name].copy_(value)


class Muon(_Table):
    _kept = ("momentum_buffer",)

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315),
                 eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            _should(name, value, value >= 0.0)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw", "spectral_unclamped"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
                                      ns_coefficients=ns_coefficients, eps=eps, ns_steps=ns_steps, adjust_lr_fn=adjust_lr_fn))
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.shape}")

    def _update(self, p, grad, state, group):
        if not state:
            state["momentum_buffer"] = _zeros(p)
        self._put(p, state, _ops["muon_step"](
            p, grad, state["momentum_buffer"], _scalar("lr", group["lr"]), _scalar("weight_decay", group["weight_decay"]),
            _scalar("momentum", group["momentum"]),
            nesterov=group["nesterov"], coefficients=",".join([str(float(c)) for c in group["ns_coefficients"]]), eps=group["eps"],
            ns_steps=group["ns_steps"], adjust_lr_fn=group["adjust_lr_fn"] or "original"))


class SparseAdam(Optimizer):
    """Adam of the rows that were looked up alone: gradients are dense here, so those are meant that have one."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        _check(lr)
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        _check(lr, betas=betas)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, maximize=maximize))
        wrong = [[g, i] for g, group in enumerate(self.param_groups) for i, p in enumerate(group["params"]) if p.is_complex()]
        if wrong:
            raise ValueError(f"Complex params at indices {wrong}: SparseAdam does not support complex parameters")

    def _update(self, p, grad, state, group):
        if not state:
            state["step"], state["exp_avg"], state["exp_avg_sq"] = 0, _zeros(p), _zeros(p)
        state["step"] += 1
        grad, (beta1, beta2), step = -grad if group["maximize"] else grad, group["betas"], _scalar("step", float(state["step"]))
        rows = (grad != 0).reshape(grad.shape[0], -1).any(1).reshape([-1] + [1] * (grad.dim() - 1)).to(grad.dtype)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.copy_(mean + rows * (1 - beta1) * (grad - mean))
        square.copy_(square + rows * (1 - beta2) * (grad * grad - square))
        rate = _scalar("lr", group["lr"]) * (1 - beta2 ** step).sqrt() / (1 - beta1 ** step)
        p.copy_(p - rows * rate * mean / (square.sqrt() + group["eps"]))
