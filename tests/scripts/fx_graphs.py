import torch, torch.fx, operator
import torch.nn.functional as F
class M(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.lin = torch.nn.Linear(4,5); self.param = torch.nn.Parameter(torch.rand(3,4)); self.seq = torch.nn.Sequential(torch.nn.Linear(5,5), torch.nn.ReLU())
    def forward(self, x, y=None, *, k=3):
        h = self.seq(self.lin(x + self.param).relu())
        h = torch.relu(h) * 2 - h[0] 
        a = h.shape[0]; b = h.size(1)
        h = -h.view(a, b).sum(dim=-1, keepdim=True)
        return torch.topk(torch.sum(h, dim=-1), k), {"h": h, "c": [h, 1.5]}
g = torch.fx.symbolic_trace(M())
print(g.graph); print(repr(g.code)); print(g)
def f(x, y): 
    z = torch.cat([x, y]) ; z += 1
    return 1 / z + x @ y.T, x.T if True else x
h = torch.fx.symbolic_trace(f)
print(h.graph); print(h.code)
print([(n.op, n.name, n.target if isinstance(n.target, str) else n.target.__name__, n.args, n.kwargs, list(n.users)) for n in h.graph.nodes])
def c(x):
    if x.sum() > 0: return x
    return -x
for fn in [c, lambda x: [v for v in x], lambda x: len(x), lambda x: int(x), lambda x, **k: x]:
    try: print(torch.fx.symbolic_trace(fn).graph)
    except Exception as e: print(type(e).__module__, type(e).__name__, str(e)[:200])

x = torch.rand(2, 4)
m = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.ReLU(), torch.nn.Dropout(0.5))
m.eval()
t = torch.fx.symbolic_trace(m)
print(torch.equal(t(x), m(x)), t.training, isinstance(t, torch.fx.GraphModule), sorted(t.state_dict()) == sorted(m.state_dict()))
t(x).sum().backward()
print(m[0].weight.grad is not None)
# Calls are replaced, taken away and added.
for n in t.graph.nodes:
    if n.op == "call_module" and isinstance(t.get_submodule(n.target), torch.nn.ReLU):
        with t.graph.inserting_after(n):
            new = t.graph.call_function(torch.tanh, n.args)
        with t.graph.inserting_after(new):
            last = t.graph.call_method("mul", (new, 2))
        n.replace_all_uses_with(last)
        t.graph.erase_node(n)
t.graph.lint()
t.recompile()
print(t.graph, torch.allclose(t(x), m[:2](x).tanh() * 2))
print([(n.name, n.prev.name, n.next.name) for n in list(t.graph.nodes)[1:-1]])
g = torch.fx.Graph()
a = g.placeholder("a")
b = g.placeholder("b")
c = g.call_function(operator.add, (a, b))
dead = g.call_function(torch.exp, (c,))
d = g.call_function(torch.relu, (c,), name="rectified")
g.output((d, c))
print(g, g.eliminate_dead_code(), len(list(g.nodes)), a.users, d.all_input_nodes)
gm = torch.fx.GraphModule(torch.nn.Module(), g)
print(gm.code, gm(torch.tensor([1.0, -3.0]), torch.tensor([1.0, 2.0])))
try:
    g.erase_node(c)
except RuntimeError as error:
    print(str(error)[:60])


class Shapes(torch.fx.Interpreter):
    def run_node(self, n):
        made = super().run_node(n)
        print(n.name, tuple(made.shape) if isinstance(made, torch.Tensor) else type(made).__name__)
        return made


Shapes(torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Flatten()))).run(x)


class Whole(torch.fx.Tracer):
    def is_leaf_module(self, m, name):
        return not isinstance(m, torch.nn.Flatten)


print(Whole().trace(torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Flatten())))
weight = torch.eye(2)
k = torch.fx.symbolic_trace(lambda x: torch.matmul(x, weight) * 3)
print(k.graph, k(torch.ones(1, 2)))
k = torch.fx.symbolic_trace(lambda x, n: x * n, concrete_args={"n": 3})
print(k.graph, k.code, k(torch.ones(2), 3), k.graph.eliminate_dead_code())
try:
    k(torch.ones(2), 4)
except AssertionError as error:
    print(error)
print(torch.fx.symbolic_trace(lambda x, n=None, flag=True: x * 2 if flag else x, concrete_args={"n": None, "flag": False}).graph)


@torch.fx.wrap
def whole(x, n):
    return x * 2 if x.sum() > n else x


k = torch.fx.symbolic_trace(lambda x: whole(x, n=3) + 1)
print(k.graph, k(torch.ones(4)), whole(torch.ones(2), 3))
