import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
x = torch.randn(2, 3, 8, 8)
net = nn.Sequential(
    nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3, stride=2, groups=2),
    nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 2),
)
print(net)
y = net(x)
print(y.detach())
y.sum().backward()
print(net[0].weight.grad.abs().sum(), net[1].running_mean, net[1].running_var, net[1].num_batches_tracked)
net.eval()
print(net(x).detach())
print([n for n, _ in net.named_parameters()], [n for n, _ in net.named_buffers()], list(net.state_dict())[:4])
t = torch.randn(2, 5, 6)
for layer in (nn.LayerNorm(6), nn.GroupNorm(5, 5), nn.RMSNorm(6), nn.BatchNorm1d(5), nn.InstanceNorm1d(5), nn.Softmax(dim=-1), nn.LeakyReLU(0.2),
              nn.ELU(), nn.SiLU(), nn.Tanh(), nn.Sigmoid(), nn.Softplus(), nn.PReLU(), nn.Hardswish(), nn.Identity(), nn.AvgPool1d(2), nn.LogSoftmax(-1)):
    print(layer, layer(t).detach().sum((0, 1)))
print(nn.ConvTranspose2d(3, 2, 2, stride=2)(x).shape, nn.Upsample(scale_factor=2)(x).shape, nn.ZeroPad2d(1)(x).shape)
print(nn.Conv1d(5, 3, 3)(t).shape, F.avg_pool2d(x, 2).shape, F.interpolate(x, size=(4, 4), mode="bilinear", align_corners=False).mean())
emb = nn.Embedding(10, 4, padding_idx=0)
print(emb(torch.tensor([[0, 1], [2, 0]])).detach())
a = nn.MultiheadAttention(6, 2, batch_first=True)
out, w = a(t, t, t)
print(out.detach().sum(), w.detach().sum(-1))
q = torch.randn(1, 2, 4, 3)
print(F.scaled_dot_product_attention(q, q, q, is_causal=True).sum(), F.pad(t, (1, 2)).shape, F.normalize(t, dim=-1).norm(dim=-1)[0])
p, z = torch.randn(4, 3), torch.tensor([0, 2, 1, 1])
print(F.cross_entropy(p, z), nn.CrossEntropyLoss(label_smoothing=0.1)(p, z), nn.CrossEntropyLoss(reduction="none")(p, z))
print(F.nll_loss(F.log_softmax(p, 1), z), nn.MSELoss()(p, p + 1), nn.L1Loss()(p, p * 2), nn.SmoothL1Loss()(p, p * 3), nn.HuberLoss()(p, -p))
b = torch.rand(4)
print(nn.BCELoss()(b, (b > 0.5).float()), nn.BCEWithLogitsLoss()(b, torch.ones(4)), nn.KLDivLoss(reduction="batchmean")(F.log_softmax(p, 1), F.softmax(p * 2, 1)))
print(F.one_hot(z, 3), F.cosine_similarity(p, p + 0.1), F.gelu(b, approximate="tanh"))
# Attention of separate weights, as CLIP pools with it.
q, k, v, o = [nn.Linear(6, 6) for _ in range(4)]
pooled, scores = F.multi_head_attention_forward(
    query=torch.randn(1, 2, 6), key=torch.randn(5, 2, 6), value=torch.randn(5, 2, 6), embed_dim_to_check=6, num_heads=2,
    q_proj_weight=q.weight, k_proj_weight=k.weight, v_proj_weight=v.weight, in_proj_weight=None,
    in_proj_bias=torch.cat([q.bias, k.bias, v.bias]), bias_k=None, bias_v=None, add_zero_attn=False, dropout_p=0.0,
    out_proj_weight=o.weight, out_proj_bias=o.bias, use_separate_proj_weight=True, training=False, need_weights=False)
print(pooled.detach(), scores)


class Standardized(nn.Conv2d):
    def forward(self, x):
        return self._conv_forward(x, self.weight - self.weight.mean((1, 2, 3), keepdim=True), self.bias)


print(Standardized(1, 2, 3, padding=1, padding_mode="reflect")(torch.ones(1, 1, 4, 4)).sum().item())
