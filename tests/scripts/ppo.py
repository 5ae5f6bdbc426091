import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical
from torch.distributions.normal import Normal


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(layer_init(nn.Linear(3, 16)), nn.Tanh(), layer_init(nn.Linear(16, 1), std=1.0))
        self.actor = nn.Sequential(layer_init(nn.Linear(3, 16)), nn.Tanh(), layer_init(nn.Linear(16, 2), std=0.01))
        self.logstd = nn.Parameter(torch.zeros(1, 2))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


seed = 1
np.random.seed(seed)
torch.manual_seed(seed)
torch.backends.cudnn.deterministic = True
num_steps, num_envs, gamma, gae_lambda = 16, 4, 0.99, 0.95
agent = Agent()
optimizer = optim.Adam(agent.parameters(), lr=2.5e-3, eps=1e-5)
obs = torch.zeros((num_steps, num_envs) + (3,))
actions = torch.zeros((num_steps, num_envs))
logprobs, rewards, dones, values = [torch.zeros((num_steps, num_envs)) for _ in range(4)]
next_obs, next_done = torch.Tensor(np.random.randn(num_envs, 3)), torch.zeros(num_envs)
for update in range(1, 4):
    optimizer.param_groups[0]["lr"] = (1.0 - (update - 1.0) / 3) * 2.5e-3
    for step in range(num_steps):
        obs[step], dones[step] = next_obs, next_done
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(next_obs)
            values[step] = value.flatten()
        actions[step], logprobs[step] = action, logprob
        reward = np.where(action.cpu().numpy() == (next_obs[:, 0].numpy() > 0), 1.0, -1.0)
        done = np.logical_or(np.random.rand(num_envs) < 0.1, np.zeros(num_envs) > 1)
        rewards[step] = torch.tensor(reward).view(-1)
        next_obs, next_done = torch.Tensor(np.random.randn(num_envs, 3)), torch.Tensor(done)
    with torch.no_grad():
        next_value = agent.get_value(next_obs).reshape(1, -1)
        advantages, lastgaelam = torch.zeros_like(rewards), 0
        for t in reversed(range(num_steps)):
            nextnonterminal = 1.0 - (next_done if t == num_steps - 1 else dones[t + 1])
            nextvalues = next_value if t == num_steps - 1 else values[t + 1]
            delta = rewards[t] + gamma * nextvalues * nextnonterminal - values[t]
            advantages[t] = lastgaelam = delta + gamma * gae_lambda * nextnonterminal * lastgaelam
        returns = advantages + values
    b_obs, b_logprobs, b_actions = obs.reshape((-1, 3)), logprobs.reshape(-1), actions.reshape(-1)
    b_advantages, b_returns, b_values = advantages.reshape(-1), returns.reshape(-1), values.reshape(-1)
    b_inds, clipfracs = np.arange(64), []
    for epoch in range(2):
        np.random.shuffle(b_inds)
        for start in range(0, 64, 32):
            mb_inds = b_inds[start:start + 32]
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb_inds], b_actions.long()[mb_inds])
            logratio = newlogprob - b_logprobs[mb_inds]
            ratio = logratio.exp()
            with torch.no_grad():
                approx_kl = ((ratio - 1) - logratio).mean()
                clipfracs += [((ratio - 1.0).abs() > 0.2).float().mean().item()]
            mb_adv = b_advantages[mb_inds]
            mb_adv = (mb_adv - mb_adv.mean()) / (mb_adv.std() + 1e-8)
            pg_loss = torch.max(-mb_adv * ratio, -mb_adv * torch.clamp(ratio, 0.8, 1.2)).mean()
            newvalue = newvalue.view(-1)
            v_clipped = b_values[mb_inds] + torch.clamp(newvalue - b_values[mb_inds], -0.2, 0.2)
            v_loss = 0.5 * torch.max((newvalue - b_returns[mb_inds]) ** 2, (v_clipped - b_returns[mb_inds]) ** 2).mean()
            entropy_loss = entropy.mean()
            loss = pg_loss - 0.01 * entropy_loss + v_loss * 0.5
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    y_pred, y_true = b_values.cpu().numpy(), b_returns.cpu().numpy()
    var_y = np.var(y_true)
    explained = np.nan if var_y == 0 else 1 - np.var(y_true - y_pred) / var_y
    print(f"{update} policy {pg_loss.item():.4f} value {v_loss.item():.4f} entropy {entropy_loss.item():.4f} kl {approx_kl.item():.4f} "
          f"clip {np.mean(clipfracs):.3f} explained {explained:.4f} reward {rewards.mean().item():.3f}")
dist = Normal(agent.actor(next_obs), agent.logstd.exp().expand(4, 2))
print(dist.log_prob(torch.zeros(4, 2)).sum(1).detach())
