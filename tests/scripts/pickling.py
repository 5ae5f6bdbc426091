import torch, torch.nn as nn, pickle, copy, io, enum, collections, dataclasses, functools, os
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.fc = nn.Linear(3, 2); self.drop = nn.Dropout(0.1); self.register_buffer('b', torch.ones(2)); self.conv = nn.Sequential(nn.Conv1d(1, 2, 3), nn.BatchNorm1d(2))
    def forward(self, x): return self.fc(x) + self.b
class Color(enum.Enum): RED = 1
@dataclasses.dataclass
class C: a: int = 1; b: list = dataclasses.field(default_factory=list)
P = collections.namedtuple('P', 'x y')
class S:
    def __init__(self): self.f = 3; self.lam = lambda: 0
    def __getstate__(self): return {'f': self.f}
    def __setstate__(self, s): self.__dict__.update(s); self.restored = True
class D(dict):
    def __getattr__(self, k): return self[k]
class Sl:
    __slots__ = ('a', 'b')
    def __init__(self): self.a = 1; self.b = [2]
torch.manual_seed(0); net = Net(); torch.save(net, 'm.pt')
m = torch.load('m.pt', weights_only=False); print(m); x = torch.ones(1, 3); print(torch.equal(m(x), net(x)), m.training, [n for n, _ in m.named_parameters()], m.fc.weight.requires_grad)
try: torch.load('m.pt')
except pickle.UnpicklingError as e: print(str(e).split('\n')[3])
for o in [Color.RED, C(2, [3]), P(1, 2), D(a=1), {1, 2}, frozenset([3]), 1 + 2j, range(3), b'x', bytearray(b'y'), (1, [2, {'k': None}]), collections.Counter('aab'), collections.deque([1, 2], maxlen=3), ValueError('a', 1), 2 ** 70, -3, 1.5, 'é', len, C, slice(1, 2), collections.defaultdict(list, {'a': [1]}), True, None, ...]:
    r = pickle.loads(pickle.dumps(o)); print(type(r).__name__, r if not isinstance(r, type) else r.__name__, r == o)
s = pickle.loads(pickle.dumps(S())); print(s.f, s.restored, hasattr(s, 'lam')); q = pickle.loads(pickle.dumps(Sl())); print(q.a, q.b)
t = pickle.loads(pickle.dumps({'t': torch.arange(4).reshape(2, 2), 'p': nn.Parameter(torch.ones(2)), 'd': torch.float16})); print(t)
a = [1]; a.append(a); b = pickle.loads(pickle.dumps(a)); print(b[1] is b); l = [1]; u, v = pickle.loads(pickle.dumps((l, l))); print(u is v)
for f in (lambda: pickle.dumps(lambda: 0), lambda: pickle.dumps(i for i in []), lambda: pickle.dumps(os), lambda: pickle.loads(b'garbage'), lambda: pickle.loads(b'')):
    try: f()
    except Exception as e: print(type(e).__name__, str(e)[:50])
def loc():
    class L: pass
    return L()
try: pickle.dumps(loc())
except Exception as e: print(type(e).__name__, e)
with open('o.pkl', 'wb') as f: pickle.dump(C(5), f); pickle.dump([1], f)
with open('o.pkl', 'rb') as f: print(pickle.load(f), pickle.load(f))
opt = torch.optim.Adam(net.parameters()); net(x).sum().backward(); opt.step(); torch.save({'net': net, 'cfg': C(7), 'opt': opt.state_dict(), 'pt': P(1, 2)}, 'c.pt'); ck = torch.load('c.pt', weights_only=False); print(ck['cfg'], ck['pt'], ck['opt']['param_groups'][0]['lr'])
torch.save(C(9), 'd.pt')
with torch.serialization.safe_globals([C]): print(torch.load('d.pt'))
try: torch.load('d.pt')
except pickle.UnpicklingError as e: print('again')
print(copy.deepcopy(net).fc.weight.equal(net.fc.weight), pickle.loads(pickle.dumps(functools.partial(max, 3)))(2))
