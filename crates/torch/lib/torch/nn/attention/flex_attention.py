"""torch.nn.attention.flex_attention: attention whose scores a function of a script changes. The function is called once, with indices
that broadcast over all scores; what it does becomes part of the compiled step."""

import torch


def noop_mask(batch, head, token_q, token_kv):
    return torch.ones((), dtype=torch.bool)


_DEFAULT_SPARSE_BLOCK_SIZE = 128


class BlockMask:
    """Which scores count, of `mask_mod`, and which blocks have some."""

    def __init__(self, mask_mod, shape, block_size):
        self.mask_mod, self.shape = mask_mod, tuple(shape)
        self.BLOCK_SIZE = (block_size, block_size) if isinstance(block_size, int) else tuple(block_size)
        self.seq_lengths = self.shape[-2:]
        self._known = None

    def _mask(self):
        if self._known is None:
            self._known = create_mask(self.mask_mod, *self.shape)
        return self._known

    def to_dense(self):
        """1 for each block that has scores which count."""
        mask = self._mask()
        rows, columns = self.BLOCK_SIZE
        batch, heads, q, kv = mask.shape
        padded = torch.nn.functional.pad(mask.to(torch.int32), (0, -kv % columns, 0, -q % rows))
        blocks = padded.reshape(batch, heads, padded.shape[2] // rows, rows, padded.shape[3] // columns, columns)
        return blocks.amax((3, 5))

    def sparsity(self):
        """The share of blocks without scores that count, in percent."""
        dense = self.to_dense()
        return (1 - dense.sum().item() / dense.numel()) * 100 if dense.numel() else 0.0

    def numel(self):
        count = 1
        for n in self.shape:
            count *= n
        return count

    def to(self, *args, **kwargs):
        return self

    def __repr__(self):
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


def _indices(batch, heads, q, kv):
    return (torch.arange(batch).reshape(-1, 1, 1, 1), torch.arange(heads).reshape(-1, 1, 1), torch.arange(q).reshape(-1, 1),
            torch.arange(kv))


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None):
    torch._place(device)
    batch, heads = B or 1, H or 1
    at = _indices(batch, heads, Q_LEN, KV_LEN)
    return mod_fn(*at).expand(batch, heads, Q_LEN, KV_LEN)


def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device=None, BLOCK_SIZE=_DEFAULT_SPARSE_BLOCK_SIZE, _compile=False):
    torch._place(device)
    return BlockMask(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN), BLOCK_SIZE)


def and_masks(*mask_mods):
    def both(b, h, q, kv):
        made = noop_mask(b, h, q, kv)
        for mod in mask_mods:
            made = made & mod(b, h, q, kv)
        return made
    return both


def or_masks(*mask_mods):
    def either(b, h, q, kv):
        made = ~noop_mask(b, h, q, kv)
        for mod in mask_mods:
            made = made | mod(b, h, q, kv)
        return made
    return either


def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False, kernel_options=None):
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        raise ValueError("NYI: query, key, and value must be 4D tensors")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("Expect query and key/value to have the same embedding dimension "
                         f"but got E={query.shape[-1]} and E={key.shape[-1]}.")
    if enable_gqa:
        if query.shape[1] % key.shape[1]:
            raise ValueError("Expect number of query heads to be a multiple of kv heads for GQA "
                             f"but got Hq={query.shape[1]} and Hkv={key.shape[1]}.")
        share = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(share, 1), value.repeat_interleave(share, 1)
    elif query.shape[1] != key.shape[1]:
        raise ValueError("Expect query and key/value to have the same number of heads "
                         f"but got Hq={query.shape[1]} and Hkv={key.shape[1]}. Try setting enable_gqa=True for GQA.")
    batch, heads, q, _ = query.shape
    kv = key.shape[-2]
    scores = (query @ key.mT) * (query.shape[-1] ** -0.5 if scale is None else scale)
    at = _indices(batch, heads, q, kv)
    if score_mod is not None:
        scores = score_mod(scores, *at)
    if block_mask is not None:
        if block_mask.shape[-2] < q or block_mask.shape[-1] < kv:
            raise ValueError(f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={q} and kv_len={kv}.")
        scores = torch.where(block_mask.mask_mod(*at), scores, float("-inf"))
    # A row in which nothing counts gives zeros.
    top = scores.detach().amax(-1, keepdim=True)
    top = torch.where(top == float("-inf"), 0.0, top)
    shares = (scores - top).exp()
    total = shares.sum(-1, keepdim=True)
    made = (shares @ value) / torch.where(total == 0, 1.0, total)
    return (made, (total.log() + top).squeeze(-1)) if return_lse else made
