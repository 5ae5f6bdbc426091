"""Functions with derivatives of their own.

The tape knows the operators of the table only. What such a function gives is therefore a new leaf of the tape, which `_C` knows the
function of for as long as a tape holds it: a cut. A walk backward stops at a cut when all that is later is done, so its gradient is
complete; the cut's `backward` carries it to the function's inputs, and the walk goes on from there too.
"""

from torch import _C
from torch._C import Tensor


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
    def __init__(self, function, ctx, inputs):
        self.function, self.ctx = function, ctx
        # As they are now: what is written into one later changes nothing here.
        self.inputs = [_C.alias(x) if isinstance(x, Tensor) and x.requires_grad else None for x in inputs]
        # Types and shapes of the results, and the numbers of their leaves; `None` for results without gradients. The leaves themselves
        # are the tape's: who holds one holds the cut.
        self.results, self.numbers = [], []
        # Which of the saved tensors is which result.
        self.saved = []

    def results_of(self, made):
        """The results as the script sees them."""
        apart = self.ctx._not_differentiable
        values = [y if isinstance(y, Tensor) and _has_gradients(y.dtype) and not any([y is n for n in apart]) else None for y in made]
        leaves = _C.hold(self, values)
        self.results = [None if y is None else (list(y.shape), y.dtype) for y in values]
        self.numbers = [None if leaf is None else leaf[1] for leaf in leaves]
        name = self.function.__name__ + "Backward"
        shown = [y if leaf is None else _through(leaf[0], name) for y, leaf in zip(made, leaves)]
        saved = self.ctx.saved_tensors
        self.saved = [(i, k) for i, x in enumerate(saved) for k, y in enumerate(made) if x is y and self.numbers[k] is not None]
        return shown

    def on_tape(self, saved):
        """Saved tensors, of which results are on the tape: for derivatives of derivatives."""
        saved = list(saved)
        for i, k in self.saved:
            saved[i] = _through(_C.held(saved[i], self.numbers[k]), self.function.__name__ + "Backward")
        return tuple(saved)

    def free(self):
        self.ctx = self.inputs = None

    def backward(self, gradients):
        """Gradients of the results to inputs and their gradients."""
        if self.ctx is None:
            _C.freed()
        if self.ctx._materialize:
            gradients = [g if g is not None or y is None else _C.full(y[0], 0.0, y[1]) for g, y in zip(gradients, self.results)]
        ctx, saved = self.ctx, self.ctx.saved_tensors
        # Not for longer than the call: who holds a leaf holds the cut.
        ctx.saved_tensors = self.on_tape(saved)
        try:
            made = self.function.backward(ctx, *gradients)
        finally:
            ctx.saved_tensors = saved
        made = list(made) if isinstance(made, (tuple, list)) else [made]
        while len(made) > len(self.inputs) and made[-1] is None:
            made.pop()
        if len(made) != len(self.inputs):
            raise RuntimeError(
                f"function {self.function.__name__}Backward returned an incorrect number of gradients (expected {len(self.inputs)}, "
                f"got {len(made)})")
        inputs, gradients = [], []
        for x, g in zip(self.inputs, made):
            if g is None or x is None:
                continue
            if tuple(g.shape) != tuple(x.shape):
                g = _reduced(self.function, g, x)
            inputs.append(x)
            gradients.append(g if g.dtype == x.dtype else g.to(x.dtype))
        return inputs, gradients


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
        results = _Cut(cls, ctx, args).results_of(made if isinstance(made, tuple) else (made,))
        return tuple(results) if isinstance(made, tuple) else results[0]


def _has_gradients(dtype):
    return dtype.is_floating_point or dtype.is_complex


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


def _walk(outputs, inputs, gradients, create_graph, keep):
    """What `_C.walk_end` gives."""
    before, done = _C.set_grad_enabled(bool(create_graph)), False
    try:
        _C.walk_begin(outputs, inputs, gradients, create_graph)
        try:
            while step := _C.walk_next():
                cut, gradients = step
                inputs, gradients = cut.backward(gradients)
                if not keep:
                    cut.free()
                _C.walk_go(inputs, gradients)
            done = True
        finally:
            found = _C.walk_end(done and not keep)
        return found
    finally:
        _C.set_grad_enabled(before)


def _backward(tensor, gradient, keep):
    """The leaves that got a gradient, as `_C.backward` gives them."""
    from torch.autograd import _accumulate
    reached = _walk([tensor], None, [gradient], False, keep)
    for x in _C.retained():
        hooks = x.__dict__.get("_hooks")
        if hooks is not None and hooks.grad is not None:
            _accumulate(x, hooks.grad)
            hooks.grad = None
    return reached
