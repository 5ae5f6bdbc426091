import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence, pack_sequence, unpad_sequence

torch.manual_seed(0)
sequences = [torch.arange(1, n + 1) for n in (2, 5, 3)]
padded = pad_sequence(sequences, batch_first=True)
lengths = torch.tensor([len(s) for s in sequences])
print(padded, lengths)
print(pad_sequence(sequences, padding_value=-1).shape)
embedding = nn.Embedding(6, 3, padding_idx=0)
x = embedding(padded)
packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
print(packed.data.shape, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
back, n = pad_packed_sequence(packed, batch_first=True)
print(torch.equal(back, x), n)
for make in (nn.LSTM, nn.GRU, nn.RNN):
    packed = pack_padded_sequence(embedding(padded), lengths, batch_first=True, enforce_sorted=False)
    layer = make(3, 4, batch_first=True, bidirectional=True, num_layers=2)
    out, state = layer(packed)
    y, n = pad_packed_sequence(out, batch_first=True)
    state = state if isinstance(state, tuple) else (state,)
    print(type(out).__name__, y.shape, n.tolist())
    print(y[0, :, :2].detach())
    print([round(s.sum().item(), 4) for s in state])
    sum(s.sum() for s in state).backward()
    print(layer.weight_hh_l0.grad.abs().sum().item(), layer.weight_ih_l1_reverse.grad.abs().sum().item())
print(embedding.weight.grad[0])
p = pack_sequence([torch.tensor([1., 2., 3.]), torch.tensor([4., 5.])])
print(p.data, p.batch_sizes)
print(unpad_sequence(padded, lengths, batch_first=True))
total, _ = pad_packed_sequence(p, batch_first=True, total_length=5, padding_value=9.0)
print(total)
try:
    pack_padded_sequence(x, lengths, batch_first=True)
except RuntimeError as error:
    print(str(error)[:60])
