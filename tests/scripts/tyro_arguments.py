import tyro
from dataclasses import dataclass, field
from typing import Optional, Literal
@dataclass
class Args:
    exp_name: str = "ppo"
    """the name"""
    seed: int = 1
    lr: float = 2.5e-4
    cuda: bool = True
    track: bool = False
    target_kl: Optional[float] = None
    kind: Literal["a","b"] = "a"
    sizes: tuple[int, ...] = (1,2)
print(tyro.cli(Args, args=["--seed","3","--no-cuda","--track","--target-kl","0.5","--kind","b","--sizes","4","5"]))
print(tyro.cli(Args, args=[]))
def main(n: int, name: str = "x"): return n, name
print(tyro.cli(main, args=["--n","4"]))
