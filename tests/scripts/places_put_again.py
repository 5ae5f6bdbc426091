"""Loops that put at a place what is there already, in some turns, and objects that are reached in several ways."""
import torch
w = torch.nn.Parameter(torch.ones(2)); opt = torch.optim.SGD([w], 0.1)
def step():
    opt.zero_grad(); l = (w * w).sum(); l.backward(); opt.step(); return l.detach()
A, B = torch.ones(2), torch.zeros(2); cur = A
for i in range(17):
    l = step()
    cur = A if i % 3 else B
    cur += 1
    A.mul_(0.5)
print("1", A, B, cur is A, cur is B)
A, B = torch.ones(2), torch.zeros(2); cur = A
for i in range(17):
    l = step()
    cur += 1
    A.mul_(0.5)
    cur = A if i % 3 else B
print("2", A, B, cur is A, cur is B)
A, B = torch.ones(2), torch.zeros(2); cur, oth = A, B
for i in range(17):
    l = step()
    cur += l
    oth.mul_(0.9)
    if i % 4 == 3: cur, oth = oth, cur
print("3", A, B, cur is A)
last = None
for i in range(17):
    l = step()
    last = A if i % 5 else B
print("4", last is A, last is B)
for i in range(17):
    l = step()
    last = A if i % 5 == 0 else B
print("5", last is A, last is B)
last = l
for i in range(17):
    l = step()
    if i % 4 == 0: last = l
    A += last
print("6", last, A)
k = 3; p = (1, 2)
def f():
    w = torch.nn.Parameter(torch.ones(2)); opt = torch.optim.SGD([w], 0.1); last = (0, 0.0); lr = 0.1; name = "a"; k = 0
    for i in range(17):
        opt.zero_grad(); l = (w * w).sum() * lr; l.backward(); opt.step()
        last = (i, lr)
        lr = 0.1 if i % 5 else 0.01
        name = "x" if i % 6 else "y"
        k = 1 if i % 4 else 2
    return last, w, lr, name, k
print("7", f())
def f(n):
    w = torch.nn.Parameter(torch.ones(2)); opt = torch.optim.SGD([w], 0.1); st = {"lr": .1, "t": (0, 0.0)}; ls = [0, 0.5]
    def g():
        nonlocal n
        n = 3 if st["t"][0] % 5 else 7
    for i in range(17):
        opt.zero_grad(); l = (w * w).sum() * st["lr"] * ls[1]; l.backward(); opt.step()
        st["t"] = (i, st["lr"]); st["lr"] = 0.1 if i % 5 else 0.01; ls[1] = 0.5 if i % 4 else 0.6; ls[0] += n; g()
    return st, ls, n, w
print("8", f(0))
class C: pass
c = C(); c.s = 1.0; c.m = A
for i in range(17):
    l = step() * c.s
    c.s = 1.0 if i % 5 else 0.5
    c.m = A if i % 5 else B
    c.m += l
print("9", c.s, A, B, c.m is A, l)
tmp = torch.zeros(2); ref = tmp
for i in range(17):
    l = step()
    tmp = tmp + l
    if i % 5 == 0: ref = tmp
    ref = ref if i % 2 else tmp
print("10", tmp, ref)
g = None
for i in range(17):
    g = w.grad if i % 3 else None
    l = step()
print("11", g, w.grad)
prev = None
for i in range(17):
    prev = w.grad if prev is None or w.grad is None else prev + w.grad
    if i % 2 == 0: opt.zero_grad()
    (w * w).sum().backward(); opt.step()
print("12", prev, w.grad)
# aliases that come and go
a, b, c = torch.ones(2), torch.zeros(2), torch.full((2,), 3.)
for i in range(24):
    l = step()
    a += l; b *= 0.9; c = c + a
    if i % 5 == 2: b = a
    if i % 7 == 3: a = b.clone()
print("1", a, b, c, a is b)
best, p = w, torch.zeros(2)
for i in range(24):
    l = step()
    p = p + best.detach() * 0.1
    if i % 6 == 5: best = torch.nn.Parameter(w.detach().clone())
    if i % 6 == 2: best = w
print("2", p, best is w)
keep = w.grad
for i in range(24):
    if i % 4 == 1: keep = w.grad
    if i % 4 == 3: keep = torch.ones(2)
    if w.grad is not None: w.grad.zero_()
    (w * w).sum().backward()
    keep = keep if i % 2 else keep * 0.5
    opt.step()
print("3", keep, w.grad, keep is w.grad)
ts = [torch.zeros(2) for _ in range(3)]; t = ts[0]
for i in range(24):
    l = step()
    t += 1 + l
    ts[1].mul_(0.5)
    t = ts[(i // 4) % 3]
print("4", ts, t is ts[1])
d = {"x": torch.ones(2), "y": torch.zeros(2)}; d["z"] = d["x"]
for i in range(24):
    l = step()
    d["z"].add_(l); d["x"].mul_(0.9)
    d["z"] = d["x"] if i % 5 < 3 else d["y"]
print("5", d, d["z"] is d["x"])
class N(torch.nn.Module):
    def __init__(s): super().__init__(); s.l = torch.nn.Linear(2, 2); s.c = 0; s.mode = "a"
    def forward(s, x): s.c += 1; return s.l(x) if s.mode == "a" else s.l(x) * 2
torch.manual_seed(0); n1, n2 = N(), N(); net = n1; o1 = torch.optim.SGD(n1.parameters(), 0.1); o2 = torch.optim.SGD(n2.parameters(), 0.1); o = o1; x = torch.ones(3, 2)
for i in range(24):
    net = n1 if i % 4 else n2; o = o1 if i % 4 else o2
    o.zero_grad(); loss = net(x).pow(2).mean(); loss.backward(); o.step()
    net.mode = "b" if i % 3 == 0 else "a"
print("6", n1.c, n2.c, n1.l.weight.data, n2.l.weight.data, loss.item(), n1.mode, n2.mode)
flag, none, tup = True, None, (1, 2)
for i in range(24):
    l = step()
    flag = bool(i % 5); none = None if i % 4 else 7; tup = (1, 2) if i % 3 else (1, i)
print("7", flag, none, tup)
best_sd, name, lst, fn = {}, "", [1], step
for i in range(24):
    l = fn()
    if i % 6 == 0: best_sd = {"w": w.detach().clone(), "i": i}
    if i % 6 == 3: lst = [i, l]
    if i % 9 == 8: fn = lambda: step() * 2
    if i % 9 == 4: fn = step
    name = "even" if i % 4 == 0 else "odd"
print("8", best_sd, name, lst, fn is step, l)
w = torch.nn.Parameter(torch.ones(2)); opt = torch.optim.SGD([w], 0.1)
for i in range(24):
    step()
    opt.param_groups[0]["lr"] = 0.05 if i % 5 else 0.01
    opt.param_groups[0]["weight_decay"] = 0.01 * (i % 2)
    if i % 8 == 7: w.requires_grad_(not w.requires_grad)
    if not w.requires_grad: break
print("9", w.detach(), opt.param_groups[0]["lr"])
prev = None
w.requires_grad_(True)
for i in range(24):
    prev = w.grad if prev is None or w.grad is None else prev + w.grad
    if i % 2 == 0: opt.zero_grad()
    (w * w).sum().backward()
    opt.step()
print("10", prev, w.grad)
