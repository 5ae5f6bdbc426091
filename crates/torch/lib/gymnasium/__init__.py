"""Environments for reinforcement learning, as Gymnasium has them: three of its classic ones, and what environments of one's own need."""

import numpy as np
from gymnasium import spaces

__version__ = "1.0.0"


class Env:
    """What an environment derives from: `reset()` gives an observation and a dict, `step()` five things."""

    metadata, render_mode, spec = {"render_modes": []}, None, None
    action_space = observation_space = None
    _random = None

    @property
    def unwrapped(self):
        return self

    @property
    def np_random(self):
        if self._random is None:
            self._random = np.random.default_rng()
        return self._random

    @np_random.setter
    def np_random(self, value):
        self._random = value

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self._random = np.random.default_rng(seed)

    def step(self, action):
        raise NotImplementedError

    def render(self):
        raise NotImplementedError("environments are not drawn here; observations are what there is to see")

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
        return False

    def __repr__(self):
        return f"<{type(self).__name__} instance>" if self.spec is None else f"<{type(self).__name__}<{self.spec.id}>>"


class Wrapper(Env):
    def __init__(self, env):
        self.env = env

    def __getattr__(self, name):
        if name.startswith("_") or name == "env":
            raise AttributeError(f"attempted to get missing private attribute '{name}'")
        return getattr(self.env, name)

    action_space = property(lambda self: self.__dict__.get("_actions") or self.env.action_space,
                            lambda self, value: self.__dict__.__setitem__("_actions", value))
    observation_space = property(lambda self: self.__dict__.get("_observations") or self.env.observation_space,
                                 lambda self, value: self.__dict__.__setitem__("_observations", value))
    spec = property(lambda self: self.env.spec)
    unwrapped = property(lambda self: self.env.unwrapped)
    np_random = property(lambda self: self.env.np_random)

    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=seed, options=options)

    def step(self, action):
        return self.env.step(action)

    def render(self):
        return self.env.render()

    def close(self):
        return self.env.close()

    def __repr__(self):
        return f"<{type(self).__name__}{self.env!r}>"


class ObservationWrapper(Wrapper):
    def reset(self, *, seed=None, options=None):
        observation, info = self.env.reset(seed=seed, options=options)
        return self.observation(observation), info

    def step(self, action):
        observation, *rest = self.env.step(action)
        return (self.observation(observation), *rest)


class RewardWrapper(Wrapper):
    def step(self, action):
        observation, reward, *rest = self.env.step(action)
        return (observation, self.reward(reward), *rest)


class ActionWrapper(Wrapper):
    def step(self, action):
        return self.env.step(self.action(action))


class EnvSpec:
    def __init__(self, id, entry_point, max_episode_steps=None, reward_threshold=None, kwargs=None):
        self.id, self.entry_point, self.kwargs = id, entry_point, kwargs or {}
        self.max_episode_steps, self.reward_threshold = max_episode_steps, reward_threshold


registry = {}


def register(id, entry_point=None, reward_threshold=None, max_episode_steps=None, kwargs=None, **others):
    registry[id] = EnvSpec(id, entry_point, max_episode_steps, reward_threshold, kwargs)


def spec(id):
    if id not in registry:
        from gymnasium.error import NameNotFound
        raise NameNotFound(f"Environment `{id}` doesn't exist here; there are {', '.join(sorted(registry))}, and those of one's own by "
                           "gymnasium.register().")
    return registry[id]


def make(id, max_episode_steps=None, render_mode=None, **kwargs):
    found = id if isinstance(id, EnvSpec) else spec(id)
    entry = found.entry_point
    if isinstance(entry, str):
        import importlib
        module, name = entry.split(":")
        entry = getattr(importlib.import_module(module), name)
    given = {**found.kwargs, **kwargs}
    if render_mode is not None:
        given["render_mode"] = render_mode
    env = entry(**given)
    env.spec = found
    steps = max_episode_steps if max_episode_steps is not None else found.max_episode_steps
    from gymnasium.wrappers import OrderEnforcing, TimeLimit
    env = OrderEnforcing(env)
    return TimeLimit(env, steps) if steps is not None else env


def make_vec(id, num_envs=1, **kwargs):
    from gymnasium.vector import SyncVectorEnv
    return SyncVectorEnv([lambda: make(id, **kwargs) for _ in range(num_envs)])


from gymnasium import error, vector, wrappers
from gymnasium import _classic

register("CartPole-v0", _classic.CartPole, 195.0, 200)
register("CartPole-v1", _classic.CartPole, 475.0, 500)
register("MountainCar-v0", _classic.MountainCar, -110.0, 200)
register("Pendulum-v1", _classic.Pendulum, None, 200)
