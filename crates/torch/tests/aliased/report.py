print("end", f"{loss.item():.4f} {acc.item():.4f}", v, view, mat.sum(), row, col)
print([f"{p.sum().item():.4f}" for p in m.parameters()], [f"{p.sum().item():.4f}" for p in ema.parameters()], [f"{p.sum().item():.4f}" for p in m2.parameters()])
print([f"{t.sum().item():.4f}" for t in q], [f"{t.item():.4f}" for t in kept], {k: round(t, 3) for k, t in d.items()}, hist, cnt.item(), m.n, m.run, w.detach().sum(), tr.v, f"{T[0]:.4f}", f"{best:.4f}")
print(ab, tA, tB, tC, tA is ab[0], tA is ab[1], pair, name, cfg, flag, m.last2)
print(None if prev is None else prev.sum(), snap and {k: f"{t.sum().item():.4f}" for k, t in snap.items()}, state["m"], x.sum(), y.sum(), f"{lr:.5f}", torch.rand(1), torch.rand(1, generator=g1), random.random(), [None if p.grad is None else f"{p.grad.sum().item():.4f}" for p in m.parameters()])
show = lambda b: [show(v) for v in (b.values() if isinstance(b, dict) else b)] if isinstance(b, (dict, list)) else f"{float(b.sum()):.4f}" if isinstance(b, torch.Tensor) else b
print(show(box), show(old), box is old, len(hist), random.random())
