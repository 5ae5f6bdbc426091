import torch
torch.manual_seed(0)
x=torch.randn(3); y=torch.randn(3); z=torch.empty(3)
torch.add(x,y,out=z); print(z); torch.mul(x,2,out=z); print(z); torch.matmul(torch.eye(3),x,out=z); print(z)
r=torch.exp(x,out=z); print(r is z, z)
e=torch.empty(0); torch.cat([x,y],out=e); print(e.shape); torch.sub(x,y,alpha=torch.tensor(0.5),out=z); print(z)
p=torch.ones(3); p.add_(-0.1,x); print(p); p.addcmul_(0.5,x,y); print(p); p.addcdiv_(-1,x,y); print(p); print(torch.add(p,2,x), torch.addcmul(p,0.5,x,y))
p.add_(x,alpha=torch.tensor(0.25)); print(p); p.addcmul_(x,y,value=torch.tensor(0.5)); print(p)
print(torch.any(torch.zeros(0,dtype=torch.bool)), torch.all(torch.zeros(0,dtype=torch.bool)), torch.zeros(2,0).any(1), torch.zeros(2,0).all(1), torch.zeros(0,2).all(0))
try: 'a' in x
except RuntimeError as e: print(e)
print(1.0 in torch.tensor([1.,2.]), torch.tensor(5) in torch.tensor([1,2]))
w=torch.zeros(2,3); torch.stack([torch.arange(3.),torch.arange(3.)],out=w); print(w); torch.sum(w,0,out=z); print(z)
for i in range(torch.tensor(2)): print(i)
print(list(range(torch.tensor(1),torch.tensor(7),torch.tensor(3))))
import numpy as np
a = np.zeros(3); b = np.add(np.arange(3.0), 1.0, out=a); print(a, b is a, np.sqrt(np.arange(4.0), out=np.zeros(4)), np.nextafter(1.0, 2.0) > 1.0)
