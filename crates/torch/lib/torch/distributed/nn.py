"""torch.distributed.nn: exchanges between ranks through which gradients flow."""

import torch
from torch import distributed
from torch.autograd import Function


class _AllReduce(Function):
    @staticmethod
    def forward(ctx, op, group, tensor):
        ctx.op, ctx.group = op, group
        made = tensor.clone()
        distributed.all_reduce(made, op=op, group=group)
        return made

    @staticmethod
    def backward(ctx, grad):
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


class _AllGather(Function):
    @staticmethod
    def forward(ctx, group, tensor):
        ctx.group = group
        made = [torch.empty_like(tensor) for _ in range(distributed.get_world_size(group))]
        distributed.all_gather(made, tensor.contiguous(), group=group)
        return tuple(made)

    @staticmethod
    def backward(ctx, *grads):
        return None, all_reduce(torch.stack(grads), group=ctx.group)[distributed.get_rank(ctx.group)]


def all_reduce(tensor, op=distributed.ReduceOp.SUM, group=None):
    return _AllReduce.apply(op, group, tensor)


def all_gather(tensor, group=None):
    return _AllGather.apply(group, tensor)


functional = __import__("sys").modules[__name__]
