"""Normalisation."""

from torch import _C, _parameters
from torch.nn import functional as F
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm", "RMSNorm", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d",
           "LocalResponseNorm", "CrossMapLRN2d", "SyncBatchNorm"]


def _full(n, value, dtype):
    return _C.full(n if isinstance(n, (tuple, list)) else (n,), value, dtype)


class _Affine(Module):
    def reset_parameters(self):
        for name, value in (("weight", 1.0), ("bias", 0.0)):
            if self._parameters.get(name) is not None:
                self._parameters[name].detach().fill_(value)


class _NormBase(_Affine):
    _ranks = (2, 3)
    _version = 2

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *others):
        # Old files have no count of batches.
        if (local_metadata.get("version") or 0) < 2 and self.track_running_stats:
            state_dict.setdefault(prefix + "num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *others)

    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        dtype = _parameters(device, dtype)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = Parameter(_full(num_features, 1.0, dtype))
        else:
            self.register_parameter("weight", None)
        if affine and bias:
            self.bias = Parameter(_full(num_features, 0.0, dtype))
        else:
            self.register_parameter("bias", None)
        self.register_buffer("running_mean", _full(num_features, 0.0, dtype) if track_running_stats else None)
        self.register_buffer("running_var", _full(num_features, 1.0, dtype) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", _C.tensor(0) if track_running_stats else None)

    def forward(self, input):
        if input.dim() not in self._ranks:
            wanted = "D or ".join([str(r) for r in self._ranks])
            raise ValueError(f"expected {wanted}D input (got {input.dim()}D input)")
        training = self.training or self.running_mean is None
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self._buffers["num_batches_tracked"] = self.num_batches_tracked + 1
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        return F.batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias, training, momentum, self.eps)

    def reset_running_stats(self):
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        self.reset_running_stats()
        super().reset_parameters()

    def extra_repr(self):
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")


class _BatchNorm(_NormBase):
    pass


class BatchNorm1d(_BatchNorm):
    pass


class BatchNorm2d(_BatchNorm):
    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Statistics over all processes: those of one, or of one in evaluation."""

    _ranks = (2, 3, 4, 5)

    def forward(self, input):
        # Who has not imported it is alone.
        import sys
        distributed = sys.modules.get("torch.distributed")
        if self.training and distributed is not None and distributed.is_initialized() and distributed.get_world_size() > 1:
            raise NotImplementedError("SyncBatchNorm over several processes: use BatchNorm, whose statistics are of this one")
        return super().forward(input)

    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, process_group=None, device=None,
                 dtype=None, *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        made = module
        if isinstance(module, _BatchNorm) and not isinstance(module, SyncBatchNorm):
            made = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats)
            made.training = module.training
            for name in module._parameters:
                made._parameters[name] = module._parameters[name]
            for name in module._buffers:
                made._buffers[name] = module._buffers[name]
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class LayerNorm(_Affine):
    def __init__(self, normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        dtype = _parameters(device, dtype)
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(_full(self.normalized_shape, 1.0, dtype))
        else:
            self.register_parameter("weight", None)
        if elementwise_affine and bias:
            self.bias = Parameter(_full(self.normalized_shape, 0.0, dtype))
        else:
            self.register_parameter("bias", None)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        text = f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        return text + f", bias={self.bias is not None}"


class RMSNorm(_Affine):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        dtype = _parameters(device, dtype)
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(_full(self.normalized_shape, 1.0, dtype))
        else:
            self.register_parameter("weight", None)

    def forward(self, input):
        return F.rms_norm(input, self.normalized_shape, self.weight, eps=self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Affine):
    def __init__(self, num_groups, num_channels, eps=1e-05, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        dtype = _parameters(device, dtype)
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        if affine:
            self.weight = Parameter(_full(num_channels, 1.0, dtype))
        else:
            self.register_parameter("weight", None)
        if affine and bias:
            self.bias = Parameter(_full(num_channels, 0.0, dtype))
        else:
            self.register_parameter("bias", None)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, eps=self.eps)

    def extra_repr(self):
        text = f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"
        return text + f", bias={self.bias is not None}"


class _InstanceNorm(_NormBase):
    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None, *,
                 bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input):
        if input.dim() not in self._ranks:
            wanted = "D or ".join([str(r) for r in self._ranks])
            raise ValueError(f"expected {wanted}D input (got {input.dim()}D input)")
        x = input if input.dim() == self._ranks[-1] else input.unsqueeze(0)
        if x.shape[1] != self.num_features and (self.affine or self.track_running_stats):
            raise ValueError(f"expected input's size at dim={input.dim() - x.dim() + 1} to match num_features ({self.num_features}), "
                             f"but got: {x.shape[1]}.")
        if self.track_running_stats and not self.training:
            made = F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps)
        else:
            if self.track_running_stats:
                self._track(x.detach())
            made = F.instance_norm(x, None, None, self.weight, self.bias, eps=self.eps)
        return made if x is input else made.squeeze(0)

    def _track(self, x):
        """Means over the batch of each sample's mean and variance."""
        dims = list(range(2, x.dim()))
        mean, var = x.mean(dims).mean(0), x.var(dims).mean(0)
        share = self.momentum
        self.running_mean.copy_(self.running_mean * (1 - share) + mean * share)
        self.running_var.copy_(self.running_var * (1 - share) + var * share)


class InstanceNorm1d(_InstanceNorm):
    pass


class InstanceNorm2d(_InstanceNorm):
    _ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    _ranks = (4, 5)


class LocalResponseNorm(Module):
    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    def __init__(self, size, alpha=1e-4, beta=0.75, k=1):
        super().__init__(size, alpha, beta, k)
