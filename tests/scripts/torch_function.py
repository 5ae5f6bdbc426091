import torch
class MT(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if kwargs is None: kwargs = {}
        print("tf", func.__name__, [t.__name__ for t in types])
        return super().__torch_function__(func, types, args, kwargs)
x = torch.tensor([1.,2.]).as_subclass(MT)
y = x + 1
print(type(y).__name__)
z = torch.add(x, 2); print(type(z).__name__)
print(torch.mean(x).item())
print(x.sum())
w = x @ x
print(type(w))
print(x.shape)
print(x[0])
torch.nn.functional.relu(x)
torch.cat([x, x])
torch.stack([torch.ones(2), x])
x.add_(1)
x[0] = 5
1 - x
-x
x == 1
HANDLED = {}
def implements(f):
    def dec(g): HANDLED[f] = g; return g
    return dec
class ScalarTensor:
    def __init__(self, N, value): self._N, self._value = N, value
    def __repr__(self): return f"ScalarTensor(N={self._N}, value={self._value})"
    def tensor(self): return self._value*torch.eye(self._N)
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if kwargs is None: kwargs = {}
        if func not in HANDLED or not all(issubclass(t, (torch.Tensor, ScalarTensor)) for t in types):
            return NotImplemented
        return HANDLED[func](*args, **kwargs)
@implements(torch.mean)
def mean(input): return float(input._value)/input._N
@implements(torch.add)
def add(input, other):
    if isinstance(input, ScalarTensor): input = input.tensor()
    if isinstance(other, ScalarTensor): other = other.tensor()
    return torch.add(input, other)
@implements(torch.nn.functional.relu)
def relu(input, inplace=False): return ScalarTensor(input._N, max(0, input._value))
@implements(torch.cat)
def cat(ts, dim=0): return "cat"
d = ScalarTensor(2, 2)
print(torch.mean(d)); print(torch.add(d, d)); print(torch.add(torch.ones(2,2), d))
print(torch.nn.functional.relu(d)); print(torch.cat([d,d]))
try: torch.mul(d, 3)
except TypeError as e: print(str(e)[:90])
class MT:
    def __init__(self, data, metadata=None, **kw):
        self._t = torch.as_tensor(data, **kw); self._metadata = metadata
    def __repr__(self): return f"Metadata:\n{self._metadata}\n\ndata:\n{self._t}"
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if kwargs is None: kwargs = {}
        metadatas = tuple(a._metadata for a in args if hasattr(a, '_metadata'))
        args = [getattr(a, '_t', a) for a in args]
        ret = func(*args, **kwargs)
        return MT(ret, metadata=metadatas[0])
m = MT([[1.,2.],[3.,4.]], metadata={"o": "M"})
t = torch.tensor([[1.,2.],[1.,2.]])
print(torch.add(t, m)); print(torch.mul(t, m)); print(torch.sum(m)); print(torch.matmul(m, t))
print(t + m if False else "")
from torch.overrides import handle_torch_function, has_torch_function, is_tensor_like, get_ignored_functions, get_overridable_functions, has_torch_function_unary, has_torch_function_variadic, resolve_name, TorchFunctionMode, BaseTorchFunctionMode, wrap_torch_function, is_tensor_method_or_property
print(is_tensor_like(m), is_tensor_like(3), is_tensor_like(t), has_torch_function((m,)), has_torch_function((t,)), has_torch_function_unary(m), has_torch_function_variadic(t, m))
def myf(a, b=1):
    if has_torch_function_unary(a):
        return handle_torch_function(myf, (a,), a, b=b)
    return a + b
print(myf(m, 3))
print(myf(t, 3))
class L(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            r = func(*args, **(kwargs or {}))
        if isinstance(r, torch.Tensor) and not isinstance(r, cls): r = r.as_subclass(cls)
        return r
a = L(torch.ones(2)) if False else torch.ones(2).as_subclass(L)
print(type(a+1).__name__, type(a.sum()).__name__, (a+1)[0].item())
with torch._C.DisableTorchFunctionSubclass():
    print(type(a+1).__name__)
class Mode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        print("mode", func.__name__, [t.__name__ for t in types])
        return func(*args, **(kwargs or {}))
with Mode():
    torch.add(t, 1)
    t + 1
    t.sum()
print(resolve_name(torch.add), resolve_name(torch.Tensor.add))
class Plain(torch.Tensor): pass
p = torch.ones(2).as_subclass(Plain)
print(type(p+1).__name__, type(torch.sum(p)).__name__, p)
print(type(p.detach()).__name__, type(p.clone()).__name__, type(p.data).__name__)
class Named(torch.Tensor):
    @staticmethod
    def __new__(cls, x, name=None, *args, **kwargs):
        return torch.Tensor._make_subclass(cls, x)
    def __init__(self, x, name=None): self.nom = name
    def hi(self): return self.nom
n = Named(torch.ones(3), "bob"); print(n.hi(), n, type(n*2).__name__, isinstance(n, torch.Tensor))
q = n.requires_grad_(); (q*3).sum().backward(); print(q.grad, type(q.grad).__name__)
print(torch.Tensor.__torch_function__ is not None)
par = torch.nn.Parameter(n); print(isinstance(par, torch.nn.Parameter))
class NoTF(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl
b = torch.ones(2).as_subclass(NoTF); print(type(b+1).__name__)


class Counting(torch.Tensor):
    """A subclass in a loop that trains."""

    calls = {}

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        Counting.calls[func.__name__] = Counting.calls.get(func.__name__, 0) + 1
        return super().__torch_function__(func, types, args, kwargs or {})


torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(8, 3).as_subclass(Counting)
for step in range(3):
    opt.zero_grad()
    loss = (net(data) ** 2).mean()
    loss.backward()
    opt.step()
    print(type(loss).__name__, round(loss.item(), 4))
print(Counting.calls["linear"], Counting.calls["relu"], Counting.calls["mean"], Counting.calls["backward"])
shared = torch.zeros(2)
shared.as_subclass(Plain)[0] = 3
print(shared, type(torch.tensor(shared.as_subclass(Plain))).__name__)
leaf = torch.ones(2, requires_grad=True)
(leaf.as_subclass(Plain) * 2).sum().backward()
print(leaf.grad, type(leaf.grad).__name__)
print([type(t).__name__ for t in torch.split(shared.as_subclass(Plain), 1)], type(torch.max(shared.as_subclass(Plain), 0).values).__name__)


class Both(MT):
    pass


class Sum:
    """A duck type that refuses, beside one that does not."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return NotImplemented


class Fine:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, [t.__name__ for t in types]

    def __radd__(self, other):
        return "radd"


print(torch.add(Sum(), Fine()), torch.stack([torch.ones(1), Fine()]), torch.ones(1) + Fine(), torch.ones(1) * Fine())
try:
    torch.add(torch.ones(1), Sum())
except TypeError as error:
    print(str(error).splitlines()[0])


class Base(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print(cls.__name__, [t.__name__ for t in types])
        return super().__torch_function__(func, types, args, kwargs or {})


class Derived(Base):
    pass


print(type(torch.add(torch.ones(1).as_subclass(Base), torch.ones(1).as_subclass(Derived))).__name__)


class Inner(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.add or func is torch.Tensor.add:
            return torch.mul(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


with Inner(), Mode():
    made = torch.add(torch.full((1,), 3.0), 4)
print(made)
known = get_overridable_functions()
print(torch.add in known[torch], torch.Tensor.add in known[torch.Tensor], torch.nn.functional.relu in known[torch.nn.functional])
print(torch.tensor in get_ignored_functions(), is_tensor_method_or_property(torch.Tensor.add), is_tensor_method_or_property(torch.add))


@wrap_torch_function(lambda a, b=None: (a,))
def mine(a, b=None):
    return a


print(mine(Fine()), mine(3))
