import os
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch.utils.tensorboard import SummaryWriter

folder = "/tmp/aludel-plots-and-logs"
os.makedirs(folder, exist_ok=True)
torch.manual_seed(0)
x = torch.linspace(0, 1, 20)
losses = [1.0 / (i + 1) for i in range(20)]
plt.figure(figsize=(6, 4))
plt.plot(losses, label="train")
plt.plot(range(20), (x ** 2).numpy(), "r--", label="test")
plt.xlabel("step")
plt.ylabel("loss")
plt.title("Loss < 1 & falling")
plt.legend()
plt.grid(True)
plt.savefig(os.path.join(folder, "loss.svg"))
plt.close()
fig, axs = plt.subplots(2, 2, figsize=(8, 6))
axs[0, 0].scatter(torch.randn(10), torch.randn(10), c=torch.rand(10), s=5)
axs[0, 1].imshow(torch.rand(8, 8), cmap="gray")
axs[0, 1].axis("off")
axs[1, 0].bar([0, 1, 2], [3, 1, 2])
counts, edges, _ = axs[1, 1].hist(np.array([1.0, 2.0, 2.5, 4.0]), bins=3)
axs[1, 1].set_title("counts")
for ax in axs.flat:
    ax.set_xlabel("x")
fig.suptitle("all")
fig.tight_layout()
fig.savefig(os.path.join(folder, "all.svg"))
plt.show()
print([int(c) for c in counts], [float(e) for e in edges])
for name in ("loss.svg", "all.svg"):
    path = os.path.join(folder, name)
    text = open(path).read()
    print(name, "<svg" in text, text.rstrip().endswith("</svg>"), "&lt; 1 &amp; falling" in text or name == "all.svg")
    os.remove(path)
try:
    plt.plot([1, 2, 3], [1, 2])
except ValueError as error:
    print(error)

with SummaryWriter(log_dir=os.path.join(folder, "run")) as writer:
    for step in range(5):
        writer.add_scalar("loss/train", losses[step], step)
        writer.add_scalars("loss", {"a": step, "b": torch.tensor(0.5)}, step)
    writer.add_text("note", "hello", 0)
    writer.add_histogram("weights", torch.randn(100), 1)
    writer.add_image("image", torch.rand(3, 4, 4), 0)
    writer.flush()
files = [f for f in os.listdir(os.path.join(folder, "run")) if f.startswith("events.out.tfevents.")]
print(len(files) > 0)
for f in files:
    os.remove(os.path.join(folder, "run", f))
