"""Losses."""

from torch.nn import functional as F
from torch.nn.modules.layers import PairwiseDistance
from torch.nn.modules.module import Module

__all__ = []


class _Loss(Module):
    """What losses of one's own derive from."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.reduction = F._reduction(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


def _make(name, function, *settings, weights=()):
    """A loss that calls a function with settings by name."""

    class Loss(_WeightedLoss if weights else _Loss):
        def __init__(self, *args, **kwargs):
            Module.__init__(self)
            names = list(weights) + ["size_average"] * bool(weights) + [n for n, _ in settings]
            values = dict(zip(names, args))
            values.update(kwargs)
            for w in weights:
                self.register_buffer(w, values.pop(w, None))
            reduction = values.pop("reduction", "mean")
            average, reduce = values.pop("size_average", None), values.pop("reduce", None)
            self.reduction = F._reduction(average, reduce, reduction)
            for key, default in settings:
                setattr(self, key, values.pop(key, default))
            if name == "TripletMarginWithDistanceLoss" and self.distance_function is None:
                self.distance_function = PairwiseDistance()
            if "margin" in self.__dict__ and name.startswith("Triplet") and self.margin <= 0:
                raise ValueError(f"{name}: expected margin to be greater than 0, got {self.margin} instead")
            if name == "MultiMarginLoss" and self.p not in (1, 2):
                raise ValueError("only p == 1 and p == 2 supported")
            if name == "MultiMarginLoss" and self.weight is not None and self.weight.dim() != 1:
                raise ValueError(f"{name}: expected weight to be None or 1D tensor, got {self.weight.dim()}D instead")
            if name == "HuberLoss" and not isinstance(self.delta, (float, int)):
                raise TypeError(f"delta must be a float or int, got: {type(self.delta)}")
            if values:
                raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{list(values)[0]}'")

        def forward(self, *inputs, **named):
            given = {n: getattr(self, n) for n, _ in settings}
            given.update(named)
            for w in weights:
                given[w] = self._buffers[w]
            return function(*inputs, reduction=self.reduction, **given)

    Loss.__name__ = Loss.__qualname__ = name
    Loss.__module__ = "torch.nn"
    globals()[name] = Loss
    __all__.append(name)


_make("CrossEntropyLoss", F.cross_entropy, ("ignore_index", -100), ("label_smoothing", 0.0), weights=("weight",))
_make("NLLLoss", F.nll_loss, ("ignore_index", -100), weights=("weight",))
_make("MSELoss", F.mse_loss)
_make("L1Loss", F.l1_loss)
_make("SmoothL1Loss", F.smooth_l1_loss, ("beta", 1.0))
_make("HuberLoss", F.huber_loss, ("delta", 1.0))
_make("BCELoss", F.binary_cross_entropy, weights=("weight",))
_make("BCEWithLogitsLoss", F.binary_cross_entropy_with_logits, weights=("weight", "pos_weight"))
_make("KLDivLoss", F.kl_div, ("log_target", False))
_make("CosineEmbeddingLoss", F.cosine_embedding_loss, ("margin", 0.0))
_make("MarginRankingLoss", F.margin_ranking_loss, ("margin", 0.0))
_make("HingeEmbeddingLoss", F.hinge_embedding_loss, ("margin", 1.0))
_make("SoftMarginLoss", F.soft_margin_loss)
_make("GaussianNLLLoss", F.gaussian_nll_loss, ("full", False), ("eps", 1e-6))
_make("PoissonNLLLoss", F.poisson_nll_loss, ("log_input", True), ("full", False), ("eps", 1e-8))
_make("CTCLoss", F.ctc_loss, ("blank", 0), ("zero_infinity", False))
_make("TripletMarginLoss", F.triplet_margin_loss, ("margin", 1.0), ("p", 2.0), ("eps", 1e-6), ("swap", False))
_make("TripletMarginWithDistanceLoss", F.triplet_margin_with_distance_loss, ("distance_function", None), ("margin", 1.0), ("swap", False))
_make("MultiMarginLoss", F.multi_margin_loss, ("p", 1), ("margin", 1.0), weights=("weight",))
_make("MultiLabelMarginLoss", F.multilabel_margin_loss)
_make("MultiLabelSoftMarginLoss", F.multilabel_soft_margin_loss, weights=("weight",))
NLLLoss2d = NLLLoss
__all__.append("NLLLoss2d")
