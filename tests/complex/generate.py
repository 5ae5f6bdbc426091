"""Reference results for complex numbers and Fourier transforms, made with PyTorch in complex128.

    python generate.py OUT_DIR          (needs torch, numpy, safetensors)

The files have the format of ../oracle/generate.py. Complex tensors are stored as torch.view_as_real shows them, gradients too. `op` is the
operator of the table; its PyTorch name is that without `complex_`, in torch, torch.fft or torch.nn.functional. Inputs were
float32-representable before the computation.
"""
import json
import sys

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import save_file

CASES = []


def case(name, fn, make, attrs=None, op=None, tol=(1e-4, 1e-5), grad=True):
    CASES.append(dict(name=name, fn=fn, make=make, attrs=attrs or {}, op=op or name.split("/")[0], tol=tol, grad=grad))


def real(r, *shape, lo=-2.0, hi=2.0):
    return torch.from_numpy(r.uniform(lo, hi, shape).astype(np.float32)).double()


def z(r, *shape, lo=-2.0, hi=2.0):
    return torch.complex(real(r, *shape, lo=lo, hi=hi), real(r, *shape, lo=lo, hi=hi))


def points(*values):
    return torch.tensor(values, dtype=torch.complex128)


def pointwise():
    S = (3, 7)
    for name in ["abs", "exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"]:
        case(f"complex_{name}", getattr(torch, name), lambda r: [z(r, *S)], op=f"complex_{name}")
    for name in ["angle", "conj", "real", "imag"]:
        fn = torch.conj_physical if name == "conj" else getattr(torch, name)
        case(name, fn, lambda r: [z(r, *S)])
    # Where formulas break: axes, the origin, large and small numbers.
    axes = lambda r: [points(1, -1, 1j, -1j, 2 - 0.5j, -2 + 0.5j)]
    case("complex_sqrt/axes", torch.sqrt, axes, op="complex_sqrt")
    case("complex_log/axes", torch.log, axes, op="complex_log")
    case("complex_abs/zero", torch.abs, lambda r: [points(0, 3 + 4j, 1e-3j)], op="complex_abs")
    case("complex_sqrt/zero", torch.sqrt, lambda r: [points(0, 3 + 4j)], op="complex_sqrt", grad=False)
    case("complex_tanh/large", torch.tanh, lambda r: [points(60 + 1j, -60 - 1j, 0.5 + 1j)], op="complex_tanh")
    case("angle/axes", torch.angle, axes, op="angle")
    two = lambda r: [z(r, *S), z(r, *S)]
    case("complex_mul", torch.mul, two)
    case("complex_mul/broadcast", torch.mul, lambda r: [z(r, 3, 1), z(r, 2, 1, 7)], op="complex_mul")
    case("complex_div", torch.div, lambda r: [z(r, *S), z(r, 7, lo=0.3)])
    case("complex_div/sizes", torch.div, lambda r: [points(1e10 + 1e10j, 1 + 2j, 1e-10j), points(1e10 - 2e10j, 1e-3 - 1j, 2e-10 + 1e-10j)], op="complex_div", grad=False)
    case("complex_pow", torch.pow, lambda r: [z(r, *S, lo=0.3), z(r, *S, lo=-1.5, hi=1.5)])
    case("complex_pow/zero", torch.pow, lambda r: [points(0, 2), points(2, 1j)], op="complex_pow", grad=False)
    case("complex_eq", torch.eq, lambda r: [points(1 + 1j, 1 + 2j, 3), points(1 + 1j, 1 + 1j, 3)], grad=False)
    case("complex", torch.complex, lambda r: [real(r, *S), real(r, *S)])
    case("polar", torch.polar, lambda r: [real(r, *S, lo=0.1), real(r, *S)])


