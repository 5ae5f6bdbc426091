# Functions that PyTorch's own code calls.
import torch

torch.manual_seed(0)


def show(name, made):
    for m in made if isinstance(made, tuple) else (made,):
        print(name, str(m.dtype)[6:], list(m.shape), [round(v, 3) + 0.0 if isinstance(v, float) else v for v in m.detach().reshape(-1).tolist()][:16])


x = torch.randn(5, 3)
show("_chunk_cat", torch._chunk_cat([x, x[:4, :2]], 0, 3))
show("_chunk_cat", torch._chunk_cat([x, x], -1, 2))
w = x.clone().requires_grad_()
for reduce in "sum mean max min prod".split():
    for initial in (None, 0.5):
        y = torch._segment_reduce(w, reduce, lengths=torch.tensor([2, 0, 3]), initial=initial)
        show(f"_segment_reduce {reduce} {initial}", y)
        g = torch.autograd.grad(y.nan_to_num(0, 0, 0).sum(), w)[0]
        show("gradient", g)
show("_segment_reduce", torch._segment_reduce(x.t(), "max", offsets=torch.tensor([[0, 1, 5], [0, 2, 5], [0, 5, 5]]), axis=1, initial=0))
try:
    torch._segment_reduce(x, "sum", lengths=torch.tensor([2, 2]))
except RuntimeError as e:
    print(e)
s = torch.softmax(x, 1)
show("_softmax_backward_data", torch._softmax_backward_data(x, s, 1, torch.float32))
show("_softmax_backward_data", torch._softmax_backward_data(x.bfloat16(), s.bfloat16(), 1, torch.bfloat16))
show("_log_softmax_backward_data", torch._log_softmax_backward_data(x, s.log(), -1, torch.float32))
places = [torch.tensor([[0], [7], [2]]), torch.tensor([[1, 0, 9]])]
mask = torch.tensor([[True, True, False], [False, True, False], [True, True, False]])
show("_unsafe_masked_index", torch._unsafe_masked_index(x, mask, places, -8.5))
show("_unsafe_masked_index_put_accumulate", torch._unsafe_masked_index_put_accumulate(x, mask, places, torch.ones(3, 3)))
image, volume = torch.randn(1, 2, 3, 4), torch.randn(1, 1, 2, 3, 3)
grid, space = torch.rand(1, 2, 2, 2) * 2.4 - 1.2, torch.rand(1, 1, 2, 2, 3) * 2.4 - 1.2
for mode in range(3):
    for padding in range(3):
        show(f"grid_sampler_2d {mode} {padding}", torch.grid_sampler_2d(image, grid, mode, padding, mode == 0))
        if mode < 2:
            show(f"grid_sampler_3d {mode} {padding}", torch.grid_sampler_3d(volume, space, mode, padding, padding == 1))
batch, ones = torch.randn(4, 2, 3), torch.ones(2)
mean, var = torch.zeros(2), torch.ones(2)
show("_native_batch_norm_legit", torch._native_batch_norm_legit(batch, ones * 2, ones, mean, var, True, 0.1, 1e-5))
show("running", (mean, var))
show("_native_batch_norm_legit", torch._native_batch_norm_legit(batch, ones * 2, ones, mean, var, False, 0.1, 1e-5))
show("_native_batch_norm_legit", torch._native_batch_norm_legit(batch, ones * 2, ones, True, 0.1, 1e-5))
show("as_strided_", torch.arange(9.0).reshape(3, 3).as_strided_((2, 2), (1, 3), 1))
show("polygamma_", torch.tensor([1.0, 2.5]).polygamma_(1))
show("nextafter_", torch.tensor([1.0, 2.5]).nextafter_(torch.tensor([2.0, 0.0])) - torch.tensor([1.0, 2.5]))
show("igamma_", torch.tensor([1.0, 2.5]).igamma_(torch.tensor([2.0, 0.5])))
show("igammac_", torch.tensor([1.0, 2.5]).igammac_(torch.tensor([2.0, 0.5])))
show("log_normal_", torch.zeros(20).log_normal_(0.5, 0.25))
print(torch.torch is torch)
