"""Recurrent layers and cells. The steps of a layer are one operator of the table."""

from torch import _C, _parameters
from torch.amp import autocast
from torch.nn import functional as F
from torch.nn import init
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter
from torch.nn.utils.rnn import PackedSequence, lengths_of, valid
import math

__all__ = ["RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]

_ops = _C._ops

# Numbers of steps that layers of a kind, a width and a batch ran for, the first ones.
_lengths = {}
# The operator of all steps of a layer is a program for each number of steps. So many numbers have one of their own: training's, and that of
# its last batch or of evaluation. Others, as of sentences, run in pieces, of which there are a few programs for all lengths.
_OWN, _PIECES = 2, (16, 8, 4, 2, 1)


def _pieces(kind, steps, width, batch):
    """The lengths of the pieces in which a layer runs its steps."""
    own = _lengths.setdefault((kind, width, batch), [])
    if steps not in own and len(own) < _OWN:
        own.append(steps)
    if steps in own:
        return [steps]
    pieces = []
    for piece in _PIECES:
        pieces += [piece] * (steps // piece)
        steps %= piece
    return pieces


class RNNBase(Module):
    _gates = 1

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
                 proj_size=0, device=None, dtype=None):
        super().__init__()
        dtype = _parameters(device, dtype)
        if isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
        for name, value, kind in (("bias", bias, bool), ("batch_first", batch_first, bool), ("input_size", input_size, int),
                                  ("hidden_size", hidden_size, int)):
            if not isinstance(value, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
            if kind is int and value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, float(dropout), bidirectional
        self.proj_size = proj_size
        self._directions = 2 if bidirectional else 1
        for layer in range(num_layers):
            inputs = input_size if layer == 0 else (proj_size or hidden_size) * self._directions
            for direction in range(self._directions):
                rows = self._gates * hidden_size
                shapes = [("weight_ih", (rows, inputs)), ("weight_hh", (rows, proj_size or hidden_size))]
                if bias:
                    shapes += [("bias_ih", (rows,)), ("bias_hh", (rows,))]
                if proj_size:
                    shapes.append(("weight_hr", (proj_size, hidden_size)))
                for name, shape in shapes:
                    setattr(self, self._name(name, layer, direction), Parameter(_C.full(shape, 0.0, dtype)))
        self.reset_parameters()

    def _name(self, name, layer, direction):
        return f"{name}_l{layer}" + ("_reverse" if direction else "")

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self):
        pass

    @property
    def all_weights(self):
        names = ["weight_ih", "weight_hh"] + (["bias_ih", "bias_hh"] if self.bias else []) + (["weight_hr"] if self.proj_size else [])
        return [[getattr(self, self._name(n, k, d)) for n in names] for k in range(self.num_layers) for d in range(self._directions)]

    def _layer(self, x, weights, states, reverse, inside=None):
        """A layer in one direction over x [T, N, I]: its output and its last states. Where `inside`, [T, N, 1], is false, a state of
        its own beside the output, as an LSTM's, is held."""
        raise NotImplementedError

    def _both(self, layer, x, states):
        """A layer in its directions over x [T, N, I] from its states [D, N, H]: the output, and lists of the last states."""
        outputs, last = [], [[] for _ in states]
        for direction in range(self._directions):
            weights = self.all_weights[layer * self._directions + direction]
            output, ends = self._layer(x, weights, [s[direction] for s in states], direction == 1)
            outputs.append(output)
            for kept, end in zip(last, ends):
                kept.append(end)
        return outputs[0] if len(outputs) == 1 else _ops["cat"](outputs, -1), last

    def _of_layer(self, states, layer):
        return [s[layer * self._directions:(layer + 1) * self._directions] for s in states]

    def _whole(self, x, states):
        """All layers over x [T, N, I] from states [L * D, N, H]: the output and the last states."""
        last = [[] for _ in states]
        for layer in range(self.num_layers):
            if layer > 0 and self.dropout > 0:
                x = F.dropout(x, self.dropout, self.training)
            x, ends = self._both(layer, x, self._of_layer(states, layer))
            for kept, end in zip(last, ends):
                kept += end
        return x, [_ops["stack"](kept) for kept in last]

    def _packed(self, packed, states):
        """All steps of all sequences at once, each sequence's states held behind its end; backwards each begins at its own. Dropout is drawn
        for the elements that there are."""
        x, sizes = packed._padded()
        lengths, (steps, width) = lengths_of(sizes), x.shape[:2]
        inside = valid(sizes, lengths, 3) if min(lengths) < steps else None
        if inside is not None:
            x = _ops["where"](inside, x, _C.full((), 0.0, x.dtype))
        ends = _C.tensor([(n - 1) * width + i for i, n in enumerate(lengths)], _C.int64)
        if self.bidirectional:
            turned = _C.tensor([((n - 1 - t) if t < n else t) * width + i for t in range(steps) for i, n in enumerate(lengths)], _C.int64)

        def turn(rows):
            return rows.index_select(0, turned).reshape([steps, width, rows.shape[-1]])

        last = [[] for _ in states]
        for layer in range(self.num_layers):
            if layer > 0 and self.dropout > 0 and self.training:
                data = PackedSequence(None, packed.batch_sizes)._of(x, sizes).data
                x = PackedSequence(F.dropout(data, self.dropout, True), packed.batch_sizes)._padded()[0]
            outputs = []
            for direction in range(self._directions):
                at = layer * self._directions + direction
                own = turn(x.flatten(0, 1)) if direction else x
                output, held = self._layer(own, self.all_weights[at], [s[at] for s in states], False, inside)
                rows = output.flatten(0, 1)
                for kept, end in zip(last, [rows.index_select(0, ends), *held[1:]]):
                    kept.append(end)
                outputs.append(turn(rows) if direction else output)
            x = outputs[0] if len(outputs) == 1 else _ops["cat"](outputs, -1)
        made = PackedSequence(None, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)._of(x, sizes)
        return made, [_ops["stack"](kept) for kept in last]

    def _steps(self, gates, states, reverse, run):
        """All steps of a layer in one direction over gates [T, N, G]: its output and its last states. `run(gates, states)` gives the output
        of some steps, the states after them, and more."""
        pieces, count = _pieces(self.mode, gates.shape[0], self.hidden_size, gates.shape[1]), len(states)
        if len(pieces) < 2:
            output, *states = run(gates, states)
            return output, states[:count]
        outputs, start, end = [], 0, gates.shape[0]
        for piece in pieces:
            part = gates[end - piece:end] if reverse else gates[start:start + piece]
            start, end = start + piece, end - piece
            output, *states = run(part, states[:count])
            outputs.append(output)
        return _ops["cat"](outputs[::-1] if reverse else outputs, 0), states[:count]

    # What holds a cell's state, for each gate.
    _hold = (-1e4,)

    def _held(self, gates, inside):
        """The gates, and where a sequence is over those that change nothing."""
        if inside is None:
            return gates
        hold = _ops["repeat_interleave"](_C.tensor(list(self._hold), gates.dtype), self.hidden_size)
        return _ops["where"](inside, gates, hold)

    def _run(self, input, states, count):
        packed = isinstance(input, PackedSequence)
        if packed:
            x, batched = input, True
            size = int(input.batch_sizes[0])
        else:
            if input.dim() not in (2, 3):
                raise ValueError(f"{self.mode.split('_')[0]}: Expected input to be 2D or 3D, got {input.dim()}D "
                                 f"{'tensor ' if self._gates == 1 else ''}instead")
            batched = input.dim() == 3
            wrong = [s.dim() for s in states or () if s.dim() != input.dim()]
            if wrong:
                hx, got = ("hx", f"{wrong[0]}-D tensor") if count == 1 else (
                    "hx and cx", f"({states[0].dim()}-D, {states[1].dim()}-D) tensors")
                raise RuntimeError(f"For {'' if batched else 'un'}batched {input.dim()}-D input, {hx} should also be {input.dim()}-D but got {got}")
            x = input if batched else input.unsqueeze(1)
            x = x.transpose(0, 1) if batched and self.batch_first else x
            size = x.shape[1]
        like, kind = input.data if packed else input, self.weight_ih_l0.dtype
        if like.dtype != kind and not any([region._enabled for region in autocast._open]):
            raise ValueError(f"RNN input dtype ({like.dtype}) does not match weight dtype ({kind}). Convert input: input.to({kind}), or "
                             f"convert model: model.to({like.dtype})")
        if like.shape[-1] != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {like.shape[-1]}")
        rows = self.num_layers * self._directions
        sizes = [(rows, size, self.proj_size or self.hidden_size), (rows, size, self.hidden_size)]
        if states is None:
            states = [_C.full(want, 0.0, like.dtype) for want in sizes[:count]]
        elif not batched:
            states = [s.unsqueeze(1) for s in states]
        for i, (s, want) in enumerate(zip(states, sizes)):
            if tuple(s.shape) != want:
                raise RuntimeError(f"Expected hidden{f'[{i}]' if count == 2 else ''} size {want}, got {list(s.shape)}")
        if packed and input.sorted_indices is not None:
            states = [s.index_select(1, input.sorted_indices) for s in states]
        output, last = self._packed(x, states) if packed else self._whole(x, states)
        if packed:
            if input.unsorted_indices is not None:
                last = [s.index_select(1, input.unsorted_indices) for s in last]
        elif not batched:
            output, last = output.squeeze(1), [s.squeeze(1) for s in last]
        elif self.batch_first:
            output = output.transpose(0, 1)
        return output, last

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text


class RNN(RNNBase):
    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, device=None, dtype=None):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self._kind = nonlinearity
        super().__init__("RNN_" + nonlinearity.upper(), input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
                         device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def _layer(self, x, weights, states, reverse, inside=None):
        gates = self._held(F.linear(x, weights[0], weights[2] + weights[3] if self.bias else None), inside)
        rnn = _ops["rnn"]
        return self._steps(gates, states, reverse, lambda gates, states: rnn(
            gates, weights[1], states[0], reverse=reverse, nonlinearity=self.nonlinearity))

    def forward(self, input, hx=None):
        output, (last,) = self._run(input, None if hx is None else [hx], 1)
        return output, last


class LSTM(RNNBase):
    _gates, _hold = 4, (-1e4, 1e4, 0.0, -1e4)

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
                 proj_size=0, device=None, dtype=None):
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype)

    def _layer(self, x, weights, states, reverse, inside=None):
        gates = self._held(F.linear(x, weights[0], weights[2] + weights[3] if self.bias else None), inside)
        if self.proj_size:
            return self._projected(gates, weights[1], weights[-1], states, reverse)
        return self._steps(gates, states, reverse, lambda gates, states: _ops["lstm"](gates, weights[1], *states, reverse=reverse))

    def _projected(self, gates, recurrent, project, states, reverse):
        """Sak et al., 2014: the next step sees a projection of the output. Step by step: there is no operator of it."""
        (h, c), outputs = states, []
        steps = _ops["unbind"](gates, 0)
        for g in steps[::-1] if reverse else steps:
            i, f, new, o = _ops["chunk"](g + F.linear(h, recurrent), 4, -1)
            c = f.sigmoid() * c + i.sigmoid() * new.tanh()
            h = F.linear(o.sigmoid() * c.tanh(), project)
            outputs.append(h)
        return _ops["stack"](outputs[::-1] if reverse else outputs), [h, c]

    def forward(self, input, hx=None):
        output, (h, c) = self._run(input, None if hx is None else list(hx), 2)
        return output, (h, c)