def products():
    mm = [((3, 4), (4, 2)), ((2, 3, 4), (4, 2)), ((2, 1, 3, 4), (5, 4, 2)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((17, 33), (33, 19))]
    for k, (a, b) in enumerate(mm):
        case(f"complex_matmul/{k}", torch.matmul, lambda r, a=a, b=b: [z(r, *a), z(r, *b)], op="complex_matmul", tol=(1e-4, 1e-4))
    case("complex_linear", F.linear, lambda r: [z(r, 2, 5, 4), z(r, 3, 4), z(r, 3)], tol=(1e-4, 1e-4))
    for k, (eq, shapes) in enumerate([("ij,jk->ik", [(3, 4), (4, 2)]), ("bij,bkj->ibk", [(2, 3, 4), (2, 5, 4)]), ("ii->i", [(4, 4)]), ("i,j->ij", [(3,), (4,)])]):
        case(f"complex_einsum/{k}", lambda *x, equation: torch.einsum(equation, *x), lambda r, s=shapes: [z(r, *n) for n in s], dict(equation=eq), op="complex_einsum")
    case("complex_conv1d", F.conv1d, lambda r: [z(r, 2, 3, 9), z(r, 4, 3, 3), z(r, 4)], dict(padding=1), tol=(1e-4, 1e-4))
    case("complex_conv1d/groups", F.conv1d, lambda r: [z(r, 2, 4, 9), z(r, 6, 2, 3)], dict(stride=2, groups=2, dilation=2), op="complex_conv1d", tol=(1e-4, 1e-4))
    case("complex_conv2d", F.conv2d, lambda r: [z(r, 2, 3, 6, 5), z(r, 4, 3, 3, 2), z(r, 4)], dict(stride=[2, 1], padding=[1, 0]), tol=(1e-4, 1e-4))
    case("complex_conv2d/depthwise", F.conv2d, lambda r: [z(r, 1, 3, 5, 5), z(r, 3, 1, 3, 3)], dict(groups=3), op="complex_conv2d", tol=(1e-4, 1e-4))


def transforms():
    # Powers of two, composite, primes short and long, products with a long prime.
    tol = (1e-4, 1e-4)
    for n in [1, 2, 3, 4, 5, 8, 12, 16, 17, 30, 49, 60, 61, 67, 64, 100, 127, 134, 256, 360, 1024]:
        case(f"fft/{n}", torch.fft.fft, lambda r, n=n: [z(r, 2, n)], op="fft", tol=tol)
        case(f"rfft/{n}", torch.fft.rfft, lambda r, n=n: [real(r, 2, n)], op="rfft", tol=tol)
    for n in [1, 6, 15, 67, 128]:
        case(f"ifft/{n}", torch.fft.ifft, lambda r, n=n: [z(r, 2, n)], op="ifft", tol=tol)
        case(f"irfft/{n}", torch.fft.irfft, lambda r, n=n: [z(r, 2, n // 2 + 1)], dict(n=n), op="irfft", tol=tol)
    case("irfft/default", torch.fft.irfft, lambda r: [z(r, 3, 9)], op="irfft", tol=tol)
    for norm in ["backward", "ortho", "forward"]:
        case(f"fft/{norm}", torch.fft.fft, lambda r: [z(r, 3, 10)], dict(norm=norm), op="fft")
        case(f"ifft/{norm}", torch.fft.ifft, lambda r: [z(r, 3, 10)], dict(norm=norm), op="ifft")
        case(f"rfft/{norm}", torch.fft.rfft, lambda r: [real(r, 3, 10)], dict(norm=norm), op="rfft")
        case(f"irfft/{norm}", torch.fft.irfft, lambda r: [z(r, 3, 6)], dict(norm=norm), op="irfft")
    for name, make in [("fft", z), ("ifft", z), ("rfft", real), ("irfft", z)]:
        fn = getattr(torch.fft, name)
        case(f"{name}/dim", fn, lambda r, make=make: [make(r, 4, 6, 3)], dict(dim=1), op=name)
        case(f"{name}/longer", fn, lambda r, make=make: [make(r, 4, 6)], dict(n=15, dim=-2), op=name)
        case(f"{name}/shorter", fn, lambda r, make=make: [make(r, 4, 6)], dict(n=5), op=name)
    case("fft2", torch.fft.fft2, lambda r: [z(r, 2, 6, 10)], tol=tol)
    case("fft2/sizes", torch.fft.fft2, lambda r: [z(r, 6, 10, 2)], dict(s=[4, 12], dim=[0, 1], norm="ortho"), op="fft2")
    case("ifft2", torch.fft.ifft2, lambda r: [z(r, 2, 6, 10)])


def stored(t):
    t = t.detach().resolve_conj().resolve_neg()
    if t.is_complex():
        t = torch.view_as_real(t)
    if t.dtype == torch.bool:
        return t.contiguous().numpy()
    return t.contiguous().numpy().astype(np.float32)


def main(out):
    pointwise()
    products()
    transforms()
    manifest, tensors = [], {}
    for k, c in enumerate(CASES):
        r = np.random.default_rng(k)
        x = [v.requires_grad_(c["grad"]) for v in c["make"](r)]
        # A Python list of sizes is a tuple for some functions.
        y = c["fn"](*x, **c["attrs"])
        entry = dict(name=c["name"], op=c["op"], attrs=c["attrs"], tol=list(c["tol"]), inputs=[], outputs=[f"{c['name']}:out0"])
        tensors[f"{c['name']}:out0"] = stored(y)
        for i, v in enumerate(x):
            entry["inputs"].append(f"{c['name']}:in{i}")
            tensors[f"{c['name']}:in{i}"] = stored(v)
        if c["grad"]:
            ct = z(r, *y.shape) if y.is_complex() else real(r, *y.shape)
            grads = torch.autograd.grad(y, x, ct)
            entry["cotangents"] = [f"{c['name']}:ct0"]
            tensors[f"{c['name']}:ct0"] = stored(ct)
            entry["grads"] = []
            for i, g in enumerate(grads):
                entry["grads"].append(f"{c['name']}:grad{i}")
                tensors[f"{c['name']}:grad{i}"] = stored(g)
        manifest.append(entry)
    json.dump(dict(torch=torch.__version__, cases=manifest), open(f"{out}/ops.json", "w"), indent=1)
    save_file(tensors, f"{out}/ops.safetensors")
    print(len(manifest), "cases")


main(sys.argv[1])
