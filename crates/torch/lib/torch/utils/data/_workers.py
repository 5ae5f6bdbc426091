"""A loader's workers, played in the script's own process: each has the random numbers that PyTorch's process has."""

import collections
import copy
import itertools
import random
import sys
from torch import _C

_END = object()
_present = None


class WorkerInfo:
    def __init__(self, **values):
        self.__dict__.update(values)

    def __repr__(self):
        return f"WorkerInfo({', '.join(f'{k}={v}' for k, v in self.__dict__.items())})"


class _Worker:
    def __init__(self, loader, base, number):
        seed = base + number
        self.info = WorkerInfo(id=number, num_workers=loader.num_workers, seed=seed, dataset=copy.copy(loader.dataset))
        self._torch, self._random, self._numpy = _C.generator(), random.Random(seed).getstate(), None
        self._torch.manual_seed(seed)
        if "numpy" in sys.modules:
            from numpy import _numpy
            self._numpy = _numpy.state(_numpy.seed_words([number, base & 0xffffffff, base >> 32, 0]))
        if loader.worker_init_fn is not None:
            with self:
                loader.worker_init_fn(number)

    def _swap(self):
        _C.swap_generator(self._torch)
        state = random.getstate()
        random.setstate(self._random)
        self._random = state
        if self._numpy is not None:
            from numpy.random import _global
            _global._state, self._numpy = self._numpy, _global._state

    def __enter__(self):
        global _present
        self._swap()
        _present = self.info

    def __exit__(self, *error):
        global _present
        self._swap()
        _present = None

    def rest(self, loader):
        """The next batch of a stream, or `_END`."""
        with self:
            if loader.batch_size is None:
                item = next(self.stream, _END)
                return item if item is _END else loader.collate_fn(item)
            batch = list(itertools.islice(self.stream, loader.batch_size))
            if not batch or loader.drop_last and len(batch) < loader.batch_size:
                return _END
            return loader.collate_fn(batch)


def start(loader):
    """An epoch's batches, of one worker after the other. Indices are drawn ahead, as for processes."""
    workers = loader._workers
    if workers is None:
        base = _C.random64(loader.generator)
        workers = [_Worker(loader, base, i) for i in range(loader.num_workers)]
        loader._workers = workers if loader.persistent_workers else None
    if loader._iterable:
        return _streams(loader, workers)
    indices = iter(loader.sampler if loader.batch_sampler is None else loader.batch_sampler)
    ahead = collections.deque(itertools.islice(indices, len(workers) * (loader.prefetch_factor or 2)))
    return _samples(loader, workers, indices, ahead)


def _streams(loader, workers):
    for worker in workers:
        with worker:
            worker.stream = iter(worker.info.dataset)
    while workers:
        still = []
        for worker in workers:
            batch = worker.rest(loader)
            if batch is not _END:
                still.append(worker)
                yield batch
        workers = still


def _samples(loader, workers, indices, ahead):
    for worker in itertools.cycle(workers):
        if not ahead:
            return
        index = ahead.popleft()
        ahead.extend(itertools.islice(indices, 1))
        with worker:
            dataset = worker.info.dataset
            made = loader.collate_fn(dataset[index] if loader.batch_sampler is None else [dataset[i] for i in index])
        yield made
