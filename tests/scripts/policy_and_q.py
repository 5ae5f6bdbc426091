import torch, torch.nn as nn, torch.nn.functional as F, torch.optim as optim, random, math, numpy as np
from collections import deque, namedtuple
from itertools import count
from torch.distributions import Categorical, Normal

torch.manual_seed(543)
random.seed(1)
np.random.seed(1)


class CartPole:
    def reset(self, seed=None):
        self.s = np.random.uniform(-0.05, 0.05, 4)
        self.t = 0
        return self.s.astype(np.float32), {}

    def step(self, a):
        x, xd, th, thd = self.s
        f = 10.0 if a == 1 else -10.0
        c, s = math.cos(th), math.sin(th)
        tmp = (f + 0.05 * thd**2 * s) / 1.1
        ta = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c**2 / 1.1))
        xa = tmp - 0.05 * ta * c / 1.1
        self.s = np.array([x + 0.02 * xd, xd + 0.02 * xa, th + 0.02 * thd, thd + 0.02 * ta])
        self.t += 1
        done = bool(abs(self.s[0]) > 2.4 or abs(self.s[2]) > 0.2095)
        return self.s.astype(np.float32), 1.0, done, self.t >= 60, {}


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(4, 32)
        self.dropout = nn.Dropout(p=0.6)
        self.affine2 = nn.Linear(32, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.dropout(self.affine1(x)))), dim=1)


policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
eps = np.finfo(np.float32).eps.item()
env = CartPole()


def select_action(state):
    state = torch.from_numpy(state).float().unsqueeze(0)
    probs = policy(state)
    m = Categorical(probs)
    a = m.sample()
    policy.saved_log_probs.append(m.log_prob(a))
    return a.item()


running = 10
for ep in range(1, 4):
    state, _ = env.reset()
    er = 0
    for t in range(1, 1000):
        state, r, done, trunc, _ = env.step(select_action(state))
        policy.rewards.append(r)
        er += r
        if done or trunc:
            break
    running = 0.05 * er + 0.95 * running
    R = 0
    loss = []
    returns = deque()
    for r in policy.rewards[::-1]:
        R = r + 0.99 * R
        returns.appendleft(R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for lp, R in zip(policy.saved_log_probs, returns):
        loss.append(-lp * R)
    optimizer.zero_grad()
    loss = torch.cat(loss).sum()
    loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    print("Episode {}\tLast reward: {:.2f}\tAverage reward: {:.2f}\tloss {:.4f}".format(ep, er, running, loss.item()))
Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class ReplayMemory(object):
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, n):
        return random.sample(self.memory, n)

    def __len__(self):
        return len(self.memory)


class DQN(nn.Module):
    def __init__(self, n, a):
        super().__init__()
        self.layer1 = nn.Linear(n, 16)
        self.layer2 = nn.Linear(16, 16)
        self.layer3 = nn.Linear(16, a)

    def forward(self, x):
        return self.layer3(F.relu(self.layer2(F.relu(self.layer1(x)))))


pn, tn = DQN(4, 2), DQN(4, 2)
tn.load_state_dict(pn.state_dict())
o = optim.AdamW(pn.parameters(), lr=1e-3, amsgrad=True)
mem = ReplayMemory(100)
steps = 0


def act(state):
    global steps
    e = 0.05 + 0.85 * math.exp(-1.0 * steps / 100)
    steps += 1
    if random.random() > e:
        with torch.no_grad():
            return pn(state).max(1).indices.view(1, 1)
    return torch.tensor([[random.randrange(2)]], dtype=torch.long)


def optimize():
    if len(mem) < 16:
        return
    batch = Transition(*zip(*mem.sample(16)))
    mask = torch.tensor(tuple(map(lambda s: s is not None, batch.next_state)), dtype=torch.bool)
    nf = torch.cat([s for s in batch.next_state if s is not None])
    sb, ab, rb = torch.cat(batch.state), torch.cat(batch.action), torch.cat(batch.reward)
    q = pn(sb).gather(1, ab)
    nv = torch.zeros(16)
    with torch.no_grad():
        nv[mask] = tn(nf).max(1).values
    exp = (nv * 0.99) + rb
    l = nn.SmoothL1Loss()(q, exp.unsqueeze(1))
    o.zero_grad()
    l.backward()
    torch.nn.utils.clip_grad_value_(pn.parameters(), 100)
    o.step()
    return l.item()


for ep in range(2):
    s, _ = env.reset()
    s = torch.tensor(s, dtype=torch.float32).unsqueeze(0)
    for t in count():
        a = act(s)
        ob, r, term, trunc, _ = env.step(a.item())
        r = torch.tensor([r])
        ns = None if term else torch.tensor(ob, dtype=torch.float32).unsqueeze(0)
        mem.push(s, a, ns, r)
        s = ns
        l = optimize()
        tsd, psd = tn.state_dict(), pn.state_dict()
        for k in psd:
            tsd[k] = psd[k] * 0.005 + tsd[k] * (1 - 0.005)
        tn.load_state_dict(tsd)
        if term or trunc:
            print("dqn", ep, t + 1, l if l is None else round(l, 4))
            break


# gaussian policy, GAE
class AC(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Linear(3, 2)
        self.critic = nn.Linear(3, 1)
        self.log_std = nn.Parameter(torch.zeros(1, 2))

    def forward(self, x):
        mu = self.actor(x)
        return Normal(mu, self.log_std.exp().expand_as(mu)), self.critic(x)


ac = AC()
s = torch.randn(5, 3)
d, v = ac(s)
a = d.sample()
print(d, a.shape, d.log_prob(a).sum(-1).shape, d.entropy().mean())


def gae(r, v, done, last, g=0.99, lam=0.95):
    adv, A = torch.zeros_like(r), 0
    for t in reversed(range(len(r))):
        nv = last if t == len(r) - 1 else v[t + 1]
        delta = r[t] + g * nv * (1 - done[t]) - v[t]
        A = delta + g * lam * (1 - done[t]) * A
        adv[t] = A
    return adv


adv = gae(torch.ones(5), v.detach().squeeze(), torch.tensor([0, 0, 1, 0, 0.0]), 0.5)
print(adv)
ratio = (d.log_prob(a).sum(-1) - d.log_prob(a).sum(-1).detach() + 0.1).exp()
print(-torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean(), ratio.log().mean())
m = Categorical(logits=torch.tensor([[1.0, 2, 3]]))
print(m, m.probs, m.entropy(), m.logits, torch.distributions.kl_divergence(m, Categorical(logits=torch.zeros(1, 3))))
