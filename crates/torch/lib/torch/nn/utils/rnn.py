"""Sequences of several lengths in one tensor."""

from collections import namedtuple
from torch import _C
from torch._C import Tensor

_ops = _C._ops
_Fields = namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


class PackedSequence(_Fields):
    """The steps of sequences sorted by length, without padding: first all first steps, then all second ones. One that is made of padded
    sequences keeps those, and is packed when somebody looks: layers run over the padded ones, whose sizes come again."""

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        made = _Fields.__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)
        made._made, made._rows = data, None
        return made

    def _of(self, padded, sizes):
        """The same sequences of what is padded, [T, N, ..]; `sizes` are those of the batches."""
        self._rows = padded, sizes
        return self

    @property
    def data(self):
        if self._made is None:
            padded, sizes = self._rows
            places = [t * sizes[0] + i for t, n in enumerate(sizes) for i in range(n)]
            self._made = padded.flatten(0, 1).index_select(0, _C.tensor(places, _C.int64))
        return self._made

    def __iter__(self):
        return iter((self.data, *tuple.__getitem__(self, slice(1, None))))

    def __getitem__(self, index):
        return tuple(iter(self))[index]

    def _padded(self):
        """The sequences side by side, [T, N, ..] with anything behind their ends, and the sizes of the batches."""
        if self._rows is None:
            sizes, at, places = self.batch_sizes.tolist(), 0, []
            for n in sizes:
                places += [at + i if i < n else 0 for i in range(sizes[0])]
                at += n
            rows = self._made.index_select(0, _C.tensor(places, _C.int64))
            self._rows = rows.reshape([len(sizes), sizes[0]] + list(rows.shape[1:])), sizes
        return self._rows

    def _with(self, data):
        return self if data is self.data else type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def to(self, *args, **kwargs):
        return self._with(self.data.to(*args, **kwargs))

    def cpu(self):
        return self

    def pin_memory(self):
        return self._with(self.data.pin_memory())

    def is_pinned(self):
        return self.data.is_pinned()

    def cuda(self, *args, **kwargs):
        return self.to("cuda")

    @property
    def is_cuda(self):
        return self.data.is_cuda


for _name in "double float half long int short char byte".split():
    setattr(PackedSequence, _name, lambda self, _name=_name: self._with(getattr(self.data, _name)()))


def invert_permutation(permutation):
    return None if permutation is None else permutation.argsort()


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    lengths = lengths.tolist() if isinstance(lengths, Tensor) else list(lengths)
    if 0 in input.shape:
        raise RuntimeError("Cannot pack empty tensors.")
    x = input.transpose(0, 1) if batch_first else input
    if len(lengths) != x.shape[1]:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size={x.shape[1]})")
    if not lengths:
        raise RuntimeError("Cannot pack empty tensors.")
    if min(lengths) <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    sorted_indices = None
    if enforce_sorted:
        if any(a < b for a, b in zip(lengths, lengths[1:])):
            raise RuntimeError(
                "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to "
                "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability.")
    else:
        order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
        sorted_indices = _C.tensor(order, _C.int64)
        lengths = [lengths[i] for i in order]
        x = x.index_select(1, sorted_indices)
    if max(lengths) > x.shape[0]:
        raise RuntimeError(f"Expected all lengths to be at most {x.shape[0]}, but got {max(lengths)}")
    sizes = []
    for n, length in zip(range(len(lengths), 0, -1), reversed(lengths)):
        sizes += [n] * (length - len(sizes))
    return PackedSequence(None, _C.tensor(sizes, _C.int64), sorted_indices)._of(x[:len(sizes)], sizes)


def lengths_of(sizes):
    """How long each sequence is, by the sizes of the batches."""
    lengths = []
    for steps, n in zip(range(len(sizes), 0, -1), reversed(sizes)):
        lengths += [steps] * (n - len(lengths))
    return lengths


def valid(sizes, lengths, rank):
    """Which steps of padded sequences are theirs, to be broadcast to so many dimensions."""
    steps = _C.tensor(list(range(len(sizes))), _C.int64).unsqueeze(-1)
    return _ops["lt"](steps, _C.tensor(lengths, _C.int64)).reshape([len(sizes), len(lengths)] + [1] * (rank - 2))


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    made, sizes = sequence._padded()
    steps = len(sizes)
    if total_length is not None and total_length < steps:
        raise ValueError(
            f"Expected total_length to be at least the length of the longest sequence in input, but got total_length={total_length} "
            f"and max sequence length being {steps}")
    lengths = lengths_of(sizes)
    if min(lengths) < steps:
        made = _ops["where"](valid(sizes, lengths, made.dim()), made, _C.full((), padding_value, made.dtype))
    if total_length is not None and total_length > steps:
        made = _ops["cat"]([made, _C.full([total_length - steps] + list(made.shape[1:]), padding_value, made.dtype)])
    made = made.transpose(0, 1) if batch_first else made
    lengths = _C.tensor(lengths, _C.int64)
    if sequence.unsorted_indices is not None:
        made = made.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return made, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    if not hasattr(sequences, "__iter__"):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    longest = max([len(s) for s in sequences])
    rows = []
    for s in sequences:
        if len(s) < longest:
            fill = _C.full([longest - len(s)] + list(s.shape[1:]), padding_value, s.dtype)
            s = _ops["cat"]([s, fill] if padding_side == "right" else [fill, s])
        rows.append(s)
    return _ops["stack"](rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    x = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [x[i, :n] for i, n in enumerate(lengths.tolist())]


def pack_sequence(sequences, enforce_sorted=True):
    return pack_padded_sequence(pad_sequence(sequences), [len(s) for s in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
