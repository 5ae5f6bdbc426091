"""Classic control: Barto, Sutton and Anderson, 1983 (the cart with a pole); Moore, 1990 (the car in a valley); a pendulum."""

import math
import numpy as np
import gymnasium
from gymnasium import spaces


def _single(values):
    return np.array(values, np.float32)


class CartPole(gymnasium.Env):
    def __init__(self, sutton_barto_reward=False, render_mode=None):
        self.render_mode, self._zero = render_mode, sutton_barto_reward
        self.x_threshold, self.theta_threshold_radians = 2.4, 12 * 2 * math.pi / 360
        high = _single([self.x_threshold * 2, math.inf, self.theta_threshold_radians * 2, math.inf])
        self.action_space, self.observation_space = spaces.Discrete(2), spaces.Box(-high, high)
        self.state = None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        low, high = (options or {}).get("low", -0.05), (options or {}).get("high", 0.05)
        self.state, self._fell = self.np_random.uniform(low, high, size=(4,)).tolist(), False
        return _single(self.state), {}

    def step(self, action):
        assert self.action_space.contains(action), f"{action!r} ({type(action)}) invalid"
        assert self.state is not None, "Call reset before using step method."
        x, x_dot, theta, theta_dot = self.state
        force, cos, sin = 10.0 if int(action) == 1 else -10.0, math.cos(theta), math.sin(theta)
        temp = (force + 0.05 * theta_dot ** 2 * sin) / 1.1
        theta_acc = (9.8 * sin - cos * temp) / (0.5 * (4.0 / 3.0 - 0.1 * cos ** 2 / 1.1))
        x_acc = temp - 0.05 * theta_acc * cos / 1.1
        x, x_dot, theta, theta_dot = x + 0.02 * x_dot, x_dot + 0.02 * x_acc, theta + 0.02 * theta_dot, theta_dot + 0.02 * theta_acc
        self.state = [x, x_dot, theta, theta_dot]
        fallen = abs(x) > self.x_threshold or abs(theta) > self.theta_threshold_radians
        reward = (-1.0 if fallen else 0.0) if self._zero else 0.0 if fallen and self._fell else 1.0
        self._fell = self._fell or fallen
        return _single(self.state), reward, fallen, False, {}


class MountainCar(gymnasium.Env):
    def __init__(self, render_mode=None, goal_velocity=0):
        self.render_mode, self.goal_velocity = render_mode, goal_velocity
        self.action_space = spaces.Discrete(3)
        self.observation_space = spaces.Box(_single([-1.2, -0.07]), _single([0.6, 0.07]))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = [float(self.np_random.uniform(-0.6, -0.4)), 0.0]
        return _single(self.state), {}

    def step(self, action):
        assert self.action_space.contains(action), f"{action!r} ({type(action)}) invalid"
        position, velocity = self.state
        velocity += (int(action) - 1) * 0.001 + math.cos(3 * position) * -0.0025
        velocity = min(max(velocity, -0.07), 0.07)
        position = min(max(position + velocity, -1.2), 0.6)
        velocity = 0.0 if position == -1.2 and velocity < 0 else velocity
        self.state = [position, velocity]
        return _single(self.state), -1.0, position >= 0.5 and velocity >= self.goal_velocity, False, {}


class Pendulum(gymnasium.Env):
    def __init__(self, render_mode=None, g=10.0):
        self.render_mode, self.g = render_mode, g
        high = _single([1.0, 1.0, 8.0])
        self.action_space, self.observation_space = spaces.Box(-2.0, 2.0, (1,)), spaces.Box(-high, high)

    def _seen(self):
        angle, speed = self.state
        return _single([math.cos(angle), math.sin(angle), speed])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = [float(self.np_random.uniform(-math.pi, math.pi)), float(self.np_random.uniform(-1.0, 1.0))]
        return self._seen(), {}

    def step(self, u):
        angle, speed = self.state
        force = min(max(float(np.array(u).reshape(-1)[0]), -2.0), 2.0)
        cost = ((angle + math.pi) % (2 * math.pi) - math.pi) ** 2 + 0.1 * speed ** 2 + 0.001 * force ** 2
        speed = min(max(speed + (3 * self.g / 2 * math.sin(angle) + 3.0 * force) * 0.05, -8.0), 8.0)
        self.state = [angle + speed * 0.05, speed]
        return self._seen(), -cost, False, False, {}
