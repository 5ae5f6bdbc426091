"""Derivatives against differences."""

from torch import _C


def gradcheck(func, inputs, *, eps=1e-3, atol=1e-2, rtol=1e-2, raise_exception=True, **settings):
    """As PyTorch's, with a step and tolerances for f32: `float64` is a name here."""
    from torch.autograd import grad
    inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    wanted = [x for x in inputs if isinstance(x, _C.Tensor) and x.requires_grad]
    eps, atol, rtol = max(eps, 1e-3), max(atol, 1e-2), max(rtol, 1e-2)
    def outputs():
        made = func(*inputs)
        return list(made) if isinstance(made, (tuple, list)) else [made]
    # All walks backward come before the elements change, which the tape would notice.
    made = outputs()
    kept = [k for k, y in enumerate(made) if y.requires_grad]
    found = [grad(made[k].sum(), wanted, retain_graph=True, allow_unused=True) for k in kept]
    for n, x in enumerate(wanted):
        have = [[0.0] * x.numel() if of[n] is None else of[n].reshape(-1).tolist() for of in found]
        for i in range(x.numel()):
            old = x.detach().reshape(-1)[i].item()
            sums = []
            for step in (eps, -eps):
                x.detach().reshape(-1)[i] = old + step
                again = outputs()
                sums.append([again[k].sum().item() for k in kept])
            x.detach().reshape(-1)[i] = old
            for above, below, of in zip(*sums, have):
                want = (above - below) / (2 * eps)
                if abs(of[i] - want) > atol + rtol * abs(want):
                    if raise_exception:
                        raise RuntimeError(
                            f"Jacobian mismatch for output with respect to input {i}: numerical {want}, analytical {of[i]}")
                    return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, gen_non_contig_grad_outputs=False, **settings):
    """`gradcheck` of the gradients themselves, of what they are multiplied with too."""
    from torch.autograd import grad
    from torch import randn_like
    inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    made = func(*inputs)
    made = made if isinstance(made, (tuple, list)) else (made,)
    if grad_outputs is None:
        grad_outputs = [randn_like(y).requires_grad_() for y in made if y.requires_grad]
    elif isinstance(grad_outputs, _C.Tensor):
        grad_outputs = [grad_outputs]
    count = len(grad_outputs)

    def gradients(*given):
        given, factors = given[:-count], given[-count:]
        wanted = [x for x in given if isinstance(x, _C.Tensor) and x.requires_grad]
        made = func(*given)
        made = [y for y in (made if isinstance(made, (tuple, list)) else (made,)) if y.requires_grad]
        return tuple([g for g in grad(made, wanted, list(factors), create_graph=True, allow_unused=True) if g is not None and g.requires_grad])
    return gradcheck(gradients, tuple(inputs) + tuple(grad_outputs), **settings)
