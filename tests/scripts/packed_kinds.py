"""Packed sequences through every kind of recurrent layer: outputs, last states and gradients, with infinities behind the ends."""
import copy

import torch
import torch.nn as nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence, unpack_sequence

torch.manual_seed(0)
lengths = [5, 3, 3, 1, 4]
kinds = ((nn.LSTM, {}), (nn.LSTM, dict(bidirectional=True, num_layers=2)), (nn.GRU, dict(num_layers=2)), (nn.GRU, dict(bidirectional=True)),
         (nn.RNN, dict(nonlinearity="relu", bidirectional=True)), (nn.RNN, {}), (nn.LSTM, dict(proj_size=2, bidirectional=True)),
         (nn.LSTM, dict(bias=False, dropout=0.5, num_layers=2)), (nn.GRU, dict(num_layers=2, dropout=0.3, bidirectional=True)))
for kind, options in kinds:
    m = kind(3, 4, **options)
    x = torch.randn(5, 6, 3, requires_grad=True)
    with torch.no_grad():
        x[3, 1:] = float("inf")
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    print(kind.__name__, options, packed.data.shape, packed.batch_sizes, packed.sorted_indices)
    out, last = m(packed)
    y, n = pad_packed_sequence(out, batch_first=True, padding_value=-1.0, total_length=7)
    states = last if isinstance(last, tuple) else (last,)
    print(type(out).__name__, y.shape, n, [tuple(s.shape) for s in states], y.sum(), *[s.sum() for s in states])
    (y.pow(2).sum() + sum((s * torch.arange(s.numel()).reshape(s.shape)).sum() for s in states)).backward()
    print(*[p.grad.abs().sum() for p in m.parameters()], x.grad.nan_to_num().abs().sum())

m = nn.LSTM(3, 4)
packed = pack_sequence([torch.randn(4, 3), torch.randn(2, 3)])
data, sizes, order, back = packed
print(data.shape, sizes, order, back, packed[1], isinstance(packed, tuple), copy.deepcopy(packed).data.shape)
out, _ = m(packed)
print(out.data.shape, out.data.sum())
out, _ = m(PackedSequence(packed.data, packed.batch_sizes))
print(out.data.sum(), [v.shape for v in unpack_sequence(out)])
print(pack_padded_sequence(pad_sequence([torch.ones(3), torch.ones(2) * 2]), torch.tensor([3, 2])))
e = nn.Embedding(10, 3)
packed = pack_padded_sequence(e(torch.tensor([[1, 2, 3], [4, 5, 0]])), [3, 2], batch_first=True)
out, (h, c) = m(packed, (torch.ones(1, 2, 4), torch.ones(1, 2, 4)))
print(h.sum(), c.sum())
print(m(PackedSequence(e(torch.tensor([1, 4, 2, 5, 3])), torch.tensor([2, 2, 1])))[1][0].sum())
