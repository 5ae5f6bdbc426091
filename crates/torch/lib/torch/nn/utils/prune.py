"""torch.nn.utils.prune: parameters as `NAME_orig * NAME_mask`, put together before each call."""

from torch import _C
from torch._C import Tensor
from torch.nn.parameter import Parameter
import torch


class BasePruningMethod:
    """What decides the mask. Several on one parameter follow each other: each sees what the last ones kept."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        raise NotImplementedError

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    def apply_mask(self, module):
        mask = getattr(module, self._tensor_name + "_mask")
        return mask.to(getattr(module, self._tensor_name + "_orig").dtype) * getattr(module, self._tensor_name + "_orig")

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        method = cls(*args, **kwargs)
        method._tensor_name = name
        tensor = getattr(module, name)
        scores = tensor if importance_scores is None else importance_scores
        if scores.shape != tensor.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter                     {name} of {module}")
        old = _hooks_of(module, name)
        if old:
            mask = getattr(module, name + "_mask")
            for key, hook in old:
                del module._forward_pre_hooks[key]
        else:
            original = module._parameters[name]
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            mask = torch.ones_like(original.detach())
            module.register_buffer(name + "_mask", mask)
        with torch.no_grad():
            module.register_buffer(name + "_mask", method._narrowed(scores.detach(), mask))
        methods = [m for _, hook in old for m in getattr(hook, "_methods", [hook])] + [method]
        method._methods = methods
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def _narrowed(self, t, mask):
        """The mask that is left: a method that prunes elements or slices counts those that are still there."""
        if self.PRUNING_TYPE == "global":
            return self.compute_mask(t, mask)
        if self.PRUNING_TYPE == "unstructured":
            kept = mask == 1
        else:
            dim = self.dim % t.dim()
            others = [d for d in range(t.dim()) if d != dim]
            kept = mask.sum(others) != 0
            if not kept.all().item():
                places = kept.nonzero().reshape(-1)
                part = self.compute_mask(t.index_select(dim, places), mask.index_select(dim, places))
                return mask.index_copy(dim, places, part)
            return self.compute_mask(t, mask)
        made = mask.clone()
        made[kept] = self.compute_mask(t[kept], mask[kept])
        return made

    def prune(self, t, default_mask=None, importance_scores=None):
        scores = t if importance_scores is None else importance_scores
        return t * self._narrowed(scores, torch.ones_like(t) if default_mask is None else default_mask)

    def remove(self, module):
        name = self._tensor_name
        weight = self.apply_mask(module).detach()
        original = module._parameters.pop(name + "_orig")
        original.data = weight
        del module._buffers[name + "_mask"]
        module.__dict__.pop(name, None)
        module.register_parameter(name, original)


class Identity(BasePruningMethod):
    def compute_mask(self, t, default_mask):
        return default_mask


class CustomFromMask(BasePruningMethod):
    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        return default_mask * self.mask.to(default_mask.dtype)


def _count(amount, n):
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if isinstance(amount, int) and amount < 0 or isinstance(amount, float) and not 0.0 <= amount <= 1.0:
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
    count = amount if isinstance(amount, int) else round(amount * n)
    if isinstance(amount, int) and count > n:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={n}")
    return count


class _ByAmount(BasePruningMethod):
    def __init__(self, amount):
        _count(amount, 1 << 62)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count = _count(self.amount, t.numel())
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


class LnStructured(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def __init__(self, amount, n, dim=-1):
        self.amount, self.n, self.dim = amount, n, dim

    def _scores(self, t):
        return torch.norm(t, p=self.n, dim=[d for d in range(t.dim()) if d != self.dim % t.dim()])

    def compute_mask(self, t, default_mask):
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if not count:
            return default_mask
        kept = torch.topk(self._scores(t), size - count, largest=True).indices
        mask = torch.zeros_like(t)
        index = [slice(None)] * t.dim()
        index[self.dim] = kept
        mask[tuple(index)] = 1.0
        return mask * default_mask


class RandomStructured(LnStructured):
    def __init__(self, amount, dim=-1):
        self.amount, self.dim = amount, dim

    def _scores(self, t):
        return torch.rand(t.shape[self.dim])


def _hooks_of(module, name):
    return [(k, hook) for k, (hook, _) in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]


def _applied(cls):
    def prune(module, name, *args, **kwargs):
        cls.apply(module, name, *args, **kwargs)
        return module
    return prune


identity, random_unstructured, l1_unstructured = _applied(Identity), _applied(RandomUnstructured), _applied(L1Unstructured)
random_structured, custom_from_mask = _applied(RandomStructured), _applied(CustomFromMask)


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    scores = importance_scores or {}
    flat = torch.cat([scores.get((m, n), getattr(m, n)).detach().reshape(-1) for m, n in parameters])
    masks = torch.cat([getattr(m, n + "_mask", torch.ones_like(getattr(m, n).detach())).reshape(-1) for m, n in parameters])
    final = pruning_method(**kwargs)._narrowed(flat, masks)
    at = 0
    for module, name in parameters:
        p = getattr(module, name)
        custom_from_mask(module, name, mask=final[at:at + p.numel()].reshape(p.shape))
        at += p.numel()


def remove(module, name):
    found = _hooks_of(module, name)
    if not found:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    for key, hook in found:
        del module._forward_pre_hooks[key]
    found[-1][1].remove(module)
    return module


def is_pruned(module):
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook, _ in m._forward_pre_hooks.values())
