"""Functions with derivatives of their own.

The tape knows the operators of the table only. What such a function gives is therefore a new leaf of the tape: a cut. A walk backward
goes from cut to cut: the tape carries gradients to the leaves, the latest cut's `backward` carries them to the function's inputs,
and the tape goes on from there. A cut is later than all that its inputs depend on, so its gradient is complete when its turn comes.
"""

from torch import _C
from torch._C import Tensor

# Cuts whose gradients may still be asked for, in the order in which they were made.
_cuts = []


class FunctionCtx:
    """What a forward pass leaves for its backward pass."""

    def __init__(self):
        self.saved_tensors = ()
        self._not_differentiable = ()
        self._materialize = True

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    save_for_forward = save_for_backward

    @property
    def saved_variables(self):
        return self.saved_tensors

    def mark_non_differentiable(self, *tensors):
        self._not_differentiable = tensors

    def mark_dirty(self, *tensors):
        pass

    def set_materialize_grads(self, value):
        self._materialize = value


class _Cut:
    def __init__(self, function, ctx, inputs, leaves):
        # Tensors that are leaves of the tape, one for each result; `None` for results without gradients.
        self.function, self.ctx, self.inputs, self.leaves = function, ctx, inputs, leaves

    def backward(self, gradients):
        """Gradients of the results to pairs of an input and its gradient."""
        if self.ctx._materialize:
            gradients = [
                g if g is not None or leaf is None else _C.full(leaf.shape, 0.0, leaf.dtype) for g, leaf in zip(gradients, self.leaves)]
        made = self.function.backward(self.ctx, *gradients)
        made = list(made) if isinstance(made, (tuple, list)) else [made]
        while len(made) > len(self.inputs) and made[-1] is None:
            made.pop()
        if len(made) != len(self.inputs):
            raise RuntimeError(
                f"function {self.function.__name__}Backward returned an incorrect number of gradients (expected {len(self.inputs)}, "
                f"got {len(made)})")
        pairs = []
        for x, g in zip(self.inputs, made):
            if g is None or not isinstance(x, Tensor) or not x.requires_grad:
                continue
            if tuple(g.shape) != tuple(x.shape):
                g = _reduced(self.function, g, x)
            pairs.append((x, g if g.dtype == x.dtype else g.to(x.dtype)))
        return pairs


def _reduced(function, g, x):
    # As PyTorch does where a gradient has the shape that the input was broadcast to.
    extra = g.dim() - x.dim()
    dims = list(range(extra)) if extra > 0 else []
    dims += [d for d in range(extra, g.dim()) if extra >= 0 and x.shape[d - extra] == 1 and g.shape[d] != 1]
    made = g.sum(dims).reshape(x.shape) if extra >= 0 and g.sum(dims).numel() == x.numel() else None
    if made is None:
        raise RuntimeError(
            f"Function {function.__name__}Backward returned an invalid gradient at index 0 - got {list(g.shape)} but expected shape "
            f"compatible with {list(x.shape)}")
    return made




class Function(FunctionCtx):
    """To be derived from, with `forward(ctx, ..)` and `backward(ctx, ..)`, or `forward(..)` and `setup_context(ctx, inputs, output)`."""

    generate_vmap_rule = False

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.")

    vjp = backward

    @classmethod
    def apply(cls, *args):
        ctx = cls()
        FunctionCtx.__init__(ctx)
        flags = [isinstance(a, Tensor) and a.requires_grad for a in args]
        ctx.needs_input_grad = tuple(flags)
        record = _C.is_grad_enabled() and any(flags)
        before = _C.set_grad_enabled(False)
        try:
            # The forward pass sees tensors outside of the tape.
            if cls.setup_context is Function.setup_context:
                made = cls.forward(ctx, *args)
            else:
                made = cls.forward(*args)
                cls.setup_context(ctx, args, made)
        finally:
            _C.set_grad_enabled(before)
        if not record:
            return made
        results, leaves = [], []
        for y in made if isinstance(made, tuple) else (made,):
            apart = not isinstance(y, Tensor) or not y.dtype.is_floating_point or any(y is n for n in ctx._not_differentiable)
            leaf = None if apart else y.detach().requires_grad_()
            leaves.append(leaf)
            results.append(y if leaf is None else _through(leaf, cls.__name__ + "Backward"))
        # A result that was saved is the one on the tape, for derivatives of derivatives.
        raw = made if isinstance(made, tuple) else (made,)
        ctx.saved_tensors = tuple([_result_of(s, raw, results) for s in ctx.saved_tensors])
        _cuts.append(_Cut(cls, ctx, args, leaves))
        return tuple(results) if isinstance(made, tuple) else results[0]


def _result_of(saved, raw, results):
    for y, result in zip(raw, results):
        if saved is y:
            return result
    return saved


def _through(leaf, name):
    """The leaf as the script sees it: a result of the function."""
    shown = _C._ops["reshape"](leaf, list(leaf.shape))
    shown._made_by = name
    return shown


def once_differentiable(function):
    return function


def _walk(run, tensors, gradients, wanted, keep):
    """From cut to cut. `run(tensors, gradients, leaves)` gives the gradients of leaves; `wanted` are leaves beside the cuts'."""
    total = {}
    cuts = list(_cuts)
    done = len(cuts)
    while True:
        leaves = [leaf for cut in cuts[:done] for leaf in cut.leaves if leaf is not None]
        found = run(tensors, gradients, wanted + leaves)
        for leaf, g in zip(wanted + leaves, found):
            if g is not None:
                total[id(leaf)] = g if id(leaf) not in total else total[id(leaf)] + g
        tensors, gradients = [], []
        while done > 0 and not tensors:
            done -= 1
            cut = cuts[done]
            given = [None if leaf is None else total.get(id(leaf)) for leaf in cut.leaves]
            if any(g is not None for g in given):
                pairs = cut.backward(given)
                tensors, gradients = [x for x, _ in pairs], [g for _, g in pairs]
                if not keep and cut in _cuts:
                    _cuts.remove(cut)
        if not tensors:
            return [total.get(id(x)) for x in wanted]


def _gradients(outputs, inputs, grad_outputs, create_graph, retain_graph):
    before = _C.set_grad_enabled(bool(create_graph))
    try:
        def run(tensors, gradients, leaves):
            # What is asked for may be what a walk begins with.
            _C.set_grad_enabled(True)
            found = _C.gradients(tensors, leaves, gradients, create_graph, True)
            _C.set_grad_enabled(bool(create_graph))
            return found
        return _walk(run, outputs, grad_outputs, inputs, create_graph or retain_graph)
    finally:
        _C.set_grad_enabled(before)


def _backward(tensor, gradient, retain_graph):
    reached = []
    before = _C.set_grad_enabled(False)
    try:
        def run(tensors, gradients, leaves):
            kept = [leaf.grad for leaf in leaves]
            for leaf in leaves:
                leaf.grad = None
            _C.set_grad_enabled(True)
            for x, g in zip(tensors, gradients):
                for leaf in _C.backward(x, g, True):
                    if not any(leaf is other for other in leaves + reached):
                        reached.append(leaf)
            _C.set_grad_enabled(False)
            found = [leaf.grad for leaf in leaves]
            for leaf, g in zip(leaves, kept):
                leaf.grad = g
            return found
        _walk(run, [tensor], [gradient], [], retain_graph)
    finally:
        _C.set_grad_enabled(before)
    return reached
