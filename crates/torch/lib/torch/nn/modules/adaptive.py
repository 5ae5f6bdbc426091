"""The adaptive softmax (Grave et al., "Efficient softmax approximation for GPUs", 2017): rare classes in clusters of fewer features."""

from collections import namedtuple
from torch import _C
from torch.nn import functional as F
from torch.nn.modules.container import ModuleList, Sequential
from torch.nn.modules.layers import Linear
from torch.nn.modules.module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]
_ops = _C._ops
_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])
_ASMoutput.__qualname__ = _ASMoutput.__name__ = "_ASMoutput"


class AdaptiveLogSoftmaxWithLoss(Module):
    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1 or any([int(c) != c for c in cutoffs])):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is "
                             "between 1 and n_classes-1")
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, cutoffs + [n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            inner = int(in_features // div_value ** (i + 1))
            self.tail.append(Sequential(Linear(in_features, inner, bias=False, device=device, dtype=dtype),
                                        Linear(inner, high - low, bias=False, device=device, dtype=dtype)))

    def reset_parameters(self):
        for linear in [self.head] + [part for pair in self.tail for part in pair]:
            linear.reset_parameters()

    def forward(self, input_, target_):
        batched = target_.dim() > 0
        x, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        if x.shape[0] != target.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        wrong = _C.outside(target, 0, self.n_classes)
        if wrong:
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                               f"[{target.min().item()}, {target.max().item()}] were found. ")
        # Every cluster looks at every row, and rows of other clusters are left out of what it says: nothing is read.
        place, inside = target, x.new_zeros(x.shape[0])
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            mine = (target >= low) & (target < high)
            each = F.log_softmax(self.tail[i](x), 1).gather(1, (target - low).clamp(0, high - low - 1).unsqueeze(1)).squeeze(1)
            inside = _ops["where"](mine, each, inside)
            place = _ops["where"](mine, self.shortlist_size + i, place)
        output = inside + F.log_softmax(self.head(x), 1).gather(1, place.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def log_prob(self, input):
        head = F.log_softmax(self.head(input), 1)
        parts = [head[:, :self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            parts.append(F.log_softmax(tail(input), 1) + head[:, self.shortlist_size + i].unsqueeze(1))
        return _ops["cat"](parts, 1)

    def predict(self, input):
        first = self.head(input).argmax(1)
        return _ops["where"](first < self.shortlist_size, first, self.log_prob(input).argmax(1))
