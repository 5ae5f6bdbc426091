"""torch.nn.attention.bias: causal masks as objects, for `scaled_dot_product_attention`."""

import torch


def causal_upper_left(*size):
    """True where a key is no further than the query, counted from the first ones."""
    q, kv = size
    return torch.ones(q, kv, dtype=torch.bool).tril()


def causal_lower_right(*size):
    """As `causal_upper_left`, counted from the last ones."""
    q, kv = size
    return torch.ones(q, kv, dtype=torch.bool).tril(kv - q)
