"""PyTorch's results for modules: writes modules.json beside this file. Run with PyTorch 2.15; needs nothing else.

Each case has a module's parameters and buffers, inputs, results, the gradients of sum(result * cotangent) for the inputs and the
parameters, and the buffers afterwards. Values are computed in float64 from numbers that float32 can hold.
"""

import json
import pathlib

import torch
from torch import nn

torch.set_default_dtype(torch.float64)
CASES = []


def numbers(t):
    t = t.detach()
    if t.dtype == torch.bool or not t.dtype.is_floating_point:
        return [int(v) for v in t.flatten().tolist()]
    return [float(f"{v:.8g}") for v in t.flatten().tolist()]


def tensor(t):
    kind = "bool" if t.dtype == torch.bool else "f32" if t.dtype.is_floating_point else "i32"
    return {"dtype": kind, "shape": list(t.shape), "data": numbers(t)}


def rounded(t):
    return t.float().double() if t.dtype.is_floating_point else t


def randn(*shape):
    return rounded(torch.randn(*shape))


def case(name, module, inputs, call=None, train=True):
    """`call` gives a tuple of results from the module and the inputs."""
    call = call or (lambda m, *xs: (m(*xs),))
    module = module.double()
    with torch.no_grad():
        for p in module.parameters():
            # Away from initial ones and zeros, so that nothing is right by accident.
            p.copy_(rounded(p + 0.1 * torch.randn_like(p)))
        if isinstance(module, nn.Embedding):
            module._fill_padding_idx_with_zero()
    module.train(train)
    before = {n: tensor(t) for n, t in module.state_dict().items()}
    inputs = [x.clone().requires_grad_(x.dtype.is_floating_point) for x in inputs]
    results = call(module, *inputs)
    cotangents = [randn(*r.shape) for r in results]
    loss = sum((r * c).sum() for r, c in zip(results, cotangents))
    leaves = [x for x in inputs if x.requires_grad]
    parameters = [(n, p) for n, p in module.named_parameters()]
    wrt = leaves + [p for _, p in parameters]
    gradients = torch.autograd.grad(loss, wrt, allow_unused=True) if wrt else []
    zero = lambda g, p: torch.zeros_like(p) if g is None else g
    CASES.append({
        "name": name,
        "train": train,
        "state": before,
        "inputs": [tensor(x) for x in inputs],
        "results": [tensor(r) for r in results],
        "cotangents": [tensor(c) for c in cotangents],
        "input_gradients": [tensor(zero(g, x)) for g, x in zip(gradients, leaves)],
        "gradients": {n: tensor(zero(g, p)) for (n, p), g in zip(parameters, gradients[len(leaves):])},
        "buffers": {n: tensor(b) for n, b in module.named_buffers()},
    })


def layers():
    case("linear", nn.Linear(3, 4), [randn(2, 3)])
    case("embedding_padding", nn.Embedding(5, 3, padding_idx=2), [torch.tensor([[0, 2, 4], [2, 1, 0]])])
    case("layer_norm", nn.LayerNorm([2, 3], eps=1e-3), [randn(4, 2, 3)])
    case("layer_norm_no_bias", nn.LayerNorm(3, bias=False), [randn(4, 3)])
    case("layer_norm_plain", nn.LayerNorm(3, elementwise_affine=False), [randn(4, 3)])
    case("rms_norm", nn.RMSNorm(4, eps=1e-5), [randn(3, 4)])
    case("group_norm", nn.GroupNorm(2, 4), [randn(2, 4, 3)])
    case("instance_norm", nn.InstanceNorm2d(2, affine=True), [randn(2, 2, 3, 2)])
    case("prelu", nn.PReLU(3), [randn(2, 3, 2)])
    case("batch_norm", nn.BatchNorm1d(3), [randn(5, 3)])
    case("batch_norm_eval", nn.BatchNorm2d(2), [randn(2, 2, 2, 2)], train=False)
    case("batch_norm_cumulative", nn.BatchNorm2d(2, eps=1e-3, momentum=None), [randn(2, 2, 2, 2), randn(2, 2, 2, 2)],
         lambda m, a, b: (m(a), m(b)))
    case("batch_norm_no_statistics", nn.BatchNorm1d(3, affine=False, track_running_stats=False), [randn(4, 3, 2)], train=False)
    case("conv_transpose3d", nn.ConvTranspose3d(2, 2, 2, stride=2), [randn(1, 2, 2, 1, 2)])
    case("max_pool1d", nn.MaxPool1d(3, stride=2, padding=1, dilation=1, ceil_mode=True), [randn(2, 2, 6)])
    case("avg_pool2d", nn.AvgPool2d(3, stride=2, padding=1, ceil_mode=True, count_include_pad=False), [randn(1, 2, 6, 5)])
    case("adaptive_avg_pool1d", nn.AdaptiveAvgPool1d(3), [randn(2, 2, 7)])
    case("upsample", nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), [randn(1, 2, 2, 3)])
    case("pixel_shuffle", nn.PixelShuffle(2), [randn(1, 4, 2, 1)])
    case("unflatten", nn.Unflatten(1, (2, -1)), [randn(2, 6)])
    functions = [nn.ReLU(), nn.Tanh(), nn.Sigmoid(), nn.GELU(), nn.GELU(approximate="tanh"), nn.SiLU(), nn.ELU(), nn.LeakyReLU(),
                 nn.ReLU6(), nn.Hardtanh(), nn.Hardsigmoid(), nn.Hardswish(), nn.SELU(), nn.CELU(), nn.Mish(), nn.Softplus(),
                 nn.Softsign(), nn.LogSigmoid(), nn.Tanhshrink()]
    case("activations", nn.Identity(), [3 * randn(2, 8)], lambda m, x: tuple(f(x) for f in functions))
    numbered = [nn.ELU(0.5), nn.LeakyReLU(0.2), nn.Softmax(0), nn.LogSoftmax(1), nn.GLU(1)]
    case("activations_of_one_number", nn.Identity(), [randn(2, 4)], lambda m, x: tuple(f(x) for f in numbered))


