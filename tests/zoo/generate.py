"""Small models made, saved and run by the libraries whose names the zoo takes: torchvision, timm, Hugging Face transformers, PyTorch.

    pip install torch torchvision timm transformers safetensors
    python tests/zoo/generate.py

Writes next to itself NAME.safetensors, the parameters as the library saves them, and expected.safetensors: inputs (`NAME.x`, ..; images
are `pattern`s), targets (`NAME.y`), logits in evaluation mode (`NAME.logits`) and the losses of some training steps from there
(`NAME.losses`, AdamW with a learning rate of 0.001, SGD with 0.0001 for the residual networks, no dropout).
`crates/models/tests/zoo.rs` loads and reproduces them.
"""

import pathlib
import tempfile

import timm
import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision
from safetensors.torch import load_file, save_file
from torchvision.models.resnet import BasicBlock, Bottleneck
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

HERE = pathlib.Path(__file__).parent
STEPS = 6
expected = {}


class SmallResNet(torchvision.models.ResNet):
    """torchvision's network from `width` channels on instead of 64; all but the sizes is its own."""

    def __init__(self, block, width, classes):
        nn.Module.__init__(self)
        self._norm_layer, self.inplanes, self.dilation, self.groups, self.base_width = nn.BatchNorm2d, width, 1, 1, 64
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, width, 1)
        self.layer2 = self._make_layer(block, 2 * width, 2, stride=2)
        self.layer3 = self._make_layer(block, 4 * width, 1, stride=2)
        self.layer4 = self._make_layer(block, 8 * width, 1, stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(8 * width * block.expansion, classes)


class SmallVgg(torchvision.models.VGG):
    """torchvision's network with a smaller classifier, over an image pooled to 2 by 2."""

    def __init__(self, features, channels, hidden, classes):
        nn.Module.__init__(self)
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((2, 2))
        self.classifier = nn.Sequential(
            nn.Linear(channels * 4, hidden), nn.ReLU(True), nn.Dropout(p=0.0),
            nn.Linear(hidden, hidden), nn.ReLU(True), nn.Dropout(p=0.0),
            nn.Linear(hidden, classes),
        )  # fmt: skip


class DoubleConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
        )  # fmt: skip

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(inputs, outputs))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.up = nn.ConvTranspose2d(inputs, inputs // 2, 2, stride=2)
        self.conv = DoubleConv(inputs, outputs)

    def forward(self, x, skip):
        x = self.up(x)
        dy, dx = skip.shape[2] - x.shape[2], skip.shape[3] - x.shape[3]
        x = F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.conv(torch.cat([skip, x], dim=1))


class UNet(nn.Module):
    """The names and the arithmetic of github.com/milesial/Pytorch-UNet, from `width` channels on instead of 64."""

    def __init__(self, channels, classes, width):
        super().__init__()
        self.inc = DoubleConv(channels, width)
        for i in range(4):
            setattr(self, f"down{i + 1}", Down(width << i, width << (i + 1)))
            setattr(self, f"up{4 - i}", Up(width << (i + 1), width << i))
        self.outc = nn.ModuleDict({"conv": nn.Conv2d(width, classes, 1)})

    def forward(self, x):
        skips = [self.inc(x)]
        for i in range(1, 5):
            skips.append(getattr(self, f"down{i}")(skips[-1]))
        x = skips.pop()
        for i in range(1, 5):
            x = getattr(self, f"up{i}")(x, skips.pop())
        return self.outc["conv"](x)


class LstmLm(nn.Module):
    """The names of PyTorch's word_language_model example."""

    def __init__(self, vocabulary, width, hidden, layers):
        super().__init__()
        self.encoder = nn.Embedding(vocabulary, width)
        self.rnn = nn.LSTM(width, hidden, layers, batch_first=True)
        self.decoder = nn.Linear(hidden, vocabulary)

    def forward(self, tokens):
        return self.decoder(self.rnn(self.encoder(tokens))[0])


# With a larger one PyTorch's own f32 and f64 part within three steps where batches are normalized.
LR = 0.001


def optimizer(model):
    return torch.optim.AdamW(model.parameters(), lr=LR)


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1 * LR)


def tensors(name, **values):
    for key, value in values.items():
        value = value.detach()
        expected[f"{name}.{key}"] = (value.to(torch.int32) if value.dtype == torch.int64 else value.float()).contiguous()


def save(name, model):
    if hasattr(model, "save_pretrained"):
        with tempfile.TemporaryDirectory() as directory:
            model.save_pretrained(directory)
            state = load_file(f"{directory}/model.safetensors")
    else:
        state = model.state_dict()
    save_file({k: v.contiguous() for k, v in state.items()}, HERE / f"{name}.safetensors", metadata={"format": "pt"})
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{name}: {parameters} parameters in {len(state)} tensors")


