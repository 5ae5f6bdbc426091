"""Optimizers: parameter groups and state here, the update of one parameter an operator."""

import _missing
import warnings
from collections import defaultdict
from torch import _C
from torch._C import Tensor
from torch._complex import view_as_complex, view_as_real
from torch.autograd import no_grad, enable_grad

_ops = _C._ops


def _scalar(name, value):
    """A hyperparameter as a tensor: the same one while the number is the same, and never that of another hyperparameter."""
    return value if isinstance(value, Tensor) else _C.hyperparameter(name, value)


# For optimizers of one's own: a hyperparameter without a default, and what parameters may be given as.
required = object()
ParamsT = params_t = _params_t = object


def _betas(pair):
    first, second = (b if isinstance(b, float) else float(b) for b in pair)
    return _C.hyperparameter("betas", first, second)


class Optimizer:
    # Hooks of the steps of all optimizers, where there are any: `_rare/step_hooks.py`.
    _every = None

    def __init__(self, params, defaults):
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got torch.FloatTensor")
        if defaults.get("fused") and (defaults.get("differentiable") or defaults.get("foreach")):
            raise RuntimeError("`fused` does not support `differentiable`" if defaults.get("differentiable")
                               else "`fused` and `foreach` cannot be `True` together.")
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        # The group that was given is the optimizer's own: it learns the defaults.
        group = param_group
        if isinstance(group["params"], set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                            "will change between runs. Please use a list instead.")
        params = [group["params"]] if isinstance(group["params"], Tensor) else list(group["params"])
        names = [p[0] for p in params if isinstance(p, tuple)]
        if names:
            if len(names) != len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            group["param_names"], params = names, [p[1] for p in params]
        group["params"] = params
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + type(p).__name__)
            if not (p.is_leaf or p.retains_grad or self.defaults.get("differentiable")):
                raise ValueError("can't optimize a non-leaf Tensor")
        for key, value in self.defaults.items():
            if value is required and key not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {key}")
            group.setdefault(key, value)
        if len({id(p) for p in params}) != len(params):
            warnings.warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                          "see github.com/pytorch/pytorch/issues/40967 for more information", stacklevel=3)
        if any([("param_names" in other) != ("param_names" in group) for other in self.param_groups]):
            raise ValueError("all optimizer param groups should be with/without names. cannot add param group "
                             f"{'with' if 'param_names' in group else 'without'} names to the optimizer")
        known = {id(p) for other in self.param_groups for p in other["params"]}
        if any([id(p) in known for p in params]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def _hook(self, when, hook, prepend=False):
        if "_hooks" not in self.__dict__:
            # Steps of optimizers of a script's own call them too.
            step, self._hooks = self.step, {k: {} for k in ("before", "after", "state", "stated", "load", "loaded")}

            def hooked(*args, **kwargs):
                args = (self,) + args
                for called in [*self._of_every("before"), *self._hooks["before"].values()]:
                    changed = called(self, args, kwargs)
                    if changed is not None:
                        args, kwargs = changed
                out = step(*args[1:], **kwargs)
                for called in [*self._hooks["after"].values(), *self._of_every("after")]:
                    called(self, args, kwargs)
                return out
            self.step = hooked
        if hook is None:
            return None
        from torch._hooks import add
        return add(self._hooks[when], hook, prepend)

    def _of_every(self, when):
        return self._every[when].values() if self._every else ()

    def register_step_pre_hook(self, hook):
        return self._hook("before", hook)

    def register_step_post_hook(self, hook):
        return self._hook("after", hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        return self._hook("state", hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        return self._hook("stated", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        return self._hook("load", hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        return self._hook("loaded", hook, prepend)

    def _call(self, when, *state):
        for hook in list(self.__dict__.get("_hooks", {}).get(when, {}).values()):
            changed = hook(self, *state)
            state = state if changed is None else (changed,)
        return state[0] if state else None

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    p.grad.zero_()

    def step(self, closure=None):
        if self._every and "_hooks" not in self.__dict__:
            self._hook("before", None)
            return self.step() if closure is None else self.step(closure)
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if "_opt_called" not in self.__dict__:
            self._opt_called = True
        before = _C.set_grad_enabled(False)
        try:
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None and p.dtype.is_complex:
                        # Real and imaginary parts are elements of their own.
                        parts = view_as_real(p.detach()).clone()
                        self._update(parts, view_as_real(p.grad), self.state[p], group)
                        p.copy_(view_as_complex(parts))
                    elif p.grad is not None:
                        self._update(p, p.grad.to_dense() if p.grad.is_sparse else p.grad, self.state[p], group)
        finally:
            _C.set_grad_enabled(before)
        return loss

    def state_dict(self):
        self._call("state")
        places, groups = {}, []
        for group in self.param_groups:
            packed = {k: v for k, v in group.items() if k != "params"}
            for p in group["params"]:
                places.setdefault(id(p), len(places))
            packed["params"] = [places[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {places[id(p)] if isinstance(p, Tensor) else p: dict(s) if isinstance(s, dict) else s for p, s in self.state.items()
                 if s or not isinstance(p, Tensor)}
        return self._call("stated", {"state": state, "param_groups": groups})

    def load_state_dict(self, state_dict):
        state_dict = self._call("load", state_dict)
        if len(state_dict["param_groups"]) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        params = [p for group in self.param_groups for p in group["params"]]
        saved = [i for group in state_dict["param_groups"] for i in group["params"]]
        if len(params) != len(saved):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        for group, given in zip(self.param_groups, state_dict["param_groups"]):
            for key, value in given.items():
                if key != "params":
                    group[key] = value
        self.state = defaultdict(dict)
        for p, i in zip(params, saved):
            if i in state_dict["state"]:
                self.state[p] = {
                    k: v.clone() if isinstance(v, Tensor) else v for k, v in state_dict["state"][i].items()
                }
        self._call("loaded")

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            for key in sorted(group):
                if key != "params":
                    text += f"    {key}: {group[key]}\n"
        return text + ")"


def _check(lr, **others):
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")
    betas = others.pop("betas", ())
    late = others.pop("weight_decay", 0) if betas else 0
    for name, value in others.items():
        if not value >= 0.0 or name == "rho" and value > 1.0:
            raise ValueError(f"Invalid {name} value: {value}")
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
    if not late >= 0.0:
        raise ValueError(f"Invalid weight_decay value: {late}")


def _zeros(p):
    return _C.full(p.shape, 0.0, p.dtype)


def _next(state):
    """The count of steps, this one included, as a tensor."""
    state["step"] = _scalar("step", float(_count(state)) + 1.0)
    return state["step"]


def _count(state):
    step = state["step"]
    return step.item() if isinstance(step, Tensor) else step


class SGD(Optimizer):
    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None,
                 differentiable=False, fused=None):
        _check(lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov,
                                      maximize=maximize, foreach=foreach, differentiable=differentiable, fused=fused))

    def _update(self, p, grad, state, group):
        settings = {"tensors": True, "nesterov": group["nesterov"], "maximize": group["maximize"], "dampening": float(group["dampening"])}
        lr, decay = _scalar("lr", group["lr"]), _scalar("weight_decay", group["weight_decay"])
        if not group["momentum"]:
            p.copy_(_first(_ops["sgd_step"](p, grad, None, lr, decay, **settings)))
            return
        fresh = state.get("momentum_buffer") is None
        if fresh:
            state["momentum_buffer"] = _zeros(p)
        buffer = state["momentum_buffer"]
        momentum = _scalar("momentum", group["momentum"])
        if group["dampening"]:
            made = _ops["sgd_step"](p, grad, buffer, lr, decay, momentum, _scalar("count", 1.0 if fresh else 2.0), **settings)
        else:
            made = _ops["sgd_step"](p, grad, buffer, lr, decay, momentum, **settings)
        p.copy_(made[0])
        buffer.copy_(made[1])


def _first(made):
    return made[0] if isinstance(made, tuple) else made


class _AdamBase(Optimizer):
    _row = "adam_step"

    def __init__(self, params, lr, betas, eps, weight_decay, amsgrad, settings):
        parts = [("lr", lr), *[(f"betas[{i}]", b) for i, b in enumerate(betas)]]
        fixed = [isinstance(v, Tensor) and settings["foreach"] and not settings["capturable"] for _, v in parts]
        if fixed[0]:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        _check(lr, epsilon=eps, betas=betas, weight_decay=weight_decay)
        if not all([isinstance(b, Tensor) for b in betas]) and not all([isinstance(b, float) for b in betas]):
            raise ValueError("betas must be either both floats or both Tensors")
        for (name, value), wrong in zip(parts, fixed):
            if wrong:
                raise ValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")
            if isinstance(value, Tensor) and value.numel() != 1:
                raise ValueError(f"Tensor {name} must be 1-element")
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, **settings))

    def _update(self, p, grad, state, group):
        if not state:
            state["step"] = 0.0
            state["exp_avg"], state["exp_avg_sq"] = _zeros(p), _zeros(p)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = _zeros(p)
        largest = state.get("max_exp_avg_sq")
        made = _ops[self._row](
            p, grad, state["exp_avg"], state["exp_avg_sq"], _next(state), _scalar("lr", group["lr"]), _scalar("weight_decay", group["weight_decay"]),
            _betas(group["betas"]), largest, eps=group["eps"], maximize=group["maximize"])
        p.copy_(made[0])
        state["exp_avg"].copy_(made[1])
        state["exp_avg_sq"].copy_(made[2])
        if largest is not None:
            largest.copy_(made[3])


class Adam(_AdamBase):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None, maximize=False,
                 capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        if decoupled_weight_decay:
            self._row = "adamw_step"
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, dict(
            maximize=maximize, foreach=foreach, capturable=capturable, differentiable=differentiable, fused=fused,
            decoupled_weight_decay=decoupled_weight_decay))


class AdamW(_AdamBase):
    _row = "adamw_step"

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False, foreach=None,
                 capturable=False, differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, dict(
            maximize=maximize, foreach=foreach, capturable=capturable, differentiable=differentiable, fused=fused,
            decoupled_weight_decay=True))


class RMSprop(Optimizer):
    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        _check(lr, epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered, weight_decay=weight_decay,
                                      capturable=capturable, foreach=foreach, maximize=maximize, differentiable=differentiable))

    def _update(self, p, grad, state, group):
        if not state:
            state["step"] = 0.0
            state["square_avg"] = _zeros(p)
            if group["momentum"] > 0:
                state["momentum_buffer"] = _zeros(p)
            if group["centered"]:
                state["grad_avg"] = _zeros(p)
        _next(state)
        moving = "momentum_buffer" in state
        made = list(_ops["rmsprop_step"](
            p, grad, state["square_avg"], _scalar("lr", group["lr"]), _scalar("weight_decay", group["weight_decay"]), state.get("grad_avg"),
            state.get("momentum_buffer"), _scalar("momentum", group["momentum"]) if moving else None,
            alpha=group["alpha"], eps=group["eps"], centered=group["centered"], maximize=group["maximize"]))
        p.copy_(made.pop(0))
        state["square_avg"].copy_(made.pop(0))
        for key in ("grad_avg", "momentum_buffer"):
            if key in state:
                state[key].copy_(made.pop(0))


class Adagrad(Optimizer):
    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
                 maximize=False, differentiable=False, fused=None):
        _check(lr, lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value, epsilon=eps)
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
                                      initial_accumulator_value=initial_accumulator_value, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, fused=fused))

    def _update(self, p, grad, state, group):
        if not state:
            state["step"] = 0.0
            state["sum"] = _C.full(p.shape, float(group["initial_accumulator_value"]), p.dtype)
        made = _ops["adagrad_step"](
            p, grad, state["sum"], _next(state), _scalar("lr", group["lr"]), _scalar("weight_decay", group["weight_decay"]),
            lr_decay=float(group["lr_decay"]), eps=group["eps"], maximize=group["maximize"])
        p.copy_(made[0])
        state["sum"].copy_(made[1])


__getattr__ = _missing.names("torch.optim.optimizer", globals())
