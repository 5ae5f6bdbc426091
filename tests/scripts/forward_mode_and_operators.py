"""Forward-mode derivatives, operators of a script's own, and attention whose scores a function changes."""
import torch, torch.nn as nn, torch.nn.functional as F
import torch.autograd.forward_ad as fwAD
torch.manual_seed(0)
with fwAD.dual_level():
    x,t=torch.randn(3,4),torch.randn(3,4)
    d=fwAD.make_dual(x,t)
    y=(d.sin()*d).sum(1)
    p,tan=fwAD.unpack_dual(y); print(p,tan, p.requires_grad)
    print(fwAD.unpack_dual(d).tangent is t or torch.equal(fwAD.unpack_dual(d).tangent,t), fwAD.unpack_dual(torch.ones(2)).tangent)
    lin=d*3; print(fwAD.unpack_dual(lin).tangent)
    print(fwAD.unpack_dual(x*2).tangent)
    try: fwAD.make_dual(x,torch.ones(2))
    except RuntimeError as e: print(str(e)[:60])
m=nn.Sequential(nn.Linear(4,5),nn.Tanh(),nn.Linear(5,2))
params={n:p for n,p in m.named_parameters()}; tang={n:torch.ones_like(p) for n,p in params.items()}
with fwAD.dual_level():
    for name,p in params.items():
        mod=m
        *path,last=name.split('.')
        for q in path: mod=getattr(mod,q)
        delattr(mod,last); setattr(mod,last,fwAD.make_dual(p,tang[name]))
    out=m(x); j=fwAD.unpack_dual(out).tangent; print(j.detach())
from torch.func import jvp
m2=nn.Linear(4,2)
with fwAD.dual_level():
    o=m2(fwAD.make_dual(x,t)); print([fwAD.unpack_dual(o)[i].detach() for i in range(2)])
    loss=fwAD.unpack_dual(o).tangent.pow(2).sum(); loss.backward(); print(m2.weight.grad)
try: fwAD.make_dual(x,t)
except RuntimeError as e: print(str(e)[:70])
@torch.library.custom_op("mylib::mysin", mutates_args=())
def mysin(x: torch.Tensor) -> torch.Tensor: return torch.from_numpy(__import__('numpy').sin(x.detach().numpy()))
@mysin.register_fake
def _(x): return torch.empty_like(x)
def backward(ctx, g): return g*ctx.saved_tensors[0].cos()
def setup(ctx, inputs, output): ctx.save_for_backward(inputs[0])
mysin.register_autograd(backward, setup_context=setup)
z=torch.randn(3,requires_grad=True); mysin(z).sum().backward(); print(z.grad, torch.ops.mylib.mysin(z).requires_grad, torch.ops.mylib.mysin.default(z.detach()))
@torch.library.custom_op("mylib::add_into", mutates_args={"out"})
def add_into(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, k: float = 2.0) -> None: out.copy_(a+k*b)
o=torch.zeros(2); add_into(torch.ones(2),torch.ones(2),o); print(o); add_into(torch.ones(2),torch.ones(2),o,k=5.0); print(o)
@torch.library.custom_op("mylib::noback", mutates_args=())
def noback(x: torch.Tensor) -> torch.Tensor: return x*2
w=noback(torch.ones(2,requires_grad=True)); print(w.requires_grad)
try: w.sum().backward()
except RuntimeError as e: print(str(e)[:60])
print(torch.ops.aten.relu(torch.tensor([-1.,1.])), torch.ops.aten.add.Tensor(torch.ones(1),torch.ones(1)))
try: torch.ops.mylib.nothing
except AttributeError as e: print(e)
from torch.nn.attention.flex_attention import flex_attention, create_block_mask, and_masks, or_masks
q,k,v=[torch.randn(2,4,10,8,requires_grad=False) for _ in range(3)]
causal=lambda b,h,q,kv: q>=kv
window=lambda b,h,q,kv: q-kv<=3
bm=create_block_mask(and_masks(causal,window),None,None,10,10,device='cpu')
o=flex_attention(q,k,v,block_mask=bm); print(o.shape,o[0,0,-1,:4])
slopes=torch.exp2(-torch.arange(1,5)*2.0)
o=flex_attention(q,k,v,score_mod=lambda s,b,h,qi,ki: s+slopes[h]*(ki-qi),block_mask=create_block_mask(causal,2,4,10,10,device='cpu'))
print(o[1,2,3,:4])
doc=torch.tensor([0]*4+[1]*6)
o=flex_attention(q,k,v,block_mask=create_block_mask(lambda b,h,i,j:(doc[i]==doc[j])&(i>=j),1,1,10,10,device='cpu')); print(o.sum())
print(bm.shape, bm.BLOCK_SIZE)
o,l=flex_attention(q,k[:,:2],v[:,:2],enable_gqa=True,return_lse=True); print(o.sum(),l.shape,l.sum())
