"""torch.nn.utils.prune: parameters as `NAME_orig * NAME_mask`, put together before each call."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from numbers import Integral, Real
import torch


class BasePruningMethod(ABC):
    """What decides the mask; it is the hook that puts the parameter together."""

    _tensor_name = None

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        pass

    def apply_mask(self, module):
        assert self._tensor_name is not None, f"Module {module} has to be pruned"
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        old = _hooks_of(module, name)
        for key, _ in old:
            del module._forward_pre_hooks[key]
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if old:
            container = old[0][1] if isinstance(old[0][1], PruningContainer) else PruningContainer(old[0][1])
            container.add_pruning_method(method)
            method = container
        original = getattr(module, name)
        _same_shape(importance_scores, original, f"parameter                     {name} of {module}")
        if old:
            mask = getattr(module, name + "_mask").detach().clone()
        else:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            mask = torch.ones_like(original.detach())
        try:
            with torch.no_grad():
                mask = method.compute_mask(original if importance_scores is None else importance_scores, default_mask=mask)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if not old:
                module.register_parameter(name, module._parameters.pop(name + "_orig"))
            raise
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        _same_shape(importance_scores, t, "tensor t")
        return t * self.compute_mask(t if importance_scores is None else importance_scores,
                                     default_mask=torch.ones_like(t) if default_mask is None else default_mask)

    def remove(self, module):
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _same_shape(scores, t, what):
    assert scores is None or scores.shape == t.shape, f"importance_scores should have the same shape as {what}"


class PruningContainer(BasePruningMethod):
    """Methods on one parameter, of which each sees what the last ones kept."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}."
                             f" Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        method, mask = self._pruning_methods[-1], default_mask.to(t.dtype)
        if method.PRUNING_TYPE == "global":
            kept = (slice(None),) * t.dim()
        elif method.PRUNING_TYPE == "unstructured":
            kept = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
            dim = method.dim + t.dim() if method.dim < 0 else method.dim
            if dim < 0:
                raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
            kept = (slice(None),) * dim + (default_mask.sum([d for d in range(t.dim()) if d != dim]) != 0,)
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask = mask.clone()
        mask[kept] = method.compute_mask(t[kept], default_mask=mask[kept]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask


class CustomFromMask(BasePruningMethod):
    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        assert default_mask.shape == self.mask.shape
        return default_mask * self.mask.to(default_mask.dtype)


def _validate_pruning_amount_init(amount):
    if not isinstance(amount, Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or not isinstance(amount, Integral) and amount > 1.0:
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount, tensor_size):
    if isinstance(amount, Integral) and amount > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _compute_nparams_toprune(amount, tensor_size):
    return amount if isinstance(amount, Integral) else round(amount * tensor_size)


def _compute_norm(t, n, dim):
    return torch.norm(t, p=n, dim=[d for d in range(t.dim()) if d != dim % t.dim()])


class _ByAmount(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _count(self, n):
        count = _compute_nparams_toprune(self.amount, n)
        _validate_pruning_amount(count, n)
        return count

    def compute_mask(self, t, default_mask):
        count = self._count(t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[self._places(t.reshape(-1), count)] = 0
        return mask


class L1Unstructured(_ByAmount):
    def _places(self, t, count):
        return torch.topk(t.abs(), count, largest=False).indices


class RandomUnstructured(_ByAmount):
    def _places(self, t, count):
        return torch.topk(torch.rand_like(t), count).indices


class LnStructured(_ByAmount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount)
        self.n, self.dim = n, dim

    def _scores(self, t):
        return _compute_norm(t, self.n, self.dim)

    def compute_mask(self, t, default_mask):
        if t.dim() <= 1:
            raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                             f"{t.shape} with {t.dim()} dims")
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = self._count(size)
        if not count:
            return default_mask
        mask = torch.zeros_like(t).index_fill(self.dim, torch.topk(self._scores(t), size - count).indices, 1.0)
        return mask * default_mask.to(mask.dtype)


class RandomStructured(LnStructured):
    def __init__(self, amount, dim=-1):
        super().__init__(amount, None, dim)

    def _scores(self, t):
        return torch.rand(t.shape[self.dim])


def _hooks_of(module, name):
    return [(k, hook) for k, hook in module._forward_pre_hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]


def _applied(cls):
    def prune(module, name, *args, **kwargs):
        cls.apply(module, name, *args, **kwargs)
        return module
    return prune


identity, random_unstructured, l1_unstructured = _applied(Identity), _applied(RandomUnstructured), _applied(L1Unstructured)
random_structured, custom_from_mask, ln_structured = _applied(RandomStructured), _applied(CustomFromMask), _applied(LnStructured)


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    flat = torch.cat([scores.get((m, n), getattr(m, n)).detach().reshape(-1) for m, n in parameters])
    masks = torch.cat([getattr(m, n + "_mask", torch.ones_like(getattr(m, n).detach())).reshape(-1) for m, n in parameters])
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
                        f"{pruning_method} of type {method.PRUNING_TYPE}")
    final = PruningContainer(method).compute_mask(flat, masks)
    for (module, name), part in zip(parameters, final.split([getattr(m, n).numel() for m, n in parameters])):
        custom_from_mask(module, name, mask=part.view_as(getattr(module, name)))


def remove(module, name):
    for key, hook in _hooks_of(module, name):
        hook.remove(module)
        del module._forward_pre_hooks[key]
        return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module):
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values())
