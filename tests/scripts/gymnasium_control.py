import gymnasium as gym, numpy as np, torch, torch.nn as nn
from torch.distributions import Categorical
for name in ("CartPole-v1","MountainCar-v0","Pendulum-v1"):
    env=gym.make(name); o,i=env.reset(seed=3); env.action_space.seed(0); print(name, o, i, env.action_space, env.observation_space.shape, env.spec.id, env.spec.max_episode_steps)
    t=0
    for k in range(30):
        a=(k*7)%3%2 if name!="Pendulum-v1" else np.array([np.sin(k)],dtype=np.float32)
        o,r,d,tr,inf=env.step(a); t+=r
    print(o, round(float(t),4), d, tr); o,_=env.reset(); print(o); a=env.action_space.sample(); print(type(a).__name__, a, env.action_space.contains(a))
    env.close()
class Corridor(gym.Env):
    def __init__(self, n=5):
        self.n=n; self.action_space=gym.spaces.Discrete(2); self.observation_space=gym.spaces.Box(0.0,float(n),shape=(1,),dtype=np.float32)
    def reset(self,*,seed=None,options=None):
        super().reset(seed=seed); self.p=0; return np.array([0.0],dtype=np.float32), {}
    def step(self,a):
        self.p=max(0,self.p+(1 if a else -1)); e=self.p>=self.n
        return np.array([self.p],dtype=np.float32), 1.0 if e else -0.1, e, False, {}
gym.register("Corridor-v0", entry_point=Corridor, max_episode_steps=20)
e=gym.wrappers.RecordEpisodeStatistics(gym.make("Corridor-v0",n=3)); o,_=e.reset(); 
for _ in range(3): o,r,d,t,i=e.step(1)
print(o,r,d,t,i["episode"]["r"],i["episode"]["l"], e.unwrapped.n)
envs=gym.vector.SyncVectorEnv([lambda: gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1")) for _ in range(2)])
o,_=envs.reset(seed=1); print(o, envs.single_action_space.n, envs.num_envs)
for k in range(40):
    o,r,d,t,inf=envs.step(np.array([1,k%2]))
    if "episode" in inf: print(k, inf["_episode"], inf["episode"]["r"], d)
torch.manual_seed(0)
env=gym.make("CartPole-v1"); policy=nn.Sequential(nn.Linear(4,32),nn.ReLU(),nn.Linear(32,2)); opt=torch.optim.Adam(policy.parameters(),lr=1e-2)
for ep in range(12):
    o,_=env.reset(seed=ep); logs=[]; rewards=[]
    while True:
        d=Categorical(logits=policy(torch.from_numpy(o).float())); a=d.sample(); logs.append(d.log_prob(a)); o,r,term,trunc,_=env.step(a.item()); rewards.append(r)
        if term or trunc: break
    R=0; ret=[]
    for r in reversed(rewards): R=r+0.99*R; ret.insert(0,R)
    ret=torch.tensor(ret); ret=(ret-ret.mean())/(ret.std()+1e-8); loss=-(torch.stack(logs)*ret).sum(); opt.zero_grad(); loss.backward(); opt.step(); print(ep, len(rewards), f"{loss.item():.4f}")
