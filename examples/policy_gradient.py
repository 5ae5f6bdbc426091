"""REINFORCE balances a pole on a cart: Williams, 1992. The environment is the script's own, after Barto, Sutton and Anderson, 1983.

    aludel run examples/policy_gradient.py --episodes 300
"""

import argparse
import math
import random
from collections import deque

import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical


class CartPole:
    gravity, masscart, masspole, length, force_mag, tau = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02

    def __init__(self, limit=200):
        self.limit = limit

    def reset(self):
        self.state = [random.uniform(-0.05, 0.05) for _ in range(4)]
        self.steps = 0
        return list(self.state)

    def step(self, action):
        x, x_dot, theta, theta_dot = self.state
        force = self.force_mag if action == 1 else -self.force_mag
        total = self.masscart + self.masspole
        temp = (force + self.masspole * self.length * theta_dot ** 2 * math.sin(theta)) / total
        acc = (self.gravity * math.sin(theta) - math.cos(theta) * temp) / (
            self.length * (4.0 / 3.0 - self.masspole * math.cos(theta) ** 2 / total))
        x_acc = temp - self.masspole * self.length * acc * math.cos(theta) / total
        self.state = [x + self.tau * x_dot, x_dot + self.tau * x_acc, theta + self.tau * theta_dot, theta_dot + self.tau * acc]
        self.steps += 1
        fallen = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 12 * math.pi / 180
        return list(self.state), 1.0, fallen or self.steps >= self.limit


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 64)
        self.affine2 = nn.Linear(64, 2)
        self.saved_log_probs, self.rewards = [], []

    def forward(self, x):
        return torch.softmax(self.affine2(torch.relu(self.affine1(x))), dim=1)

    def act(self, state):
        probs = self(torch.tensor(state).float().unsqueeze(0))
        m = Categorical(probs)
        action = m.sample()
        self.saved_log_probs.append(m.log_prob(action))
        return action.item()


def finish_episode(policy, optimizer, gamma):
    R, returns = 0.0, deque()
    for r in reversed(policy.rewards):
        R = r + gamma * R
        returns.appendleft(R)
    returns = torch.tensor(list(returns))
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = torch.cat([-log_prob * R for log_prob, R in zip(policy.saved_log_probs, returns)]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    policy.rewards.clear()
    policy.saved_log_probs.clear()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--seed", type=int, default=543)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--log-interval", type=int, default=10)
    args = parser.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    env, policy = CartPole(), Policy()
    optimizer = optim.Adam(policy.parameters(), lr=1e-2)
    running = 10.0
    for episode in range(1, args.episodes + 1):
        state, done = env.reset(), False
        while not done:
            state, reward, done = env.step(policy.act(state))
            policy.rewards.append(reward)
        length = len(policy.rewards)
        running = 0.05 * length + 0.95 * running
        loss = finish_episode(policy, optimizer, args.gamma)
        if episode % args.log_interval == 0:
            print(f"Episode {episode}\tlength {length}\taverage {running:.2f}\tloss {loss:.3f}")


if __name__ == "__main__":
    main()
