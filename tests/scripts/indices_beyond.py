"""Indices beyond the size that they index are refused where the operator is called, also when views and arithmetic lie between."""

import torch
import torch.nn.functional as F
from torch import nn


def attempt(name, call):
    try:
        print(name, call())
    except (IndexError, RuntimeError, ValueError, OverflowError) as error:
        print(name, type(error).__name__, str(error).split("\n")[0])


x = torch.ones(3)
i = torch.tensor([7])
pairs = torch.tensor([[7, 1], [0, 2]])


def put(key):
    y = x.clone()
    y[key] = 2.0
    return y


attempt("index", lambda: x[i])
attempt("index of a view", lambda: x[pairs.reshape(-1)])
attempt("index of a sum", lambda: x[pairs + 1])
attempt("index within", lambda: x[pairs[1:].reshape(-1)])
attempt("index of negatives", lambda: x[-pairs])
attempt("index of joined", lambda: x[torch.cat([pairs[1], i])])
attempt("index of masked", lambda: x[torch.where(pairs > 2, 0, pairs)])
attempt("index of clamped", lambda: x[pairs.clamp(max=2)])
attempt("write", lambda: put(i.reshape(1)))
attempt("write a table", lambda: put(pairs.t()))
attempt("index_put", lambda: x.index_put((pairs.view(-1),), torch.ones(4)))
attempt("take", lambda: x.take(pairs))
attempt("put", lambda: x.put(pairs, torch.ones(2, 2)))
attempt("index_select", lambda: x.index_select(0, i.view(1)))
attempt("index_add", lambda: x.index_add(0, i.view(1), torch.ones(1)))
attempt("index_copy", lambda: x.index_copy(0, i, torch.ones(1)))
attempt("index_fill", lambda: x.index_fill(0, i, 1.0))
attempt("gather", lambda: x.gather(0, i.flatten()))
attempt("scatter", lambda: x.scatter(0, i * 1, 1.0))
attempt("scatter_add", lambda: x.scatter_add(0, i, torch.ones(1)))
attempt("scatter_reduce", lambda: x.scatter_reduce(0, i, torch.ones(1), "sum"))
attempt("embedding", lambda: F.embedding(pairs[:, :1], torch.ones(3, 2)))
attempt("embedding within", lambda: F.embedding(pairs[:, 1:], torch.ones(3, 2)))
attempt("embedding_bag", lambda: F.embedding_bag(pairs[:1] * 1, torch.ones(3, 2)))
attempt("nll_loss", lambda: F.nll_loss(torch.ones(4, 3), pairs.view(-1)))
attempt("cross_entropy", lambda: F.cross_entropy(torch.ones(2, 3), pairs[:, 1]))
attempt("cross_entropy ignores", lambda: F.cross_entropy(torch.ones(4, 3), pairs.view(-1), ignore_index=7))
attempt("one_hot", lambda: F.one_hot(pairs.view(-1), 3))
attempt("max_unpool1d", lambda: F.max_unpool1d(torch.ones(1, 1, 2), torch.tensor([[[0, 9]]]), 2))
attempt("masked_scatter", lambda: x.masked_scatter(x > 0, torch.ones(1)))
attempt("as_strided beyond", lambda: torch.as_strided(x, (2, 2), (2, 1)))
attempt("as_strided backward", lambda: torch.as_strided(x, (2,), (-1,)))
attempt("as_strided within", lambda: torch.as_strided(x, (2, 2), (1, 1)))
attempt("vmap", lambda: torch.vmap(lambda v: v)(torch.tensor(1.0)))

# A batch that is wrong after some right ones, in a loop that is repeated by then.
torch.manual_seed(0)
table = nn.Embedding(10, 4)
head = nn.Linear(4, 10)
optimizer = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
batches = [torch.randint(0, 10, (8, 6)) for _ in range(30)]
batches[25][3, 2] = 10
total = 0.0
try:
    for step, batch in enumerate(batches):
        logits = head(table(batch[:, :-1]))
        loss = F.cross_entropy(logits.reshape(-1, 10), batch[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
except IndexError as error:
    print("step", step, type(error).__name__, error)
print(f"{total:.4f}")
