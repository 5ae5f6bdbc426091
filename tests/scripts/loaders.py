import torch
from torch.utils.data import (BatchSampler, ConcatDataset, DataLoader, Dataset, IterableDataset, RandomSampler, SequentialSampler, Subset,
                              SubsetRandomSampler, TensorDataset, WeightedRandomSampler, random_split)

torch.manual_seed(0)


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return {"x": torch.tensor([float(i)]), "y": i * i, "name": f"item{i}", "pair": (i, float(i))}


class Stream(IterableDataset):
    def __iter__(self):
        yield from (torch.tensor(i) for i in range(5))


for batch in DataLoader(Squares(5), batch_size=2):
    print(batch)
print([b["y"].tolist() for b in DataLoader(Squares(6), batch_size=4, shuffle=True, drop_last=True)])
print([b.tolist() for b in DataLoader(Stream(), batch_size=2)])


def collate(rows):
    longest = max(len(r) for r in rows)
    return torch.stack([torch.cat([r, r.new_zeros(longest - len(r))]) for r in rows]), torch.tensor([len(r) for r in rows])


ragged = [torch.arange(n) for n in (3, 1, 4, 2)]
for padded, lengths in DataLoader(ragged, batch_size=2, collate_fn=collate):
    print(padded, lengths)
parts = random_split(range(10), [6, 4], generator=torch.Generator().manual_seed(42))
print([list(p) for p in parts], len(parts[0]))
print(list(SubsetRandomSampler([3, 5, 7])), list(WeightedRandomSampler([0.1, 0.0, 0.9], 6)), list(RandomSampler(range(4))))
print(list(BatchSampler(SequentialSampler(range(7)), 3, False)), list(RandomSampler(range(3), replacement=True, num_samples=5)))
both = ConcatDataset([TensorDataset(torch.arange(3)), TensorDataset(torch.arange(10, 12))])
print(len(both), both[3], both[-1], [x.tolist() for (x,) in DataLoader(both, batch_size=2)])
print(len(DataLoader(Squares(7), batch_size=3)), len(DataLoader(Squares(7), batch_size=3, drop_last=True)), Subset(Squares(5), [4, 2])[0]["y"])
generator = torch.Generator()
generator.manual_seed(7)
loader = DataLoader(TensorDataset(torch.arange(6)), batch_size=3, shuffle=True, generator=generator)
print([[b.tolist() for (b,) in loader] for _ in range(2)])
batches = iter(DataLoader(torch.arange(4.0), batch_size=2))
print(next(batches), next(batches), next(batches, "end"))
