"""torch.ops: operators by ATen's names, and what has no other name."""
import torch
import torch.nn.functional as F

aten = torch.ops.aten
x = torch.tensor([[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]])
print(aten.add(x, 1), aten.add.Tensor(x, x), aten.mul.Scalar(x, 2), aten.view.default(x, [3, 2]), sep="\n")
print(aten.add.Tensor, aten.add, aten.add.Tensor.name(), aten.relu.default(x), aten.sum.dim_IntList(x, [1]))
print(aten._softmax.default(x, 1, False), aten._log_softmax(x, 1, False), aten.linalg_vector_norm(x), aten.gelu.default(x), sep="\n")
print(aten._safe_softmax.default(torch.tensor([[0.0, 1.0], [-float("inf")] * 2]), 1), aten._safe_softmax(torch.tensor([1, 2]).float(), dim=0))
masked = torch.tensor([[0.0, 1.0], [-float("inf")] * 2], requires_grad=True)
aten._safe_softmax(masked, 1)[:, 0].sum().backward()
print(masked.grad)
print(aten.embedding.default(x, torch.tensor([1, 0])))
q = torch.arange(24.0).reshape(1, 2, 3, 4).sin()
for causal in (False, True):
    made, logs = aten._scaled_dot_product_flash_attention_for_cpu(q, q, q, is_causal=causal)
    print(torch.allclose(made, F.scaled_dot_product_attention(q, q, q, is_causal=causal), atol=1e-5), logs)
for find in (lambda: aten.no_such_operator, lambda: torch.ops.mine.foo):
    try:
        find()
    except AttributeError as e:
        print(e)

zero = torch.zeros(2, 2, requires_grad=True)
torch.linalg.norm(zero, "fro").backward()
print(zero.grad, [torch.linalg.lstsq(torch.zeros(3, 0), torch.ones(3, 2), driver=d).residuals.tolist() for d in ("gels", "gelsd", "gelsy")])
byte = torch.tensor([[3, 200, 7], [1, 2, 3]], dtype=torch.uint8)
print(F.pairwise_distance(byte, byte.flip(0)), F.margin_ranking_loss(byte, byte.flip(1), byte, margin=1.0), F.triplet_margin_loss(byte, byte.flip(0), byte.flip(1)))
print(F.fractional_max_pool3d(torch.zeros(0, 1, 4, 5, 4), 2, output_size=2).shape)
