"""Limited-memory BFGS: J. Nocedal, Updating quasi-Newton matrices with limited storage, 1980, with PyTorch's stopping rules."""

from torch import _C
from torch.autograd import no_grad, enable_grad
from torch.optim.optimizer import Optimizer, _check
import math

_ops = _C._ops


def _cubic(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where the cubic through two points with their slopes is lowest, within bounds."""
    low, high = bounds if bounds is not None else ((x1, x2) if x1 <= x2 else (x2, x1))
    a = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = a ** 2 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    root = math.sqrt(square)
    if x1 <= x2:
        place = x2 - (x2 - x1) * ((g2 + root - a) / (g2 - g1 + 2 * root))
    else:
        place = x1 - (x1 - x2) * ((g1 + root - a) / (g1 - g2 + 2 * root))
    return min(max(place, low), high)


class _Point:
    """A length of the step with the loss, the gradient and the slope there."""

    def __init__(self, t, f, g, slope):
        self.t, self.f, self.g, self.slope = t, f, g, slope


def _strong_wolfe(evaluate, t, d, f, g, slope, c1=1e-4, c2=0.9, tolerance_change=1e-9, max_ls=25):
    """A length that meets the strong Wolfe conditions: Nocedal and Wright, Numerical Optimization, algorithms 3.5 and 3.6."""
    size = d.abs().max().item()
    start = _Point(0, f, g, slope)

    def at(t):
        loss, gradient = evaluate(t)
        return _Point(t, loss, gradient, gradient.dot(d).item())

    before, now, evaluations, tries = start, at(t), 1, 0
    pair, done = None, False
    while tries < max_ls:
        if now.f > f + c1 * now.t * slope or (tries > 1 and now.f >= before.f):
            pair = [before, now]
            break
        if abs(now.slope) <= -c2 * slope:
            pair, done = [now], True
            break
        if now.slope >= 0:
            pair = [before, now]
            break
        bounds = (now.t + 0.01 * (now.t - before.t), now.t * 10)
        t = _cubic(before.t, before.f, before.slope, now.t, now.f, now.slope, bounds)
        before, now = now, at(t)
        evaluations += 1
        tries += 1
    if pair is None:
        pair = [start, now]
    low, high = (0, 1) if pair[0].f <= pair[-1].f else (1, 0)
    stuck = False
    while not done and tries < max_ls:
        left, right = min(pair[0].t, pair[1].t), max(pair[0].t, pair[1].t)
        if (right - left) * size < tolerance_change:
            break
        t = _cubic(pair[0].t, pair[0].f, pair[0].slope, pair[1].t, pair[1].f, pair[1].slope)
        # Close to an end of the bracket twice, or on it: away from that end by a tenth.
        margin = 0.1 * (right - left)
        if min(right - t, t - left) < margin:
            if stuck or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        now = at(t)
        evaluations += 1
        tries += 1
        if now.f > f + c1 * t * slope or now.f >= pair[low].f:
            pair[high] = now
            low, high = (0, 1) if pair[0].f <= pair[1].f else (1, 0)
        else:
            if abs(now.slope) <= -c2 * slope:
                done = True
            elif now.slope * (pair[high].t - pair[low].t) >= 0:
                pair[high] = pair[low]
            pair[low] = now
    best = pair[low] if len(pair) > 1 else pair[0]
    return best.f, best.g, best.t, evaluations


class LBFGS(Optimizer):
    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100,
                 line_search_fn=None, *, maximize=False):
        _check(lr)
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        super().__init__(params, dict(lr=lr, max_iter=max_iter, max_eval=max_iter * 5 // 4 if max_eval is None else max_eval,
                                      tolerance_grad=tolerance_grad, tolerance_change=tolerance_change, history_size=history_size,
                                      line_search_fn=line_search_fn, maximize=maximize))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gradient(self):
        made = _ops["cat"]([_C.full((p.numel(),), 0.0, p.dtype) if p.grad is None else p.grad.reshape(-1) for p in self._params])
        return -made if self.param_groups[0]["maximize"] else made

    def _move(self, t, d):
        at = 0
        for p in self._params:
            n = p.numel()
            p.add_(d[at:at + n].reshape(p.shape), alpha=t)
            at += n

    def _direction(self, state, group, gradient):
        """The inverse Hessian, as far as the history knows it, times minus the gradient: the recursion over two loops."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return gradient.neg()
        dirs, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        y, s = gradient - state["prev_flat_grad"], state["d"] * state["t"]
        ys = y.dot(s).item()
        if ys > 1e-10:
            if len(dirs) == group["history_size"]:
                for kept in (dirs, steps, ro):
                    kept.pop(0)
            dirs.append(y)
            steps.append(s)
            ro.append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y).item()
        q = gradient.neg()
        al = state.setdefault("al", [None] * group["history_size"])
        for i in range(len(dirs) - 1, -1, -1):
            al[i] = steps[i].dot(q).item() * ro[i]
            q = q - dirs[i] * al[i]
        r = q * state["H_diag"]
        for i in range(len(dirs)):
            r = r + steps[i] * (al[i] - dirs[i].dot(r).item() * ro[i])
        return r

    @no_grad()
    def step(self, closure):
        def loss_of():
            with enable_grad():
                return closure()
        group = self.param_groups[0]
        sign = -1.0 if group["maximize"] else 1.0
        lr, tolerance, change = group["lr"], group["tolerance_grad"], group["tolerance_change"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = loss_of()
        loss, gradient = sign * float(first), self._gradient()
        evaluations, done = 1, 0
        state["func_evals"] += 1
        flat = gradient.abs().max().item() <= tolerance
        if flat:
            return first
        while done < group["max_iter"]:
            done += 1
            state["n_iter"] += 1
            d = state["d"] = self._direction(state, group, gradient)
            state["prev_flat_grad"], before = gradient, loss
            state["prev_loss"] = loss
            t = min(1.0, 1.0 / gradient.abs().sum().item()) * lr if state["n_iter"] == 1 else lr
            slope = gradient.dot(d).item()
            if slope > -change:
                state["t"] = t
                break
            used = 0
            if group["line_search_fn"] is not None:
                kept = [p.clone() for p in self._params]

                def evaluate(t):
                    self._move(t, d)
                    found = sign * float(loss_of())
                    g = self._gradient()
                    for p, value in zip(self._params, kept):
                        p.copy_(value)
                    return found, g
                loss, gradient, t, used = _strong_wolfe(
                    evaluate, t, d, loss, gradient, slope, max_ls=group["max_eval"] - evaluations)
                self._move(t, d)
                flat = gradient.abs().max().item() <= tolerance
            else:
                self._move(t, d)
                if done != group["max_iter"]:
                    loss, gradient, used = sign * float(loss_of()), self._gradient(), 1
                    flat = gradient.abs().max().item() <= tolerance
            state["t"] = t
            evaluations += used
            state["func_evals"] += used
            if done == group["max_iter"] or evaluations >= group["max_eval"] or flat:
                break
            if (d * t).abs().max().item() <= change or abs(loss - before) < change:
                break
        return first
