"""A normalisation by running statistics, multiplied into the layer before it."""

import copy
import torch


def _folded(weight, bias, mean, var, eps, scale, shift, channel):
    mean = torch.zeros_like(mean) if mean is None else mean
    bias = torch.zeros_like(mean) if bias is None else bias
    scale = torch.ones_like(mean) if scale is None else scale
    shift = torch.zeros_like(mean) if shift is None else shift
    factor = scale * torch.rsqrt(var + eps)
    shape = [1] * weight.dim()
    shape[channel] = -1
    make = torch.nn.Parameter
    return make((weight * factor.reshape(shape)).detach()), make(((bias - mean) * factor + shift).detach())


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    return _folded(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    return _folded(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def fuse_conv_bn_eval(conv, bn, transpose=False):
    if conv.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    made = copy.deepcopy(conv)
    made.weight, made.bias = fuse_conv_bn_weights(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose)
    return made


def fuse_linear_bn_eval(linear, bn):
    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    made = copy.deepcopy(linear)
    made.weight, made.bias = fuse_linear_bn_weights(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    return made
