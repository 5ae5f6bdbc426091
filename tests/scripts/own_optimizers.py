import torch, math
from torch import nn, Tensor
from torch.optim import Optimizer
from torch.autograd import Function, gradcheck
class Lion(Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        if not 0.0 <= lr: raise ValueError('Invalid learning rate: {}'.format(lr))
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))
    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad(): loss = closure()
        for group in self.param_groups:
            for p in group['params']:
                if p.grad is None: continue
                p.data.mul_(1 - group['lr'] * group['weight_decay'])
                grad = p.grad; state = self.state[p]
                if len(state) == 0: state['exp_avg'] = torch.zeros_like(p); state['step'] = 0
                state['step'] += 1
                exp_avg = state['exp_avg']; beta1, beta2 = group['betas']
                update = exp_avg * beta1 + grad * (1 - beta1)
                p.add_(update.sign_(), alpha=-group['lr'])
                exp_avg.mul_(beta2).add_(grad, alpha=1 - beta2)
        return loss
class SAM(Optimizer):
    def __init__(self, params, base, rho=0.05, **kw):
        super().__init__(params, dict(rho=rho, **kw))
        self.base_optimizer = base(self.param_groups, **kw)
        self.param_groups = self.base_optimizer.param_groups
        self.defaults.update(self.base_optimizer.defaults)
    @torch.no_grad()
    def first_step(self, zero_grad=False):
        gn = torch.norm(torch.stack([p.grad.norm(p=2) for g in self.param_groups for p in g['params'] if p.grad is not None]), p=2)
        for g in self.param_groups:
            scale = g['rho'] / (gn + 1e-12)
            for p in g['params']:
                if p.grad is None: continue
                self.state[p]['old_p'] = p.data.clone()
                p.add_(p.grad * scale.to(p))
        if zero_grad: self.zero_grad()
    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for g in self.param_groups:
            for p in g['params']:
                if p.grad is None: continue
                p.data = self.state[p]['old_p']
        self.base_optimizer.step()
        if zero_grad: self.zero_grad()
class STE(Function):
    @staticmethod
    def forward(ctx, x, bits):
        ctx.save_for_backward(x); ctx.bits = bits
        n = 2 ** bits - 1
        return torch.round(x.clamp(0, 1) * n) / n
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        print('needs', ctx.needs_input_grad)
        return g * ((x >= 0) & (x <= 1)).to(g.dtype), None
class Exp(Function):
    @staticmethod
    def forward(x): return torch.exp(x)
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(output)
    @staticmethod
    def backward(ctx, g):
        r, = ctx.saved_tensors
        return g * r
class Rev(Function):
    @staticmethod
    def forward(ctx, x, lam): ctx.lam = lam; return x.view_as(x)
    @staticmethod
    def backward(ctx, g): return g.neg() * ctx.lam, None
class Two(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b); ctx.set_materialize_grads(False)
        return a * b, a + b
    @staticmethod
    def backward(ctx, g1, g2):
        a, b = ctx.saved_tensors
        ga = gb = None
        if g1 is not None: ga, gb = g1 * b, g1 * a
        if g2 is not None: ga = g2 if ga is None else ga + g2; gb = g2 if gb is None else gb + g2
        return ga, gb
torch.manual_seed(0)
X = torch.randn(64, 5); Y = X @ torch.randn(5, 1) + 0.1
net = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
opt = Lion(net.parameters(), lr=1e-2, weight_decay=0.01)
for i in range(20):
    loss = nn.functional.mse_loss(net(X), Y); opt.zero_grad(); loss.backward(); opt.step()
    if i % 5 == 0: print(i, loss.item())
print(opt, opt.state[net[0].weight]['step'])
sam = SAM(net.parameters(), torch.optim.SGD, lr=0.05, momentum=0.9)
for i in range(6):
    l = nn.functional.mse_loss(net(X), Y); l.backward(); sam.first_step(True)
    nn.functional.mse_loss(net(X), Y).backward(); sam.second_step(True)
    print(f'{l.item():.6f}')
def closure():
    opt.zero_grad(); l = nn.functional.mse_loss(net(X), Y); l.backward(); return l
print(opt.step(closure))
x = torch.linspace(-0.5, 1.5, 7, requires_grad=True)
STE.apply(x, 2).sum().backward(); print(x.grad, STE.apply(x, 2))
y = Exp.apply(x); print(y); y.sum().backward(); print(x.grad)
x.grad = None; (Rev.apply(x, 0.5) * 3).sum().backward(); print(x.grad)
a = torch.tensor([1., 2.], requires_grad=True); b = torch.tensor([3., 4.], requires_grad=True)
p, s = Two.apply(a, b); p.sum().backward(); print(a.grad, b.grad, s.requires_grad)
try: Lion(net.parameters(), lr=-1)
except ValueError as e: print(e)
try: Lion([], lr=1)
except ValueError as e: print(e)
try: torch.optim.SGD([torch.zeros(2, requires_grad=True) * 2], lr=0.1)
except ValueError as e: print(e)
try: torch.optim.SGD(net[0].weight, lr=0.1)
except TypeError as e: print(e)
try: torch.optim.Adam(net.parameters(), lr=0.1, betas=(1.2, 0.9))
except ValueError as e: print(e)
class Bad(Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g, g
try: Bad.apply(x).sum().backward()
except RuntimeError as e: print(e)
