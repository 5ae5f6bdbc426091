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
            apart = not isinstance(y, Tensor) or not _has_gradients(y.dtype) or any(y is n for n in ctx._not_differentiable)
            # Of its own, so that what is written into the result later changes no leaf.
            leaf = None if apart else _C.make(Tensor, y, True)
            leaves.append(leaf)
            results.append(y if leaf is None else _through(leaf, cls.__name__ + "Backward"))
        # A result that was saved is the one on the tape, for derivatives of derivatives.
        raw = made if isinstance(made, tuple) else (made,)
        ctx.saved_tensors = tuple([_result_of(s, raw, results) for s in ctx.saved_tensors])
        _cuts.append(_Cut(cls, ctx, args, leaves))
        return tuple(results) if isinstance(made, tuple) else results[0]


def _has_gradients(dtype):
    return dtype.is_floating_point or dtype.is_complex


def _result_of(saved, raw, results):
    for y, result in zip(raw, results):
        if saved is y:
            return result
    return saved


def _through(leaf, name):
    """The leaf as the script sees it: a result of the function."""
    shown = _C.make(Tensor, leaf, False)
    _C.adopt(shown, _C._ops["reshape"](leaf, list(leaf.shape)))
    shown._made_by = name
    return shown


class _Hooked(Function):
    """The same value; its gradient goes through hooks."""

    @staticmethod
    def forward(ctx, hooks, x):
        ctx.hooks = hooks
        return x.detach()

    @staticmethod
    def backward(ctx, g):
        g = ctx.hooks.see(g) if ctx.hooks else g
        if getattr(ctx.hooks, "keep", False):
            ctx.hooks.grad = g
        return None, g


def _apart(g):
    """A given gradient for derivatives of derivatives: another leaf of the tape, so that what it was computed from takes no part now,
    and a cut, so that it does later."""
    return _Hooked.apply({}, g) if isinstance(g, Tensor) and g.requires_grad else g


def _hooked(tensor, hooks):
    """What is computed from a tensor from now on is computed from a copy whose gradient the hooks see."""
    name = tensor.grad_fn.name()
    _C.adopt(tensor, _Hooked.apply(hooks, _C._ops["reshape"](tensor, list(tensor.shape))))
    tensor._made_by = name


class _Seen:
    """What the hooks of one call of a module know of its gradients."""

    def __init__(self, module, hooks, before):
        self.module, self.hooks, self.before, self.outputs, self.has_inputs = module, hooks, before, None, False

    def see(self, hooks, gradients, what, *more):
        for hook in hooks:
            changed = hook(self.module, gradients, *more)
            if changed is not None:
                changed = (changed,) if isinstance(changed, Tensor) else changed
                if len(changed) != len(gradients):
                    raise RuntimeError(f"Backward {what} returned an invalid number of grad_{'in' if more else 'out'}put, got {len(changed)}, "
                                       f"but expected {len(gradients)}")
                gradients = changed
        return gradients

    def inputs(self, gradients):
        if self.outputs is None:
            # They did not come by the module's results.
            return gradients
        outputs, self.outputs = self.outputs, None
        return self.see(self.hooks, gradients, "hook", outputs)


class BackwardHookFunction(Function):
    """Tensors that go into a module or come out of it, whose gradients its hooks see."""

    @staticmethod
    def forward(ctx, seen, into, places, *tensors):
        ctx.seen, ctx.into, ctx.places = seen, into, places
        ctx.set_materialize_grads(False)
        return tuple([t.detach() for t in tensors])

    @staticmethod
    def backward(ctx, *gradients):
        seen = ctx.seen
        places, n = ctx.places
        given = [None] * n
        for at, g in zip(places, gradients):
            given[at] = g
        if ctx.into:
            given = seen.inputs(tuple(given))
        else:
            seen.outputs = given = seen.see(seen.before, tuple(given), "pre hook")
            if not seen.has_inputs and any(isinstance(g, Tensor) for g in seen.inputs((None,) * seen.count) or ()):
                raise RuntimeError("Backward hook for Modules where no input requires gradient should always return None or None for all "
                                   "gradients.")
        return (None, None, None) + tuple([given[at] for at in places])


def _watched(seen, into, values):
    """Tensors among values in whose places others stand, whose gradients the hooks see."""
    places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
    if not _C.is_grad_enabled() or not any([values[i].requires_grad for i in places]):
        return None
    made = list(values)
    for i, v in zip(places, BackwardHookFunction.apply(seen, into, (places, len(made)), *[made[i] for i in places])):
        made[i] = v
    return tuple(made) if type(values) is tuple else type(values)(*made)


def _watched_inputs(module, hooks, before, args):
    """The arguments of a call whose gradients a module's hooks want, and what the hooks will know."""
    seen = _Seen(module, hooks, before)
    seen.count = len(args)
    made = _watched(seen, True, args)
    seen.has_inputs = made is not None
    return seen, args if made is None else made


def _watched_outputs(seen, result):
    if not isinstance(result, (tuple, Tensor)):
        import warnings
        warnings.warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                      f"{type(result)}", stacklevel=4)
        return result
    made = _watched(seen, False, result if isinstance(result, tuple) else (result,))
    return result if made is None else made if isinstance(result, tuple) else made[0]


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
            gradients = [_apart(g) for g in gradients] if create_graph else gradients
            found = _C.gradients(tensors, leaves, gradients, create_graph, True)
            walked.extend(tensors)
            _C.set_grad_enabled(bool(create_graph))
            return found
        walked = []
        found = _walk(run, outputs, grad_outputs, inputs, create_graph or retain_graph)
        if not create_graph and not retain_graph:
            _C.free(walked)
        return found
    finally:
        _C.set_grad_enabled(before)


def _backward(tensor, gradient, retain_graph):
    from torch.autograd import _accumulate
    reached, seen = [], {}
    before = _C.set_grad_enabled(False)
    try:
        def run(tensors, gradients, leaves):
            kept = [leaf.grad for leaf in leaves]
            for leaf in leaves:
                leaf.grad = None
            _C.set_grad_enabled(True)
            for x, g in zip(tensors, gradients):
                for leaf in _C.backward(x, g, True):
                    if isinstance(leaf, tuple):
                        # Hooks see the sum of what comes by all ways.
                        leaf, part = leaf
                        seen[id(leaf)] = (leaf, seen[id(leaf)][1] + part if id(leaf) in seen else part)
                    elif not any(leaf is other for other in leaves + reached):
                        reached.append(leaf)
            _C.set_grad_enabled(False)
            found = [leaf.grad for leaf in leaves]
            for leaf, g in zip(leaves, kept):
                leaf.grad = g
            walked.extend(tensors)
            return found
        walked = []
        _walk(run, [tensor], [gradient], [], retain_graph)
        if not retain_graph:
            _C.free(walked)
        for x in _C.retained():
            hooks = x.__dict__.get("_hooks")
            if hooks is not None and hooks.grad is not None:
                _accumulate(x, hooks.grad)
                hooks.grad = None
    finally:
        _C.set_grad_enabled(before)
    return reached + list(seen.values())
