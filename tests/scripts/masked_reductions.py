# torch.masked: reductions and normalizations of what a mask shows.
import torch


def show(name, made):
    print(name, str(made.dtype)[6:], [None if v != v else round(v, 4) if isinstance(v, float) else v for v in made.detach().reshape(-1).tolist()])


x = torch.tensor([[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]])
m = torch.tensor([[True, False, True], [False, False, False]])
for name in "sum prod amax amin mean var std logsumexp norm".split():
    function = getattr(torch.masked, name)
    for dim in (None, 0, -1, (0, 1)):
        show(f"{name} {dim}", function(x, dim=dim, mask=m))
    show(name + " keepdim", function(x, dim=1, keepdim=True, mask=m))
    show(name + " all", function(x, dim=1))
for name in "cumsum cumprod softmax log_softmax softmin".split():
    show(name, getattr(torch.masked, name)(x, 1, mask=m))
    show(name, getattr(torch.masked, name)(x, 0))
for name in "argmax argmin".split():
    show(name, getattr(torch.masked, name)(x, 1, mask=m))
    show(name, getattr(torch.masked, name)(x, mask=m))
show("median", torch.masked.median(x, 1, mask=m))
show("median", torch.masked.median(torch.tensor([[3, 1, 2]]), 1))
show("normalize", torch.masked.normalize(x, 2.0, 1, mask=m))
show("norm inf", torch.masked.norm(x, float("-inf"), 1, mask=m))
show("logaddexp", torch.masked.logaddexp(x[0], x[1], input_mask=m[0], other_mask=torch.tensor([True, True, False])))
show("var", torch.masked.var(x, 1, unbiased=False, mask=m))
show("var", torch.masked.var(x, 1, correction=2))

whole = torch.tensor([[3, -1, 7], [2, 5, 0]], dtype=torch.int32)
for name in "sum prod amax amin std".split():
    show(name, getattr(torch.masked, name)(whole, 1, mask=torch.tensor([True, False, True])))
show("sum of bool", torch.masked.sum(m))
show("dtype", torch.masked.sum(whole, dtype=torch.float32, mask=m))

w = x.clone().requires_grad_()
loss = torch.masked.softmax(w, 1, mask=torch.tensor([True, False, True])).square().sum() + torch.masked.std(w, 0, mask=m[:1]).nansum()
loss = loss + torch.masked.mean(w, 1, mask=torch.tensor([True, True, False])).prod() + torch.masked.amax(w, mask=m)
show("gradient", torch.autograd.grad(loss, w)[0])

for call in (
    lambda: torch.masked.sum(x, mask=torch.ones(1, 2, 3, dtype=torch.bool)),
    lambda: torch.masked.mean(whole),
    lambda: torch.masked.sum(x, (0, 0)),
    lambda: torch.masked.sum(x, 2),
    lambda: torch.masked.median(whole, 1, mask=m),
):
    try:
        print(call())
    except (IndexError, ValueError, RuntimeError) as e:
        print(type(e).__name__, e)
