"""Several environments, stepped one after the other."""

import numpy as np
from gymnasium import spaces


class SyncVectorEnv:
    """One that ended begins anew with the next step, whose action and reward do not count (Gymnasium's autoreset by the next step)."""

    def __init__(self, env_fns, **kwargs):
        self.envs = [make() for make in env_fns]
        self.num_envs = len(self.envs)
        self.single_action_space, self.single_observation_space = self.envs[0].action_space, self.envs[0].observation_space
        self._ended = [False] * self.num_envs
        if isinstance(self.single_action_space, spaces.Discrete):
            self.action_space = spaces.MultiDiscrete([self.single_action_space.n] * self.num_envs)
        else:
            space = self.single_action_space
            self.action_space = spaces.Box(np.stack([space.low] * self.num_envs), np.stack([space.high] * self.num_envs))

    def reset(self, *, seed=None, options=None):
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else seed or [None] * self.num_envs
        seen = [env.reset(seed=s, options=options)[0] for env, s in zip(self.envs, seeds)]
        self._ended = [False] * self.num_envs
        return np.stack(seen), {}

    def step(self, actions):
        out, infos = [], {}
        for i, (env, action) in enumerate(zip(self.envs, actions)):
            if self._ended[i]:
                observation, info = env.reset()
                made = (observation, 0.0, False, False)
            else:
                *made, info = env.step(action)
            for key, value in info.items():
                self._told(infos, key, value, i)
            out.append(made)
            self._ended[i] = bool(made[2] or made[3])
        seen, rewards, terminated, truncated = zip(*out)
        return np.stack(seen), np.array([float(r) for r in rewards]), np.array(list(terminated)), np.array(list(truncated)), infos

    def _told(self, infos, key, value, i):
        if isinstance(value, dict):
            inner = infos.setdefault(key, {})
            for k, v in value.items():
                self._told(inner, k, v, i)
        else:
            infos.setdefault(key, np.zeros(self.num_envs))[i] = value
        infos.setdefault("_" + key, np.zeros(self.num_envs, bool))[i] = True

    def close(self):
        for env in self.envs:
            env.close()


VectorEnv = SyncVectorEnv
