"""A classifier of bags of words, written as tutorials write it, with early stopping and the best weights kept."""
import copy
import math
from collections import Counter, OrderedDict

import torch
from torch import nn

TEXTS = [("a fine good film", 1), ("bad dull film", 0), ("good good fun", 1), ("dull and bad", 0), ("fun and fine", 1), ("bad bad bad", 0),
         ("a good film", 1), ("a dull film", 0), ("fine fun film", 1), ("and dull", 0)]
torch.manual_seed(3)
counter = Counter(word for text, _ in TEXTS for word in text.split())
vocab = OrderedDict((word, i) for i, (word, _) in enumerate(counter.most_common()))


class TextClassification(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_class):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim, mode="mean")
        self.fc = nn.Linear(embed_dim, num_class)
        self.init_weights()

    def init_weights(self):
        initrange = 0.5
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.fc.weight.data.uniform_(-initrange, initrange)
        self.fc.bias.data.zero_()

    def forward(self, text, offsets):
        return self.fc(self.embedding(text, offsets))


def collate_batch(batch):
    label_list, text_list, offsets = [], [], [0]
    for text, label in batch:
        label_list.append(label)
        processed = torch.tensor([vocab[w] for w in text.split()], dtype=torch.int64)
        text_list.append(processed)
        offsets.append(processed.size(0))
    return torch.tensor(label_list), torch.cat(text_list), torch.tensor(offsets[:-1]).cumsum(dim=0)


train_iter = torch.utils.data.DataLoader(TEXTS[:8], batch_size=4, shuffle=True, collate_fn=collate_batch)
valid_iter = torch.utils.data.DataLoader(TEXTS[8:], batch_size=2, collate_fn=collate_batch)
model = TextClassification(len(vocab), 8, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "min", factor=0.1, patience=1)
best_loss, best_state, patience = math.inf, None, 0
for epoch in range(1, 16):
    model.train()
    total_acc, total_count = 0, 0
    for idx, (label, text, offsets) in enumerate(train_iter):
        optimizer.zero_grad()
        predicted = model(text, offsets)
        loss = criterion(predicted, label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        total_acc += (predicted.argmax(1) == label).sum().item()
        total_count += label.size(0)
    model.eval()
    with torch.no_grad():
        valid = sum(criterion(model(t, o), y).item() for y, t, o in valid_iter)
    scheduler.step(valid)
    print("| epoch {:3d} | accuracy {:8.3f} | valid loss {:.4f} | lr {}".format(epoch, total_acc / total_count, valid, optimizer.param_groups[0]["lr"]))
    if valid < best_loss - 0.02:
        best_loss, best_state, patience = valid, copy.deepcopy(model.state_dict()), 0
    else:
        patience += 1
        if patience >= 3:
            print("early stop")
            break
model.load_state_dict(best_state)
print(f"best {best_loss:.4f}", vocab["good"], list(vocab)[:3])
