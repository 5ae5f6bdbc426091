"""torch.random."""

from torch import default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state


class fork_rng:
    """What is drawn inside leaves the generator as it was."""

    def __init__(self, devices=None, enabled=True, device_type="cuda"):
        self._enabled = enabled

    def __enter__(self):
        self._state = get_rng_state()
        return self

    def __exit__(self, *exc):
        if self._enabled:
            set_rng_state(self._state)
        return False
