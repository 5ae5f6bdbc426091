import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
i=torch.tensor([[0,1,1,2,1],[1,0,2,1,0]]); v=torch.tensor([1.,2.,3.,4.,5.])
a=torch.sparse_coo_tensor(i,v,(3,3)); print(a); print(a.is_sparse, a.shape, a._nnz(), a.is_coalesced()); c=a.coalesce(); print(c, c.indices(), c.values()); print(a.to_dense(), a.t().to_dense())
try: a.values()
except RuntimeError as e: print(e)
x=torch.randn(3,2,requires_grad=True)
for y in (torch.sparse.mm(a,x), torch.mm(a,x), a@x, torch.spmm(a,x), a.mm(x), torch.matmul(a,x)): print(y.detach())
y.sum().backward(); print(x.grad)
print((a*2).to_dense(), (a+a).to_dense(), torch.sparse.sum(a))
d=torch.tensor([[0.,1.],[2.,0.]]); s=d.to_sparse(); print(s, s.to_dense().equal(d))
w=torch.sparse_coo_tensor(i,v,(3,3),requires_grad=True); (w@torch.ones(3,1)).sum().backward(); print(w.to_dense().detach())
class GCN(nn.Module):
    def __init__(self):
        super().__init__(); self.w1=nn.Linear(4,8,bias=False); self.w2=nn.Linear(8,2,bias=False)
    def forward(self,x,adj): return F.log_softmax(torch.spmm(adj,self.w2(F.relu(torch.spmm(adj,self.w1(x))))),1)
n=8; adj=(torch.rand(n,n)<0.3).float(); adj=((adj+adj.t())>0).float()+torch.eye(n); deg=adj.sum(1).pow(-0.5); adj=(deg[:,None]*adj*deg[None]).to_sparse()
X=torch.randn(n,4); Y=torch.randint(0,2,(n,)); m=GCN(); o=torch.optim.Adam(m.parameters(),lr=0.05)
for e in range(6):
    o.zero_grad(); l=F.nll_loss(m(X,adj),Y); l.backward(); o.step(); print(e, f"{l.item():.4f}")

x = torch.zeros(3, 3); k = (torch.tensor([0, 1, 1]), torch.tensor([1, 2, 2])); v = torch.tensor([1., 2., 3.])
print(x.index_put(k, v, accumulate=True), x.index_put_(k, v), x.clone().index_put_((torch.tensor([2, 0, 2]),), torch.ones(3), accumulate=True))
print(torch.ones(3, 2).index_put((torch.tensor([True, False, True]),), torch.tensor([5., 6.]), accumulate=True))
