import numpy as np, torch, torch.nn as nn
from scipy.signal import lfilter
from scipy.special import expit, softmax, logsumexp
from scipy.stats import norm, rankdata, spearmanr
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
print(np.round(lfilter([1],[1,-0.9],[1.,2.,3.])[::-1],5), np.round(lfilter([0.5,0.2],[1,-0.3,0.1],np.arange(6).reshape(2,3),axis=1),5))
print(np.round(expit(np.array([-800.,0.,2.])),5), np.round(softmax([[1.,2.],[3.,3.]],axis=1),5), round(float(logsumexp([1.,2.,3.])),5), logsumexp(np.ones((2,2)),axis=1))
print(round(float(norm.pdf(0.3)),6), round(float(norm.cdf(1.0,0.5,2.0)),6), np.round(norm.ppf([0.1,0.975]),5), rankdata([3,1,2,3]), round(float(spearmanr([1,2,3,4],[1,3,2,4])[0]),4))
rng=np.random.RandomState(0)
for s in ((4,4),(3,5),(5,3)):
    c=rng.rand(*s); print(linear_sum_assignment(c), linear_sum_assignment(c,maximize=True))
print(np.round(cdist([[0.,0.],[1.,1.]],[[3.,4.]]),4), np.round(cdist([[0.,1.],[1.,1.]],[[3.,4.]],'cosine'),4))
from torch.nn.modules.loss import _WeightedLoss, _Loss
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.utils import _pair
from torch.utils.data.sampler import Sampler, SubsetRandomSampler
from torch.utils.data.dataloader import default_collate
import torch.nn.modules.linear as lin
class S(_WeightedLoss):
    def __init__(self, weight=None, reduction='mean', smoothing=0.1):
        super().__init__(weight=weight, reduction=reduction); self.smoothing=smoothing
    def forward(self, x, t): return nn.functional.cross_entropy(x,t,weight=self.weight,label_smoothing=self.smoothing,reduction=self.reduction)
torch.manual_seed(0)
print(S()(torch.randn(3,4),torch.tensor([0,1,2])), isinstance(nn.CrossEntropyLoss(),_Loss), isinstance(nn.MSELoss(),_WeightedLoss))
print([[isinstance(a,b) for b in (nn.Conv1d,nn.Conv2d,nn.ConvTranspose2d,_ConvNd,nn.BatchNorm2d,_BatchNorm,nn.Dropout,nn.InstanceNorm2d)] for a in (nn.Conv1d(1,1,1),nn.Conv2d(1,1,1),nn.Conv3d(1,1,1),nn.ConvTranspose1d(1,1,1),nn.BatchNorm1d(1),nn.InstanceNorm2d(1),nn.Dropout2d(),nn.AlphaDropout())])
print(_pair(3), _pair((1,2)), lin.Linear is nn.Linear)
t=nn.ConvTranspose2d(2,3,3,stride=2,padding=1); x=torch.randn(1,2,5,5); print(t(x).shape, t(x,output_size=(10,10)).shape)
try: t(x,output_size=(12,12))
except ValueError as e: print('ValueError')
print(torch.repeat_interleave(torch.tensor([2,0,3])), torch.repeat_interleave(torch.arange(3),torch.tensor([1,2,0])), torch.repeat_interleave(torch.arange(4).reshape(2,2),torch.tensor([1,2]),dim=0), torch.repeat_interleave(torch.arange(3),2))
try: torch.einsum('ij,jk->ik', torch.ones(2,3), torch.ones(4,5))
except RuntimeError as e: print(e)
try: torch.einsum('ij,ij', torch.ones(2,3), torch.ones(1,4))
except RuntimeError as e: print(e)
