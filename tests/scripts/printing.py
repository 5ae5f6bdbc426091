import torch, torch.nn as nn, torch.nn.functional as F

torch.manual_seed(0)
print(
    torch.tensor([1.5, float("nan"), float("inf")]),
    torch.tensor([1e-8, 1.0]),
    torch.tensor([1e10, 1.0]),
    torch.tensor([[True, False]]),
    torch.tensor([]),
    torch.zeros(0, 3),
    torch.tensor(3),
    torch.tensor(2.5),
    torch.tensor([1, 2], dtype=torch.int32),
    torch.tensor([1.0], dtype=torch.float64),
    torch.tensor([1.0], dtype=torch.float16),
)
print(torch.arange(2000.0).reshape(40, 50))
print(torch.randn(3, 1200))
print(torch.randn(2, 3, 4))
print(torch.tensor([100000.0, 0.001]))
print(torch.tensor([-1.0, 22.5, 333.25]))
print(torch.full((2, 2), 7), torch.full((2,), 3.14), torch.eye(3, dtype=torch.int64))
torch.set_printoptions(precision=2, sci_mode=False)
print(torch.tensor([1e-5, 123.456]))
torch.set_printoptions(profile="default")
print(torch.tensor([1e-5, 123.456]))
x = torch.randn(2, 2, requires_grad=True)
print(
    x,
    x.sum(),
    x.mean(0),
    (x * 2).relu(),
    x @ x,
    x.t(),
    x.view(-1),
    x[0],
    x[0, 0],
    x.detach(),
    x.max(),
    x.max(1),
    x.softmax(1),
    x.clone(),
    x.unsqueeze(0).shape,
    (x > 0),
    x.exp().log(),
    x.pow(2).sqrt(),
    torch.cat([x, x]),
    torch.stack([x, x]).shape,
    x.std(),
    x.norm(),
)
print(
    torch.Size([2, 3]),
    x.shape,
    x.size(),
    x.dtype,
    x.device,
    x.layout,
    x.ndim,
    x.numel(),
    x.stride(),
    x.is_contiguous(),
    x.T.shape,
    x.element_size(),
    type(x),
    x.type(),
)
print(
    {"a": torch.ones(2), "b": [torch.tensor(1)]}, [torch.ones(1)], f"{torch.tensor(1.2345):.2f}", "%s" % torch.tensor(1), str(torch.ones(2))
)
p = nn.Parameter(torch.zeros(2))
print(p, nn.ParameterList([p]), nn.ParameterDict({"w": p}), nn.ModuleDict({"a": nn.Linear(1, 2), "act": nn.ReLU()}))
print(
    nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU6(),
        nn.MaxPool2d(2, 2),
        nn.AvgPool2d(3, stride=1, padding=1),
        nn.AdaptiveAvgPool2d((1, 1)),
        nn.Flatten(),
        nn.Dropout2d(0.3),
        nn.LayerNorm([8]),
        nn.GroupNorm(2, 8),
        nn.InstanceNorm2d(8),
        nn.Upsample(scale_factor=2, mode="nearest"),
        nn.PReLU(),
        nn.ELU(),
        nn.Softmax(dim=1),
        nn.LogSoftmax(1),
        nn.Embedding(10, 3, padding_idx=0),
        nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True),
        nn.GRU(3, 4),
        nn.MultiheadAttention(4, 2, batch_first=True),
        nn.TransformerEncoderLayer(4, 2, 8),
        nn.ConvTranspose2d(2, 3, 2, 2, output_padding=1),
        nn.ZeroPad2d(1),
        nn.ReflectionPad2d(1),
        nn.PixelShuffle(2),
        nn.Unflatten(1, (2, 2)),
        nn.Bilinear(2, 3, 4),
        nn.CosineSimilarity(),
        nn.Conv1d(1, 2, 3, padding="same", dilation=2, groups=1),
        nn.Hardtanh(-2, 2),
        nn.Threshold(0.1, 20),
        nn.GLU(),
        nn.Softplus(),
        nn.Identity(),
        nn.RMSNorm(4),
        nn.CrossEntropyLoss(),
        nn.MSELoss(),
    )
)
for o in (
    torch.optim.SGD([p], lr=0.1),
    torch.optim.Adam([p]),
    torch.optim.AdamW([{"params": [p], "lr": 1e-4}], lr=1e-3),
    torch.optim.RMSprop([p]),
    torch.optim.Adagrad([p]),
):
    print(o)
print(
    torch.finfo(torch.float32),
    torch.iinfo(torch.int64).max,
    torch.float32,
    torch.device("cpu"),
    repr(torch.device("cpu")),
    torch.manual_seed(0).__class__.__name__,
    torch.get_default_dtype(),
)
print(
    torch.tensor([[1, -2], [3, 400]]),
    torch.tensor([0.1, 0.25]).tolist(),
    torch.tensor([1.0, 2.0]).numpy(),
    torch.linspace(0, 1, 5),
    torch.logspace(0, 2, 3),
    torch.arange(0, 1, 0.25),
    torch.randint(0, 5, (3,)),
    torch.randperm(4),
    torch.empty(2, 0).shape,
    torch.tensor([1 + 0j]).dtype if False else "",
)
