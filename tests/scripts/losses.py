import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(4, 5, requires_grad=True), torch.randn(4, 5)
labels, signs, probs = torch.tensor([0, 2, 1, 4]), torch.tensor([1.0, -1.0, 1.0, -1.0]), torch.rand(4, 5)
weight = torch.tensor([1.0, 2.0, 0.5, 1.0, 1.5])
cases = {
    "mse": nn.MSELoss()(x, y), "l1": nn.L1Loss(reduction="sum")(x, y), "smooth": nn.SmoothL1Loss(beta=0.5)(x, y), "huber": nn.HuberLoss(delta=0.7)(x, y),
    "ce": nn.CrossEntropyLoss()(x, labels), "ce weight": nn.CrossEntropyLoss(weight=weight)(x, labels),
    "ce smoothing": nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=2)(x, labels), "ce probs": F.cross_entropy(x, F.softmax(y, 1)),
    "nll": nn.NLLLoss(weight=weight, reduction="sum")(F.log_softmax(x, 1), labels), "bce": nn.BCELoss()(torch.sigmoid(x), probs),
    "bce logits": nn.BCEWithLogitsLoss(pos_weight=weight)(x, probs), "kl": nn.KLDivLoss(reduction="batchmean")(F.log_softmax(x, 1), F.softmax(y, 1)),
    "kl log": F.kl_div(F.log_softmax(x, 1), F.log_softmax(y, 1), reduction="sum", log_target=True),
    "cosine": nn.CosineEmbeddingLoss()(x, y, signs), "ranking": nn.MarginRankingLoss(margin=0.2)(x[:, 0], x[:, 1], signs),
    "hinge": nn.HingeEmbeddingLoss()(x, y.sign()), "soft": nn.SoftMarginLoss()(x, y.sign()), "gaussian": nn.GaussianNLLLoss()(x, y, probs + 0.1),
    "poisson": nn.PoissonNLLLoss()(x, probs), "triplet": F.triplet_margin_loss(x, y, probs), "multi": nn.MultiMarginLoss(p=2)(x, labels),
}
for name, loss in cases.items():
    (g,) = torch.autograd.grad(loss, x, retain_graph=True)
    print(f"{name}: {loss.item():.4f} {g.abs().sum().item():.4f}")
print(nn.CrossEntropyLoss(reduction="none")(x, labels).detach(), F.mse_loss(x, y, reduction="none").shape)
image, mask = torch.randn(2, 3, 4, 4), torch.randint(0, 3, (2, 4, 4))
print(F.cross_entropy(image, mask, ignore_index=1).item(), nn.NLLLoss2d()(F.log_softmax(image, 1), mask).item())


def dice(p, t, smooth=1.0):
    p, t = p.reshape(-1), t.reshape(-1)
    return 1 - (2.0 * (p * t).sum() + smooth) / (p.sum() + t.sum() + smooth)


def focal(scores, target, gamma=2.0, alpha=0.25):
    ce = F.binary_cross_entropy_with_logits(scores, target, reduction="none")
    p_t = torch.exp(-ce)
    return (torch.where(target > 0.5, alpha, 1 - alpha) * (1 - p_t) ** gamma * ce).mean()


target = (probs > 0.5).float()
print(dice(torch.sigmoid(x), target).item(), focal(x, target).item())
for bad in (lambda: F.cross_entropy(x, torch.tensor([0, 1])), lambda: F.mse_loss(torch.ones(2), torch.ones(3))):
    try:
        bad()
    except (ValueError, RuntimeError) as error:
        print(type(error).__name__, str(error)[:60])
