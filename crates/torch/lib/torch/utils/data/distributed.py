"""torch.utils.data.distributed."""

from torch.utils.data import Sampler
import math
import torch


class DistributedSampler(Sampler):
    """The samples of one of several equal shares, filled up with the first ones, or cut, to equal lengths."""

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        from torch import distributed
        self.num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
        self.rank = distributed.get_rank() if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(f"Invalid rank {self.rank}, rank should be in the interval [0, {self.num_replicas - 1}]")
        self.dataset, self.epoch, self.shuffle, self.seed, self.drop_last = dataset, 0, shuffle, seed, drop_last
        n = len(dataset)
        self.num_samples = n // self.num_replicas if drop_last else math.ceil(n / self.num_replicas)
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self):
        n = len(self.dataset)
        if self.shuffle:
            order = torch.randperm(n, generator=torch.Generator().manual_seed(self.seed + self.epoch)).tolist()
        else:
            order = list(range(n))
        while len(order) < self.total_size:
            order += order[:self.total_size - len(order)]
        return iter(order[self.rank:self.total_size:self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        self.epoch = epoch
