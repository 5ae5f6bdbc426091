"""The models that `aludel bench` measures, in PyTorch: same sizes, same batches, random data."""

from contextlib import nullcontext

import torch
import torch.nn as nn
import torch.nn.functional as F


class Mlp(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i + 1 < len(self.layers):
                x = F.relu(x)
        return x


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.ln2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(batch, time, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(batch, time, width))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, vocabulary, context, width, layers, heads):
        super().__init__()
        self.tok = nn.Embedding(vocabulary, width)
        self.pos = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.tok(tokens) + self.pos.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


class LstmLm(nn.Module):
    """The model of PyTorch's own example word_language_model, at the medium size of Zaremba et al."""

    def __init__(self, vocabulary, width, layers, dropout):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(vocabulary, width)
        self.rnn = nn.LSTM(width, width, layers, dropout=dropout, batch_first=True)
        self.decoder = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x, _ = self.rnn(self.drop(self.encoder(tokens)))
        return self.decoder(self.drop(x))


class Gan(nn.Module):
    """Two players; see training_step."""

    def __init__(self, noise, hidden, sample):
        super().__init__()
        self.generator = nn.Sequential(nn.Linear(noise, hidden), nn.ReLU(), nn.Linear(hidden, sample))
        self.discriminator = nn.Sequential(nn.Linear(sample, hidden), nn.LeakyReLU(), nn.Linear(hidden, 1))


class Logits(nn.Module):
    """What a Hugging Face model gives, its logits alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model(tokens).logits


PUBLISHED = ["vit", "unet", "bert", "llama", "resnet18", "resnet50", "vgg16"]


def published(name):
    """Models of torchvision, timm, segmentation's usual U-Net, and transformers, which have to be installed."""
    if name in ("resnet18", "resnet50", "vgg16"):
        import torchvision

        batch, side = {"resnet18": (32, 64), "resnet50": (128, 224), "vgg16": (64, 224)}[name]
        return getattr(torchvision.models, name)(), torch.randn(batch, 3, side, side), torch.randint(1000, (batch,)), batch
    if name == "vit":
        import timm

        return timm.create_model("vit_tiny_patch16_224"), torch.randn(64, 3, 224, 224), torch.randint(1000, (64,)), 64
    if name == "unet":
        raise NotImplementedError("no package has milesial's U-Net")
    if name == "bert":
        from transformers import BertConfig, BertForSequenceClassification

        model = Logits(BertForSequenceClassification(BertConfig(num_labels=2)))
        return model, torch.randint(30522, (64, 128)), torch.randint(2, (64,)), 64
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3,
        tie_word_embeddings=True, rms_norm_eps=1e-5,
    )  # fmt: skip
    tokens = torch.randint(49152, (8, 513))
    return Logits(LlamaForCausalLM(config)), tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous(), 8


def make(name, on_cpu):
    """The model, a batch of inputs and targets, and how many examples it has."""
    if name == "tiny":
        return Mlp([64, 128, 128, 10]), torch.randn(64, 64), torch.randint(10, (64,)), 64
    if name == "mlp":
        return Mlp([784, 1024, 1024, 10]), torch.randn(1024, 784), torch.randint(10, (1024,)), 1024
    if name == "cnn":
        model = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(64 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10),
        )  # fmt: skip
        return model, torch.randn(256, 1, 28, 28), torch.randint(10, (256,)), 256
    if name == "autoenc":
        model = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.GELU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.GELU(),
            nn.ConvTranspose2d(32, 16, 3, stride=2, padding=1, output_padding=1), nn.GELU(),
            nn.ConvTranspose2d(16, 1, 3, stride=2, padding=1, output_padding=1), nn.Sigmoid(),
        )  # fmt: skip
        x = torch.randn(256, 1, 28, 28)
        return model, x, x, 256
    if name == "lstm":
        tokens = torch.randint(10000, (20, 36))
        return LstmLm(10000, 650, 2, 0.5), tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous(), 20
    if name == "gan":
        return Gan(100, 256, 784), torch.randn(128, 784), torch.randn(128, 100), 128
    if name in PUBLISHED:
        return published(name)
    vocabulary, context, width, layers, heads, batch = {
        "tinygpt": (64, 32, 64, 2, 4, 8),
        "chargpt": (65, 256, 384, 6, 6, 4 if on_cpu else 64),
        "gpt2": (50304, 1024, 768, 12, 12, 8),
    }[name]
    tokens = torch.randint(vocabulary, (batch, context + 1))
    return Gpt(vocabulary, context, width, layers, heads), tokens[:, :-1], tokens[:, 1:], batch


def cross_entropy(logits, targets):
    if targets.is_floating_point():
        return F.mse_loss(logits.float(), targets)
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]).float(), targets.reshape(-1))


def training_step(model, x, y, compiled=lambda module: module, amp=nullcontext):
    """A function that makes one step and gives its loss. `compiled` wraps modules, `amp` makes the context of forward passes."""
    adam = lambda module: torch.optim.AdamW(module.parameters(), lr=1e-4, fused=True)
    if isinstance(model, Gan):
        generator, discriminator = compiled(model.generator), compiled(model.discriminator)
        players = adam(model.generator), adam(model.discriminator)
        like = lambda logits, value: F.binary_cross_entropy_with_logits(logits.float(), torch.full_like(logits, value).float())

        def both():
            players[1].zero_grad(set_to_none=True)
            with amp():
                fake = generator(y)
                real, made = discriminator(x), discriminator(fake.detach())
            loss = like(real, 1.0) + like(made, 0.0)
            loss.backward()
            players[1].step()
            players[0].zero_grad(set_to_none=True)
            with amp():
                logits = discriminator(fake)
            passed = like(logits, 1.0)
            passed.backward()
            players[0].step()
            return loss + passed

        return both
    forward, optimizer = compiled(model), adam(model)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with amp():
            logits = forward(x)
        loss = cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        return loss

    return step
