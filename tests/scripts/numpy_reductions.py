import numpy as np
a = np.array([[1.,2.,3.],[4.,5.,6.]])
m = a > 2
print(np.sum(a, where=m), a.sum(axis=0, where=m), a.sum(axis=1, initial=10), np.prod(a, where=m), np.max(a, initial=10), np.min(a, axis=0, initial=2, where=m), a.mean(where=m), a.mean(axis=1, where=[True,True,False]), a.std(where=m), a.var(where=m), np.any(m, where=[[True],[False]]), np.all(m, where=~m), np.all(m, axis=1, where=[False,True,True]))
print(np.sum([1,2,3], initial=5), np.max([], initial=-1), np.min(np.array([], dtype=np.int64), initial=3), np.nansum([1,np.nan], initial=1.0), np.nanmax([np.nan, 3], initial=5), np.add.reduce([1,2,3], initial=4), np.maximum.reduce([1,2,3], initial=7), np.multiply.reduce([1,2,3], where=[True,False,True]))
try: np.max(a, where=m)
except ValueError as e: print(e)
print(np.max(a, axis=0, where=m, initial=-np.inf, keepdims=True))
try: np.max([])
except ValueError as e: print(e)
print(np.AxisError if hasattr(np, "AxisError") else np.exceptions.AxisError)
for f in [lambda: a.sum(axis=2), lambda: np.concatenate([a,a], axis=3), lambda: np.expand_dims(a, 5), lambda: np.mean(a, axis=-3), lambda: np.swapaxes(a,0,4), lambda: np.moveaxis(a,0,4), lambda: np.stack([a,a], axis=4), lambda: np.sort(a, axis=3), lambda: np.argmax(a, axis=7), lambda: np.cumsum(a, axis=3), lambda: np.transpose(a, (0,2)), lambda: np.flip(a, 3), lambda: np.split(a, 2, axis=3), lambda: np.repeat(a,2,axis=3), lambda: np.take(a,[0],axis=3), lambda: np.squeeze(a,axis=3), lambda: np.std(a, axis=4), lambda: np.diff(a,axis=3),lambda: np.median(a,axis=3)]:
    try: f(); print("ok?")
    except np.exceptions.AxisError as e: print(type(e).__name__, e, isinstance(e, ValueError), isinstance(e, IndexError))
    except Exception as e: print("E", type(e).__name__, e)
import warnings
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    print(np.array([1,2]) // np.array([0,1]), np.array([1,2]) % np.array([0,1]), np.array([1,2]) / np.array([0,1]), np.array([5,-5],dtype=np.int32)//0, np.divmod(np.array([7,8]), 0), np.int64(1)//np.int64(0) , np.int64(3)%np.int64(0), np.array([1.,0.])//0, np.floor_divide(3, np.array([0])))
    for x in w: print(x.category.__name__, x.message)
with np.errstate(divide="ignore", invalid="ignore"):
    print(np.array([1,2])//0, np.array([1.])/0)
r = np.random.default_rng(0)
print(r.random(3, dtype=np.float32)); print(r.random(dtype=np.float32)); print(r.standard_normal(4, dtype=np.float32)); print(r.standard_normal((2,2), dtype='float32').dtype); print(r.random(2)); print(r.standard_exponential(3, dtype=np.float32)); print(r.random(3)); print(r.standard_gamma(2., 2, dtype=np.float32)); print(r.integers(0,10,5)); print(r.random(5,dtype='f')); print(r.integers(0,10,3,dtype=np.int32))
out = np.zeros(3); np.sum(a, axis=0, out=out); print(out)
print(np.nanmean([[1, np.nan], [3, 4]], axis=1, keepdims=True), np.nanstd([1, np.nan, 3]), np.nanmax([[1, np.nan]], axis=0, initial=0))
with np.errstate(divide="raise"):
    try:
        np.array([1]) // 0
    except FloatingPointError as error:
        print(error)
old = np.seterr(all="ignore")
print(old, np.array([1, 2]) % 0)
np.seterr(**old)
r = np.random.default_rng(1)
print(r.random(out=np.empty(2, dtype=np.float32), dtype=np.float32), r.standard_gamma(0.5, 3, dtype=np.float32), r.standard_normal(600, dtype=np.float32).sum())
print(r.standard_exponential(600, dtype=np.float32).max(), r.standard_gamma(1.0, dtype=np.float32))