def attention():
    mha = nn.MultiheadAttention
    padding = torch.tensor([[False, False, False, True], [False, False, True, True]])
    case("mha", mha(6, 2), [randn(4, 2, 6)], lambda m, x: m(x, x, x))
    case("mha_padding", mha(6, 2, batch_first=True), [randn(2, 4, 6), padding],
         lambda m, x, p: m(x, x, x, key_padding_mask=p, need_weights=False)[:1])
    case("mha_weights_per_head", mha(6, 3, bias=False, batch_first=True), [randn(2, 4, 6), padding],
         lambda m, x, p: m(x, x, x, key_padding_mask=p, average_attn_weights=False))
    case("mha_cross", mha(4, 2, kdim=3, vdim=5), [randn(2, 2, 4), randn(3, 2, 3), randn(3, 2, 5)], lambda m, q, k, v: m(q, k, v))
    case("mha_key_is_value", mha(4, 2), [randn(2, 2, 4), randn(3, 2, 4)], lambda m, q, k: m(q, k, k))
    case("mha_extra_keys", mha(4, 2, add_bias_kv=True, add_zero_attn=True, batch_first=True), [randn(2, 4, 4), padding, randn(4, 4)],
         lambda m, x, p, a: m(x, x, x, key_padding_mask=torch.zeros(2, 4).masked_fill(p, -1e30), attn_mask=a))
    per_head = torch.rand(4, 3, 3) > 0.7
    per_head[:, :, 0] = False
    case("mha_mask_per_head", mha(4, 2), [randn(3, 2, 4), per_head], lambda m, x, a: m(x, x, x, attn_mask=a))
    causal = torch.triu(torch.ones(3, 3), 1).bool()
    case("mha_causal", mha(4, 2), [randn(3, 2, 4), causal], lambda m, x, a: m(x, x, x, attn_mask=a, need_weights=False, is_causal=True)[:1])
    case("mha_unbatched", mha(4, 2), [randn(3, 4)], lambda m, x: m(x, x, x))

    layer = lambda **o: nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.0, **o)
    case("encoder_layer", layer(), [randn(3, 2, 4)])
    case("encoder_layer_norm_first", layer(activation="gelu", batch_first=True, norm_first=True, layer_norm_eps=1e-3),
         [randn(2, 4, 4), padding], lambda m, x, p: (m(x, src_key_padding_mask=p),))
    case("encoder_layer_no_bias", layer(bias=False), [randn(3, 2, 4)])
    encoder = nn.TransformerEncoder(layer(batch_first=True), 2, norm=nn.LayerNorm(4), enable_nested_tensor=False)
    case("encoder", encoder, [randn(2, 4, 4), padding, torch.triu(torch.ones(4, 4), 1).bool()],
         lambda m, x, p, a: (m(x, mask=a, src_key_padding_mask=p),))


def recurrent():
    case("lstm", nn.LSTM(3, 4), [randn(5, 2, 3)], lambda m, x: (lambda y, s: (y, *s))(*m(x)))
    case("lstm_deep", nn.LSTM(3, 2, num_layers=2, bidirectional=True, batch_first=True), [randn(2, 4, 3), randn(4, 2, 2), randn(4, 2, 2)],
         lambda m, x, h, c: (lambda y, s: (y, *s))(*m(x, (h, c))))
    case("lstm_no_bias", nn.LSTM(3, 2, bias=False), [randn(4, 3)], lambda m, x: (lambda y, s: (y, *s))(*m(x)))
    case("gru", nn.GRU(3, 4), [randn(5, 2, 3)], lambda m, x: m(x))
    case("gru_deep", nn.GRU(3, 2, num_layers=2, bidirectional=True, batch_first=True), [randn(2, 4, 3), randn(4, 2, 2)],
         lambda m, x, h: m(x, h))
    case("gru_no_bias", nn.GRU(3, 2, bias=False), [randn(4, 3)], lambda m, x: m(x))
    case("rnn_tanh", nn.RNN(3, 4, num_layers=2), [randn(5, 2, 3)], lambda m, x: m(x))
    case("rnn_relu", nn.RNN(3, 4, nonlinearity="relu", bidirectional=True), [randn(3, 2, 3)], lambda m, x: m(x))
    case("lstm_cell", nn.LSTMCell(3, 4), [randn(2, 3), randn(2, 4), randn(2, 4)], lambda m, x, h, c: m(x, (h, c)))
    case("gru_cell", nn.GRUCell(3, 4), [randn(2, 3), randn(2, 4)])


torch.manual_seed(0)
layers()
attention()
recurrent()
out = {"torch": torch.__version__, "cases": CASES}
pathlib.Path(__file__).with_name("modules.json").write_text(json.dumps(out, separators=(",", ":")).replace('{"name"', '\n{"name"') + "\n")
print(len(CASES), "cases")
