import torch
from torch.optim import lr_scheduler as S


def show(name, make, steps=12, metric=None, **settings):
    p = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([{"params": [p]}], lr=0.1, momentum=0.9)
    scheduler = make(optimizer)
    rates = []
    for i in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step(*([] if metric is None else [metric(i)]))
    print(name, [f"{r:.5f}" for r in rates], f"{scheduler.get_last_lr()[0]:.6f}", f"{optimizer.param_groups[0]['momentum']:.4f}")


show("LambdaLR", lambda o: S.LambdaLR(o, lambda e: 0.9 ** e))
show("MultiplicativeLR", lambda o: S.MultiplicativeLR(o, lambda e: 0.8))
show("StepLR", lambda o: S.StepLR(o, 3, 0.5))
show("MultiStepLR", lambda o: S.MultiStepLR(o, [2, 5, 5], 0.5))
show("ConstantLR", lambda o: S.ConstantLR(o, 0.5, 3))
show("LinearLR", lambda o: S.LinearLR(o, 0.2, 1.0, 4))
show("ExponentialLR", lambda o: S.ExponentialLR(o, 0.9))
show("PolynomialLR", lambda o: S.PolynomialLR(o, 8, 2.0))
show("CosineAnnealingLR", lambda o: S.CosineAnnealingLR(o, 5, 0.01))
show("CosineAnnealingWarmRestarts", lambda o: S.CosineAnnealingWarmRestarts(o, 3, 2))
show("OneCycleLR", lambda o: S.OneCycleLR(o, 0.5, total_steps=13))
show("OneCycleLR three", lambda o: S.OneCycleLR(o, 0.5, epochs=2, steps_per_epoch=7, three_phase=True, anneal_strategy="linear"))
show("CyclicLR", lambda o: S.CyclicLR(o, 0.01, 0.1, step_size_up=3))
show("CyclicLR triangular2", lambda o: S.CyclicLR(o, 0.01, 0.1, step_size_up=2, step_size_down=3, mode="triangular2"))
show("CyclicLR exp_range", lambda o: S.CyclicLR(o, 0.01, 0.1, step_size_up=4, mode="exp_range", gamma=0.9, cycle_momentum=False))
show("SequentialLR", lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.1, total_iters=4), S.CosineAnnealingLR(o, 6)], [4]))
show("SequentialLR three", lambda o: S.SequentialLR(o, [S.ConstantLR(o, 0.1, 3), S.ExponentialLR(o, 0.9), S.StepLR(o, 2)], [3, 6]))
show("ChainedScheduler", lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 4), S.ExponentialLR(o, 0.9)]))
show("ReduceLROnPlateau", lambda o: S.ReduceLROnPlateau(o, factor=0.5, patience=1), metric=lambda i: max(1.0 - i * 0.2, 0.5))
show("ReduceLROnPlateau max", lambda o: S.ReduceLROnPlateau(o, mode="max", factor=0.1, patience=2, cooldown=1, min_lr=1e-3), metric=lambda i: 1.0)
try:
    show("bad", lambda o: S.ReduceLROnPlateau(o, factor=2.0))
except ValueError as error:
    print(error)
