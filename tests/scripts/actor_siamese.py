import math
import random
from collections import OrderedDict, deque
from typing import NamedTuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical, Normal
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, OneCycleLR, SequentialLR, LinearLR

torch.manual_seed(543)
random.seed(1)
np.random.seed(1)
eps = np.finfo(np.float32).eps.item()


class CartPole:
    def reset(self, seed=None):
        self.s = np.array([0.01, -0.02, 0.03, 0.0])
        return self.s, {}

    def step(self, a):
        x, v, th, w = self.s
        f = 10.0 if a == 1 else -10.0
        c, s = math.cos(th), math.sin(th)
        t = (f + 0.05 * w ** 2 * s) / 1.1
        tacc = (9.8 * s - c * t) / (0.5 * (4.0 / 3.0 - 0.1 * c ** 2 / 1.1))
        acc = t - 0.05 * tacc * c / 1.1
        self.s = np.array([x + 0.02 * v, v + 0.02 * acc, th + 0.02 * w, w + 0.02 * tacc])
        done = bool(abs(self.s[0]) > 2.4 or abs(self.s[2]) > 12 * math.pi / 180)
        return self.s, 1.0, done, False, {}


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(4, 16)
        self.action_head, self.value_head = nn.Linear(16, 2), nn.Linear(16, 1)
        self.saved_actions, self.rewards = [], []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


class SavedAction(NamedTuple):
    log_prob: torch.Tensor
    value: torch.Tensor


model = Policy()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)


def select_action(state):
    state = torch.from_numpy(state).float()
    probs, state_value = model(state)
    m = Categorical(probs)
    action = m.sample()
    model.saved_actions.append(SavedAction(m.log_prob(action), state_value))
    return action.item()


def finish_episode():
    R = 0
    policy_losses, value_losses, returns = [], [], deque()
    for r in model.rewards[::-1]:
        R = r + 0.99 * R
        returns.appendleft(R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for (log_prob, value), R in zip(model.saved_actions, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]
    return loss.item()


env, running_reward = CartPole(), 10
for i_episode in range(3):
    state, _ = env.reset()
    ep_reward = 0
    for t in range(1, 30):
        action = select_action(state)
        state, reward, done, _, _ = env.step(action)
        model.rewards.append(reward)
        ep_reward += reward
        if done:
            break
    running_reward = 0.05 * ep_reward + (1 - 0.05) * running_reward
    print("Episode {}\tLast reward: {:.2f}\tAverage reward: {:.2f}\tloss {:.3f}".format(i_episode, ep_reward, running_reward, finish_episode()))


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.LazyLinear(8))
        self.fc = nn.Sequential(nn.Linear(16, 8), nn.ReLU(inplace=True), nn.Linear(8, 1))
        self.fc.apply(self.init_weights)

    def init_weights(self, m):
        if isinstance(m, nn.Linear):
            torch.nn.init.xavier_uniform_(m.weight)
            m.bias.data.fill_(0.01)

    def forward_once(self, x):
        return self.cnn(x)

    def forward(self, a, b):
        return torch.sigmoid(self.fc(torch.cat((self.forward_once(a), self.forward_once(b)), 1)))


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=2.0):
        super().__init__()
        self.margin = margin

    def forward(self, a, b, label):
        d = F.pairwise_distance(a, b, keepdim=True)
        return torch.mean((1 - label) * torch.pow(d, 2) + label * torch.pow(torch.clamp(self.margin - d, min=0.0), 2))


net, crit = SiameseNetwork(), ContrastiveLoss()
imgs = torch.rand(12, 1, 8, 8)
net(imgs[:1], imgs[:1])
opt = torch.optim.Adadelta(net.parameters(), lr=1.0)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.7)
for epoch in range(3):
    i, j = torch.randperm(12)[:6], torch.randperm(12)[:6]
    label = (i % 2 != j % 2).float().unsqueeze(1)
    opt.zero_grad()
    loss = crit(net.forward_once(imgs[i]), net.forward_once(imgs[j]), label) + F.binary_cross_entropy(net(imgs[i], imgs[j]), label)
    loss.backward()
    opt.step()
    sched.step()
    print(f"siamese {loss.item():.4f} {sched.get_last_lr()[0]:.4f}")

# SimCLR's loss, written twice
z = F.normalize(torch.randn(8, 4), dim=1)


def nt_xent(z, t=0.5):
    n = z.shape[0] // 2
    labels = torch.cat([torch.arange(n) for _ in range(2)], dim=0)
    labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
    sim = torch.matmul(z, z.T)
    mask = torch.eye(labels.shape[0], dtype=torch.bool)
    labels = labels[~mask].view(labels.shape[0], -1)
    sim = sim[~mask].view(sim.shape[0], -1)
    positives = sim[labels.bool()].view(labels.shape[0], -1)
    negatives = sim[~labels.bool()].view(sim.shape[0], -1)
    logits = torch.cat([positives, negatives], dim=1) / t
    return F.cross_entropy(logits, torch.zeros(logits.shape[0], dtype=torch.long))


print(nt_xent(z))
# word2vec with negative sampling
text = "the quick brown fox jumps over the lazy dog the fox".split()
vocab = {w: i for i, w in enumerate(OrderedDict.fromkeys(text))}
pairs = [(vocab[text[i]], vocab[text[j]]) for i in range(len(text)) for j in range(max(0, i - 2), min(len(text), i + 3)) if i != j]
counts = torch.zeros(len(vocab))
for w in text:
    counts[vocab[w]] += 1
noise = counts.pow(0.75) / counts.pow(0.75).sum()
u, v = nn.Embedding(len(vocab), 6), nn.Embedding(len(vocab), 6)
opt = torch.optim.SparseAdam(list(u.parameters()) + list(v.parameters()), lr=0.1) if False else torch.optim.Adagrad([*u.parameters(), *v.parameters()], lr=0.1)
for epoch in range(2):
    total = 0.0
    for c in range(0, len(pairs), 8):
        batch = torch.tensor(pairs[c:c + 8])
        neg = torch.multinomial(noise, batch.shape[0] * 3, replacement=True).view(-1, 3)
        e = u(batch[:, 0])
        pos = F.logsigmoid((e * v(batch[:, 1])).sum(1))
        negs = F.logsigmoid(-torch.bmm(v(neg), e.unsqueeze(2)).squeeze(2)).sum(1)
        loss = -(pos + negs).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"w2v {total:.4f}")
sims = F.cosine_similarity(u.weight[vocab["fox"]].unsqueeze(0), u.weight)
print([list(vocab)[i] for i in sims.topk(3).indices.tolist()][0])
p = nn.Parameter(torch.zeros(1))
o = torch.optim.SGD([{"params": [p], "lr": 0.1}, {"params": [nn.Parameter(torch.ones(1))]}], lr=0.01, momentum=0.9, nesterov=True)
s = SequentialLR(o, [LinearLR(o, 0.1, total_iters=2), CosineAnnealingLR(o, 3)], milestones=[2])
for _ in range(5):
    o.step()
    s.step()
    print([round(g["lr"], 5) for g in o.param_groups], end=" ")
print()
print(o)
