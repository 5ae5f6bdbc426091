"""Names that are not there: what a module's `__getattr__` says of them."""

import importlib


class _Missing(NotImplementedError, AttributeError, ImportError):
    """It counts as what `hasattr` and `try: from .. import ..` ask for."""


_Missing.__name__ = _Missing.__qualname__ = "NotImplementedError"
_Missing.__module__ = "builtins"


# Names that few scripts ask for, and the modules that have them.
_RARE = {}
for _where, _names in {
    "torch torch._rare.arrangements": "bincount block_diag cartesian_prod rot90 take_along_dim",
    "torch torch._rare.decompositions": "geqrf orgqr ormqr lobpcg svd_lowrank pca_lowrank",
    "torch.linalg torch._rare.decompositions": "ldl_factor ldl_factor_ex ldl_solve",
    "torch torch._rare.histograms": "histogram histogramdd",
    "torch torch._rare.statistics": "cov corrcoef frexp gradient", "torch torch._rare.mode": "mode",
    "torch torch._rare.aten": "_chunk_cat _native_batch_norm_legit _softmax_backward_data _log_softmax_backward_data _unsafe_masked_index "
                              "_unsafe_masked_index_put_accumulate _segment_reduce grid_sampler_2d grid_sampler_3d as_strided_scatter",
    "torch torch._rare.csr": "sparse_csr_tensor", "torch.nn torch._rare.pooling": "FractionalMaxPool2d FractionalMaxPool3d",
    "torch.nn.modules.pooling torch._rare.pooling": "FractionalMaxPool2d FractionalMaxPool3d",
    "torch.linalg torch._rare.factors": "eig eigvals lstsq lu lu_factor lu_factor_ex lu_solve matrix_exp matrix_sqrth polar",
    "torch torch._rare.factors": "cholesky_inverse cholesky_solve lu_unpack",
    "torch torch._rare.natives": "fake_quantize_per_channel_affine native_batch_norm native_group_norm native_layer_norm "
                                 "nonzero_static empty_permuted",
    "torch torch._rare.operators": "ops",
    "torch.nn.functional torch._rare.functional": "embedding_bag local_response_norm channel_shuffle lp_pool1d lp_pool2d lp_pool3d pdist "
                                                  "max_unpool1d max_unpool2d max_unpool3d",
    "torch.nn.functional torch._rare.natives": "linear_cross_entropy", "torch.nn torch._rare.natives": "LinearCrossEntropyLoss",
    "torch.nn.functional torch._rare.pooling": "fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d "
                                   "fractional_max_pool3d_with_indices",
    "torch.optim.optimizer torch._rare.step_hooks": "register_optimizer_step_pre_hook register_optimizer_step_post_hook",
    "torch.optim torch.optim.lbfgs": "LBFGS", "torch torch.func": "vmap", "torch torch.fft": "istft stft",
    "torch.nn torch.nn.modules.adaptive": "AdaptiveLogSoftmaxWithLoss",
    "torch.nn torch.nn.modules.lazy": "LazyLinear LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d "
                                      "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyInstanceNorm1d LazyInstanceNorm2d "
                                      "LazyInstanceNorm3d",
    "torch.nn.parameter torch.nn.modules.lazy": "UninitializedBuffer UninitializedParameter",
    "torch.nn.utils torch.nn.utils.fusion": "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights",
    "torch torch.serialization": "load save", "torch torch.sparse": "sparse_coo_tensor spmm",
}.items():
    _module, _file = _where.split()
    _RARE.update({f"{_module}.{_name}": _file for _name in _names.split()})


def names(module, known):
    """The `__getattr__` of a module: its modules that were not imported yet, names that are rare, else an error with the nearest name."""
    def find(name):
        if name.startswith("__"):
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        rare = _RARE.get(f"{module}.{name}")
        if rare:
            return getattr(importlib.import_module(rare), name)
        try:
            return importlib.import_module(f"{module}.{name}")
        except ModuleNotFoundError:
            pass
        from torch._C import nearest
        near = nearest(name, [n for n in known if not n.startswith("_")])
        raise _Missing(f"{module}.{name} is not there" + (f"; the nearest name is {module}.{near}" if near else ""))
    return find
