import torch
from torch import nn
from einops import rearrange, repeat
from einops.layers.torch import Rearrange


def pair(t):
    return t if isinstance(t, tuple) else (t, t)


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim, dropout=0.0):
        super().__init__()
        self.net = nn.Sequential(
            nn.LayerNorm(dim), nn.Linear(dim, hidden_dim), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden_dim, dim), nn.Dropout(dropout)
        )

    def forward(self, x):
        return self.net(x)


class Attention(nn.Module):
    def __init__(self, dim, heads=8, dim_head=64, dropout=0.0):
        super().__init__()
        inner_dim = dim_head * heads
        project_out = not (heads == 1 and dim_head == dim)
        self.heads = heads
        self.scale = dim_head**-0.5
        self.norm = nn.LayerNorm(dim)
        self.attend = nn.Softmax(dim=-1)
        self.dropout = nn.Dropout(dropout)
        self.to_qkv = nn.Linear(dim, inner_dim * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner_dim, dim), nn.Dropout(dropout)) if project_out else nn.Identity()

    def forward(self, x):
        x = self.norm(x)
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> b h n d", h=self.heads), qkv)
        attn = self.dropout(self.attend(torch.matmul(q, k.transpose(-1, -2)) * self.scale))
        out = rearrange(torch.matmul(attn, v), "b h n d -> b n (h d)")
        return self.to_out(out)


class Transformer(nn.Module):
    def __init__(self, dim, depth, heads, dim_head, mlp_dim, dropout=0.0):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(
                nn.ModuleList([Attention(dim, heads=heads, dim_head=dim_head, dropout=dropout), FeedForward(dim, mlp_dim, dropout=dropout)])
            )

    def forward(self, x):
        for attn, ff in self.layers:
            x = attn(x) + x
            x = ff(x) + x
        return self.norm(x)


class ViT(nn.Module):
    def __init__(
        self,
        *,
        image_size,
        patch_size,
        num_classes,
        dim,
        depth,
        heads,
        mlp_dim,
        pool="cls",
        channels=3,
        dim_head=64,
        dropout=0.0,
        emb_dropout=0.0,
    ):
        super().__init__()
        ih, iw = pair(image_size)
        ph, pw = pair(patch_size)
        assert ih % ph == 0 and iw % pw == 0, "Image dimensions must be divisible by the patch size."
        n = (ih // ph) * (iw // pw)
        pd = channels * ph * pw
        assert pool in {"cls", "mean"}
        self.to_patch_embedding = nn.Sequential(
            Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=ph, p2=pw), nn.LayerNorm(pd), nn.Linear(pd, dim), nn.LayerNorm(dim)
        )
        self.pos_embedding = nn.Parameter(torch.randn(1, n + 1, dim))
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.dropout = nn.Dropout(emb_dropout)
        self.transformer = Transformer(dim, depth, heads, dim_head, mlp_dim, dropout)
        self.pool = pool
        self.to_latent = nn.Identity()
        self.mlp_head = nn.Linear(dim, num_classes)

    def forward(self, img):
        x = self.to_patch_embedding(img)
        b, n, _ = x.shape
        cls = repeat(self.cls_token, "1 1 d -> b 1 d", b=b)
        x = torch.cat((cls, x), dim=1)
        x += self.pos_embedding[:, : (n + 1)]
        x = self.dropout(x)
        x = self.transformer(x)
        x = x.mean(dim=1) if self.pool == "mean" else x[:, 0]
        return self.mlp_head(self.to_latent(x))


torch.manual_seed(0)
v = ViT(image_size=8, patch_size=4, num_classes=5, dim=12, depth=2, heads=2, mlp_dim=16, dim_head=6, dropout=0.1, emb_dropout=0.1)
print(v)
x = torch.randn(4, 3, 8, 8)
y = torch.tensor([0, 1, 2, 3])
opt = torch.optim.Adam(v.parameters(), lr=1e-2)
s = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.02, total_steps=4)
for i in range(3):
    l = nn.functional.cross_entropy(v(x), y, label_smoothing=0.1)
    opt.zero_grad()
    l.backward()
    opt.step()
    s.step()
    print(f"{l.item():.4f} {s.get_last_lr()[0]:.6f} {opt.param_groups[0]['betas'][0]:.4f}")


# MAE masking
def random_masking(x, mask_ratio):
    N, L, D = x.shape
    keep = int(L * (1 - mask_ratio))
    noise = torch.rand(N, L, device=x.device)
    shuffle = torch.argsort(noise, dim=1)
    restore = torch.argsort(shuffle, dim=1)
    ids = shuffle[:, :keep]
    xm = torch.gather(x, dim=1, index=ids.unsqueeze(-1).repeat(1, 1, D))
    mask = torch.ones([N, L], device=x.device)
    mask[:, :keep] = 0
    return xm, torch.gather(mask, dim=1, index=restore), restore


def patchify(imgs, p):
    h = w = imgs.shape[2] // p
    x = imgs.reshape(shape=(imgs.shape[0], 3, h, p, w, p))
    x = torch.einsum("nchpwq->nhwpqc", x)
    return x.reshape(shape=(imgs.shape[0], h * w, p**2 * 3))


p = patchify(x, 2)
xm, m, r = random_masking(p, 0.75)
print(xm.shape, m.sum(1), r[0])
tok = torch.zeros(1, 1, 12).repeat(4, r.shape[1] - xm.shape[1], 1)
full = torch.cat([xm, tok], 1)
full = torch.gather(full, 1, r.unsqueeze(-1).repeat(1, 1, 12))
print(((full - p) ** 2).mean(-1).mul(1 - m).sum())
t = p
mean = t.mean(dim=-1, keepdim=True)
var = t.var(dim=-1, keepdim=True)
print(((t - mean) / (var + 1.0e-6) ** 0.5)[0, 0, :4])
