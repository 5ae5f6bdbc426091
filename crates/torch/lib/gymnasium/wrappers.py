"""Environments around others."""

import time
from collections import deque
import _missing
from gymnasium import ObservationWrapper, RewardWrapper, Wrapper
from gymnasium.error import ResetNeeded


class OrderEnforcing(Wrapper):
    _begun = False

    def reset(self, *, seed=None, options=None):
        self._begun = True
        return self.env.reset(seed=seed, options=options)

    def step(self, action):
        if not self._begun:
            raise ResetNeeded("Cannot call env.step() before calling env.reset()")
        return self.env.step(action)


class TimeLimit(Wrapper):
    def __init__(self, env, max_episode_steps):
        super().__init__(env)
        self._most, self._steps = max_episode_steps, 0

    def reset(self, *, seed=None, options=None):
        self._steps = 0
        return self.env.reset(seed=seed, options=options)

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        return observation, reward, terminated, truncated or self._steps >= self._most, info


class RecordEpisodeStatistics(Wrapper):
    def __init__(self, env, buffer_length=100, stats_key="episode"):
        super().__init__(env)
        self._key, self.episode_count = stats_key, 0
        self.time_queue, self.return_queue, self.length_queue = [deque(maxlen=buffer_length) for _ in range(3)]
        self.episode_returns, self.episode_lengths, self.episode_start_time = 0.0, 0, time.perf_counter()

    def reset(self, *, seed=None, options=None):
        self.episode_returns, self.episode_lengths, self.episode_start_time = 0.0, 0, time.perf_counter()
        return self.env.reset(seed=seed, options=options)

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.episode_returns += reward
        self.episode_lengths += 1
        if terminated or truncated:
            taken = round(time.perf_counter() - self.episode_start_time, 6)
            info[self._key] = {"r": self.episode_returns, "l": self.episode_lengths, "t": taken}
            self.time_queue.append(taken)
            self.return_queue.append(self.episode_returns)
            self.length_queue.append(self.episode_lengths)
            self.episode_count += 1
        return observation, reward, terminated, truncated, info


class TransformObservation(ObservationWrapper):
    def __init__(self, env, func, observation_space=None):
        super().__init__(env)
        self.observation = func
        if observation_space is not None:
            self.observation_space = observation_space


class TransformReward(RewardWrapper):
    def __init__(self, env, func):
        super().__init__(env)
        self.reward = func


__getattr__ = _missing.names("gymnasium.wrappers", globals())
