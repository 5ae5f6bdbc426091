"""Runs the calls that generate.py wrote, and says which give something else than PyTorch:

    aludel run --device interp --mode eager tests/opinfo/calls/check.py OUT/*.pt     # also --device cpu, --mode compiled

ONLY names cases by a regular expression. A difference is one of type, shape, or of more than a thousandth (three hundredths of bfloat16).
"""
import sys, os, re
ONLY=os.environ.get('ONLY')
import torch
def resolve(name):
    o=torch
    for p in name.split('.'): o=getattr(o,p)
    return o
def flat(o,out):
    if isinstance(o,torch.Tensor): out.append(o)
    elif isinstance(o,(list,tuple)):
        for x in o: flat(x,out)
    elif isinstance(o,(bool,int,float,complex,str)): out.append(o)
    else: out.append(str(o))
    return out
def live(o,out):
    if isinstance(o,torch.Tensor): out.append(o)
    elif isinstance(o,(list,tuple)):
        for x in o: live(x,out)
    elif isinstance(o,dict):
        for x in o.values(): live(x,out)
    return out
def close(a,b):
    if a.dtype!=b.dtype: return f"dtype {a.dtype} for {b.dtype}"
    if a.shape!=b.shape: return f"shape {tuple(a.shape)} for {tuple(b.shape)}"
    if a.numel()==0: return None
    a=a.detach()
    if b.is_complex():
        a=torch.view_as_real(a.resolve_conj().contiguous()); b=torch.view_as_real(b.contiguous())
    if b.is_floating_point():
        tol=3e-2 if b.dtype in(torch.bfloat16,torch.float16) else 1e-3
        a=a.double(); b=b.double()
        fin=b[torch.isfinite(b)]
        scale=float(fin.abs().max()) if fin.numel() else 1.0
        if not torch.allclose(a,b,rtol=tol,atol=tol*min(scale,1.0)*0.3+1e-6,equal_nan=True):
            d=(a-b).abs(); d=d[torch.isfinite(d)]
            return f"values differ by {float(d.max()) if d.numel() else 'nonfinite'}: {a.reshape(-1)[:4].tolist()} for {b.reshape(-1)[:4].tolist()}"
        return None
    if not torch.equal(a,b): return f"values {a.reshape(-1)[:6].tolist()} for {b.reshape(-1)[:6].tolist()}"
def dec(v):
    if isinstance(v,(list,tuple)): return type(v)(dec(x) for x in v)
    if isinstance(v,dict):
        if '__complex' in v:
            c=torch.view_as_complex(v['__complex'])
            return c.requires_grad_(True) if v['grad'] else c
        if '__number' in v: return complex(*v['__number'])
        if '__dtype' in v: return getattr(torch,v['__dtype'])
        return {k:dec(x) for k,x in v.items()}
    return v
for path in sys.argv[1:]:
    cases=dec(torch.load(path,weights_only=False))
    bad=0
    if ONLY: cases=[c for c in cases if re.match(ONLY,c['name'])]
    for c in cases:
        what=None
        try:
            torch.manual_seed(3)
            args,kw=c['args'],c['kwargs']
            if c['fn'].startswith('Tensor.'): o=getattr(args[0],c['fn'][7:])(*args[1:],**kw)
            else: o=resolve(c['fn'][6:])(*args,**kw)
            got=flat(o,[])
            if len(got)!=len(c['out']): what=f"{len(got)} results for {len(c['out'])}"
            else:
                for k,(a,b) in enumerate(zip(got,c['out'])):
                    if isinstance(b,torch.Tensor):
                        if not isinstance(a,torch.Tensor): what=f"result {k}: {type(a)} for a tensor"; break
                        w=close(a,b)
                        if w: what=f"result {k}: {w}"; break
                    elif a!=b and not (a!=a and b!=b) and not (isinstance(b,float) and abs(a-b)<1e-4*max(1,abs(b))):
                        what=f"result {k}: {a!r} for {b!r}"; break
            if what is None and 'grads' in c:
                outs=[x for x in live(o,[]) if x.requires_grad]
                ins=[x for x in live([args,kw],[]) if x.requires_grad]
                if len(outs)!=len(c['cotangents']) or len(ins)!=len(c['grads']): what=f"GRAD {len(outs)} results with gradients for {len(c['cotangents'])}"
                else:
                    gs=torch.autograd.grad(outs,ins,c['cotangents'],allow_unused=True)
                    for k,(a,b) in enumerate(zip(gs,c['grads'])):
                        if b is None:
                            if a is not None and bool((a!=0).any()): what=f"GRAD {k} is there"
                        elif a is None:
                            if bool((b!=0).any()): what=f"GRAD {k} is missing"
                        else:
                            w=close(a,b)
                            if w: what=f"GRAD {k}: {w}"
                        if what: break
        except Exception as e:
            what=f"{type(e).__name__}: {str(e)[:300]}".replace("\n"," | ")
        if what:
            bad+=1
            def show(v):
                if isinstance(v,torch.Tensor): return f"{str(v.dtype)[6:]}{list(v.shape)}"
                if isinstance(v,(list,tuple)): return "["+", ".join(show(x) for x in v)+"]"
                if isinstance(v,dict): return "{"+", ".join(f"{k}={show(x)}" for k,x in v.items())+"}"
                return repr(v)
            print(f"{c['name']} {c['fn']}({show(c['args'])}, {show(c['kwargs'])}): {what}", flush=True)
    print(f"== {path}: {len(cases)} cases, {bad} bad", flush=True)