class GRU(RNNBase):
    _gates, _hold = 3, (0.0, 1e4, 0.0)

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
                 device=None, dtype=None):
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device=device, dtype=dtype)

    def _layer(self, x, weights, states, reverse, inside=None):
        gates = self._held(F.linear(x, weights[0], weights[2] if self.bias else None), inside)
        bias = weights[3] if self.bias else None
        return self._steps(gates, states, reverse, lambda gates, states: _ops["gru"](gates, weights[1], bias, states[0], reverse=reverse))

    def forward(self, input, hx=None):
        output, (last,) = self._run(input, None if hx is None else [hx], 1)
        return output, last


class RNNCellBase(Module):
    _gates = 1

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__()
        dtype = _parameters(device, dtype)
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = self._gates * hidden_size
        self.weight_ih = Parameter(_C.full((rows, input_size), 0.0, dtype))
        self.weight_hh = Parameter(_C.full((rows, hidden_size), 0.0, dtype))
        if bias:
            self.bias_ih = Parameter(_C.full((rows,), 0.0, dtype))
            self.bias_hh = Parameter(_C.full((rows,), 0.0, dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _start(self, input, states, count):
        if input.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for i, s in enumerate(states or ()):
            if s.dim() not in (1, 2):
                raise ValueError(f"{type(self).__name__}: Expected {'hidden' if count == 1 else f'hx[{i}]'} to be 1D or 2D, got {s.dim()}D instead")
        batched = input.dim() == 2
        x = input if batched else input.unsqueeze(0)
        if x.shape[1] != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {x.shape[1]} expected {self.input_size}")
        if states is None:
            return batched, x, [_C.full((x.shape[0], self.hidden_size), 0.0, x.dtype)] * count
        states = list(states) if batched else [s.unsqueeze(0) for s in states]
        for i, s in enumerate(states):
            if s.shape[0] != x.shape[0]:
                raise RuntimeError(f"Input batch size {x.shape[0]} doesn't match hidden{i} batch size {s.shape[0]}")
            if s.shape[1] != self.hidden_size:
                raise RuntimeError(f"hidden{i} has inconsistent hidden_size: got {s.shape[1]}, expected {self.hidden_size}")
        return batched, x, states

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias is True else text + f", bias={self.bias}"


class RNNCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        batched, x, (h,) = self._start(input, None if hx is None else [hx], 1)
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        made = _ops[self.nonlinearity](F.linear(x, self.weight_ih, self.bias_ih) + F.linear(h, self.weight_hh, self.bias_hh))
        return made if batched else made.squeeze(0)

    def extra_repr(self):
        text = super().extra_repr()
        return text if self.nonlinearity == "tanh" else text + f", nonlinearity={self.nonlinearity}"


class LSTMCell(RNNCellBase):
    _gates = 4

    def forward(self, input, hx=None):
        batched, x, (h, c) = self._start(input, hx, 2)
        h, c = _ops["lstm_cell"](x, h, c, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    _gates = 3

    def forward(self, input, hx=None):
        batched, x, (h,) = self._start(input, None if hx is None else [hx], 1)
        made = _ops["gru_cell"](x, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return made if batched else made.squeeze(0)