def record(name, model, forward, y, optimizer=optimizer, steps=STEPS, **inputs):
    """Saves the model, its logits in evaluation, and the losses of training steps."""
    torch.manual_seed(1)
    # Biases and scales that are not at their initial zeros and ones, and statistics of some batches.
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn_like(p) * 0.05)
    model.train()
    with torch.no_grad():
        forward(model)
    save(name, model)
    model.eval()
    with torch.no_grad():
        logits = forward(model)
    model.train()
    o, losses = optimizer(model), []
    for _ in range(steps):
        o.zero_grad()
        out = forward(model)
        loss = F.cross_entropy(out.reshape(-1, out.shape[-1]), y.reshape(-1)) if out.dim() < 4 else F.cross_entropy(out, y)
        loss.backward()
        o.step()
        losses.append(loss.item())
    tensors(name, logits=logits, losses=torch.tensor(losses), y=y, **inputs)


def pattern(*shape):
    """Numbers from -2 to 2 that the tests make again, since images would be most of the files."""
    i = torch.arange(torch.Size(shape).numel())
    return ((i * 37 % 101 - 50).float() / 25).reshape(shape)


def main():
    torch.manual_seed(0)
    x, y = pattern(4, 3, 64, 64), torch.tensor([1, 3, 0, 4])
    # These few channels over few pixels, normalized twenty times, are chaotic: parameters that are 1e-6 of themselves off change
    # the bottlenecks' sixth loss by 0.2 at SGD's usual rates, and AdamW makes signs of the noise. At 0.0001 five steps are stable.
    record("resnet", SmallResNet(Bottleneck, 2, 5), lambda m: m(x), y, sgd, 4)
    record("resnet_basic", SmallResNet(BasicBlock, 2, 5), lambda m: m(x), y, sgd, 4)
    features = torchvision.models.vgg.make_layers([4, "M", 6, 6, "M"])
    record("vgg", SmallVgg(features, 6, 8, 5), lambda m: m(x), y)
    x = pattern(4, 3, 16, 16)
    vit = timm.models.VisionTransformer(img_size=16, patch_size=8, embed_dim=16, depth=2, num_heads=2, mlp_ratio=2, num_classes=5)
    record("vit", vit, lambda m: m(x), y)
    # Sides that do not halve evenly, as the padding of the way up allows.
    image = pattern(4, 1, 20, 22)
    record("unet", UNet(1, 2, 1), lambda m: m(image), (image[:, 0] > 0.5).long())

    torch.manual_seed(3)
    ids = torch.randint(32, (2, 13))
    x, y = ids[:, :-1].contiguous(), ids[:, 1:].contiguous()
    none = dict(attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0)
    gpt2 = GPT2LMHeadModel(GPT2Config(vocab_size=32, n_positions=16, n_embd=16, n_layer=2, n_head=2, **none))
    record("gpt2", gpt2, lambda m: m(x).logits, y, x=x)
    llama = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=32, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            max_position_embeddings=16,
        )  # fmt: skip
    )
    record("llama", llama, lambda m: m(x).logits, y, x=x)
    sizes = dict(vocab_size=32, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=16)
    none = dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    # The last three positions of the second sequence are padding; the second half of each is the second sentence.
    mask = torch.ones_like(x)
    mask[1, -3:] = 0
    kinds = (torch.arange(x.shape[1]) >= 6).long().expand_as(x).contiguous()
    classify = BertForSequenceClassification(BertConfig(num_labels=3, **sizes, **none))
    labels = torch.tensor([2, 0])
    record(
        "bert", classify, lambda m: m(x, attention_mask=mask, token_type_ids=kinds).logits, labels, x=x, mask=mask, kinds=kinds
    )  # fmt: skip
    masked = BertForMaskedLM(BertConfig(**{**sizes, "num_hidden_layers": 1}, **none))
    wanted = torch.where(torch.arange(x.shape[1]) % 3 == 0, x, torch.full_like(x, -100))
    record("bert_mlm", masked, lambda m: m(x).logits, wanted, x=x)
    record("lstm", LstmLm(32, 8, 12, 2), lambda m: m(x), y, x=x)

    gan()
    save_file(expected, HERE / "expected.safetensors")
    total = sum(f.stat().st_size for f in HERE.glob("*.safetensors"))
    print(f"{total / 1e3:.0f} kB")


def gan():
    """Both players make two layers; each step updates the discriminator, then the generator against the new one."""
    torch.manual_seed(5)
    generator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    discriminator = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.01), nn.Linear(8, 1))
    real, noise = torch.randn(16, 2) * 0.3 + 1.0, torch.randn(16, 4)
    save("gan", nn.ModuleDict({"generator": generator, "discriminator": discriminator}))
    one, two = optimizer(discriminator), optimizer(generator)
    losses = []
    ones, zeros = torch.ones(16, 1), torch.zeros(16, 1)
    for _ in range(STEPS):
        one.zero_grad()
        fake = generator(noise)
        d = F.binary_cross_entropy_with_logits(discriminator(real), ones)
        d = d + F.binary_cross_entropy_with_logits(discriminator(fake.detach()), zeros)
        d.backward()
        one.step()
        two.zero_grad()
        g = F.binary_cross_entropy_with_logits(discriminator(fake), ones)
        g.backward()
        two.step()
        losses.append([d.item(), g.item()])
    tensors("gan", real=real, noise=noise, losses=torch.tensor(losses))


main()
