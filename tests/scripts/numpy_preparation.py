"""Expressions of NumPy as scripts that prepare data have them: what each is, or how it is refused."""
import io
import warnings

import numpy as np

warnings.simplefilter("ignore")
a = np.arange(24).reshape(2, 3, 4)
texts = ["1", "2.5"]
np.random.seed(3)
saved = np.random.get_state()
first = np.random.rand(2)
np.random.set_state(saved)
print(saved[0], saved[1][:3], saved[1].dtype, saved[2:], (first == np.random.rand(2)).all() == True)
source = np.random.default_rng(7)
kept = source.bit_generator.state
first = source.normal(size=3)
source.bit_generator.state = kept
print(kept["bit_generator"], first, source.normal(size=3).tolist() == first.tolist())
for line in r'''
np.array(texts,dtype=float)
np.asarray(texts,dtype=np.float32)
np.array(["1","2"],dtype=int)
np.array(["1","2"]).astype(int)
np.array([["1","2"],["3","4"]],dtype=np.float64)
np.array(texts,dtype="float32")
np.array(["a"],dtype=float)
np.float64("1.5")
np.full(2,"3").astype(float)
np.genfromtxt(io.StringIO("a,b\n1,x\n2,y"),delimiter=",",dtype=str,skip_header=1)
np.genfromtxt(io.StringIO("1,x\n2,y"),delimiter=",",usecols=(1,),dtype=str)
np.genfromtxt(io.StringIO("1,\n2,3"),delimiter=",",filling_values=-1)
np.loadtxt(io.StringIO("1 x\n2 y"),dtype=str)
np.genfromtxt(io.StringIO("a,b\n1,2\n3,4"),delimiter=",",names=True)["b"]
np.loadtxt(io.StringIO("1 2\n3 4"),dtype=int,unpack=True)
np.zeros((2,2)).astype(str)
np.random.RandomState(1).get_state()[0]
np.random.default_rng(1).bit_generator.state["bit_generator"]
[np.array(["1.5","2"],dtype=object).astype(float), np.array([1,"2"])]
np.fromstring("1 2 3",sep=" ")
np.array("5",dtype=int)
np.array([True,"x"])
np.array([["a","1"],["b","2"]])[:,1].astype(np.float32)
np.array(["1","0"]).astype(bool)
np.array([1.5,None],dtype=float)
np.moveaxis(a, 0, -1).shape
np.tensordot(a, a, axes=([1, 2], [1, 2]))
np.take_along_axis(a, a.argmax(2)[..., None], 2).squeeze()
np.lib.stride_tricks.sliding_window_view(np.arange(6), 3).sum(1)
np.select([a[0, 0] < 1, a[0, 0] > 2], [-1, 1], 0)
np.ravel_multi_index((1, 2), (3, 4))
np.unravel_index(7, (2, 4))
np.gradient(np.array([1., 4, 9]))
np.vectorize(lambda v: v * 2)([1, 2])
np.isin([1, 5], [5])
np.kron(np.eye(2), [[1, 2]])
np.convolve([1, 2, 3], [1, 1], "same")
np.polyfit([0, 1, 2], [1, 3, 5], 1).round(3)
np.triu_indices(3, 1)
np.lexsort(([1, 0, 1], [2, 2, 1]))
np.ma.masked_where(a[0, 0] > 1, a[0, 0]).mean()
np.packbits([1, 0, 1])
np.packbits(np.array([1, 0, 1],dtype=np.uint8))
np.unpackbits(np.array([5],dtype=np.uint8))
np.finfo(np.float32).eps
np.iinfo(np.int16).max
np.datetime64("2024-02-29") + np.timedelta64(1, "D")
np.trapezoid([1,2,3],dx=.5)
np.cumprod([1,2,3])
np.array_split(np.arange(5),2)
np.histogram2d([0,1,1],[0,1,1],bins=2)[0]
np.histogram([1,2,2,3],bins="auto")
np.quantile([1,2,3,4],[.25,.5],method="lower")
np.nanargmax([1,np.nan,3])
np.average([1,2,3],weights=[1,1,2])
np.argpartition([3,1,2],1)[:2]
np.unique([[1,2],[1,2],[3,4]],axis=0)
np.unique([3,1,1],return_index=True)
np.setxor1d([1,2],[2,3])
np.union1d([1,2],[2,3])
np.block([[np.eye(1),np.zeros((1,1))]])
np.rot90(a[0])
np.fliplr(a[0])[0]
np.array2string(np.array([1.5,2]),separator=", ",formatter={"float_kind":lambda v:f"{v:.1f}"})
np.frombuffer(b"\\x01\\x02",dtype=np.uint8)
np.fromiter((i*i for i in range(3)),dtype=float)
np.fromfunction(lambda i,j:i+j,(2,2))
np.indices((2,2)).shape
np.ix_([0,1],[1,2])
np.put_along_axis(np.zeros((2,2)),np.array([[0],[1]]),1,1)
np.ediff1d([1,3,6])
np.piecewise(np.array([-1.,1]),[np.array([True,False])],[0,lambda x:x*2])
np.bincount([0,1,1],weights=[.5,1,1])
np.bitwise_xor.reduce([1,2,3])
np.logical_or.reduce([[0,1],[0,0]],axis=0)
np.add.accumulate([1,2,3])
np.multiply.outer([1,2],[3,4])
np.maximum.reduceat([1,5,2,7],[0,2])
np.spacing(1.0)
np.nextafter(1,2)
np.sinc(.5)
np.i0(1.0)
np.hanning(4)
np.blackman(4)
np.hamming(4)
np.kaiser(4,14)
np.vander([1,2],3)
np.roots([1,-3,2])
np.poly1d([1,2,3])(2)
np.polyval([1,2,3],2)
np.linalg.matrix_power(np.array([[1,1],[0,1]]),3)
np.linalg.norm(a,axis=(1,2))
np.linalg.lstsq(np.eye(2),np.ones(2),rcond=None)[0]
np.linalg.eigvalsh(np.eye(2))
np.linalg.multi_dot([np.eye(2)]*3)
np.floor_divide(-7,2), np.mod(-7,2), np.fmod(-7,2), np.remainder(7,-2)
np.divmod(7,3)
np.float32(1)/3
np.float32(1)+np.float64(1)
type(np.float32(1)*2.0)
np.int32(7)//2
np.array([1,2],dtype=np.int8)*100
np.uint8(200)+np.uint8(100)
(np.arange(3)>1)*1.0
np.array([1,2,3])[[True,False,True]]
np.array([3,1,2]).argsort(kind="stable")
np.copyto(np.zeros(2),1)
np.array([1.,2.]).tobytes()
np.array([1,2]).astype("<i4").tobytes()
np.array([1.0]).item()
np.array([[1,2],[3,4]]).flat[2]
list(np.ndenumerate(np.eye(2)))
list(np.ndindex(2,1))
[x for x in np.nditer(np.arange(3))]
np.array([1,2]).view(np.float64).shape
np.broadcast_to([1,2],(2,2)).strides
np.array([[1,2],[3,4]]).strides
np.may_share_memory(a,a[0])
np.shares_memory(a,a[0])
np.array([1,2],dtype=object)
np.array([[1],[2,3]],dtype=object)
np.array([(1,2.)],dtype=[("a",int),("b",float)])["b"]
np.rec.fromarrays([[1,2],[3,4]],names="a,b").a
np.char.upper(["a"])
np.random.default_rng(0).integers(0,10,3)
np.random.default_rng(0).multivariate_normal([0,0],np.eye(2)).round(3)
np.random.RandomState(0).multivariate_normal([0,0],np.eye(2)).round(3)
np.random.default_rng(0).dirichlet([1,1]).round(3)
np.random.default_rng(0).choice(5,3,replace=False)
np.random.default_rng(0).shuffle([1,2,3])
np.random.default_rng(0).permuted([1,2,3])
np.random.default_rng(0).spawn(2)[0].random()
np.random.SeedSequence(1).generate_state(2)
np.random.RandomState(0).triangular(0,1,2).round(3)
np.random.RandomState(0).dirichlet([1,1]).round(3)
np.random.RandomState(0).vonmises(0,1).round(3)
np.random.RandomState(0).zipf(2,3)
np.random.RandomState(0).pareto(2).round(3)
np.random.RandomState(0).weibull(2).round(3)
np.random.RandomState(0).hypergeometric(5,5,3)
np.random.RandomState(0).multinomial(5,[.5,.5])
np.random.RandomState(0).bytes(3)
np.random.RandomState(0).tomaxint()
np.random.RandomState(0).standard_cauchy().round(3)
np.random.RandomState(0).random_integers(1,3)
np.random.RandomState(0).logistic().round(3)
np.random.RandomState(0).noncentral_chisquare(2,1).round(3)
np.save.__name__
np.r_[1:3,5]
np.c_[[1,2],[3,4]]
np.s_[1:2, ::2]
np.index_exp[1]
np.isclose([1,2],[1,2.1])
np.nan_to_num([np.nan,np.inf],posinf=9)
np.errstate(all="ignore").__class__.__name__
np.seterr(all="ignore")["divide"]
np.busday_count("2024-01-01","2024-01-08")
np.base_repr(10,3)
np.binary_repr(5,8)
np.format_float_positional(1.5,trim="-")
np.typename("f") if hasattr(np,"typename") else None
np.can_cast(np.int32,np.float32)
np.result_type(np.int8,np.float32)
np.promote_types("i4","f4")
np.dtype("float32").itemsize
np.dtype([("a","f4")]).names
np.array([1]).dtype.kind
np.issubdtype(np.float32,np.floating)
np.mean([[1,2],[3,4]],axis=0,dtype=np.float32)
np.std([1,2,3],ddof=1)
np.ptp([1,5])
np.median([[1,3],[2,4]],axis=1)
np.cross([1,0,0],[0,1,0])
np.trace(np.eye(3))
np.tril(np.ones((2,2)))
np.diag_indices(2)
np.fill_diagonal(np.zeros((2,2)),1)
np.swapaxes(a,0,1).shape
np.expand_dims(a,(0,2)).shape
np.squeeze(np.ones((1,2,1)),0).shape
np.delete([1,2,3],1)
np.insert([1,2,3],1,9)
np.append([1],[2])
np.resize([1,2],(3,))
np.trim_zeros([0,1,0])
np.argwhere([[0,1],[1,0]])
np.extract([True,False],[1,2])
np.place(np.arange(2),[True,False],[5])
np.put(np.arange(2),[0],[5])
np.choose([0,1],[[1,2],[3,4]])
np.compress([1,0],[1,2])
np.heaviside([-1,0,1],.5)
np.signbit([-1.,1])
np.copysign(1,-1)
np.frexp(8.)
np.ldexp(1.,3)
np.hypot(3,4)
np.deg2rad(180)
np.arctan2(1,1)
np.logaddexp(1,2)
np.logaddexp2(1,2)
np.log1p(1)
np.cbrt(8)
np.square(3)
np.gcd(4,6)
np.lcm(4,6)
np.around(2.5), np.rint(2.5), np.trunc(-1.5), np.fix(-1.5)
np.angle(1j)
np.fft.fft([1,2,3]).round(2)
np.fft.rfftfreq(4)
np.fft.fftshift([1,2,3])
np.geomspace(1,8,4)
np.logspace(0,2,3)
np.identity(2)
np.tri(2)
np.empty_like(np.eye(2)).shape
np.full_like(np.eye(2),3)
np.asfortranarray(np.eye(2)).flags["F_CONTIGUOUS"]
np.ascontiguousarray(a.T).flags.c_contiguous
np.atleast_2d(1).shape
np.dstack([[1],[2]]).shape
np.hsplit(np.eye(2),2)[0].shape
np.stack([[1],[2]],axis=-1)
np.nanmax([1,np.nan])
np.nancumsum([1,np.nan])
np.corrcoef([1,2,3],[1,2,4])
np.correlate([1,2,3],[0,1,.5])
np.digitize([.5],[0,1])
np.apply_over_axes(np.sum,a,[0,2]).shape
np.testing.assert_allclose([1],[1])
np.array_equal([1],[1])
np.array_equiv([1],[[1]])
np.amax(a), np.amin(a,axis=0).shape
np.min(a,initial=-5)
np.shape([[1]])
np.size(a), np.ndim(a)
np.tile(a,2).shape
np.repeat([1,2],[2,1])
np.inner([1,2],[3,4]), np.vdot([1,2],[3,4]), np.dot(2,3)
np.matmul(np.ones((2,1,3)),np.ones((3,2))).shape
np.searchsorted([1,2,3],2,side="right")
np.__version__[:1]
np.array([1,2,3]).searchsorted(2)
np.array([1.123456789,2e-10,1e10])
np.array([1e-5,1.])
np.array([[1.5,np.nan],[np.inf,-1]])
np.array([1+2j])
np.array([])
np.array(5)
np.zeros((0,3))
np.arange(2000)
np.array([0.1+0.2, 1/3], dtype=np.float32)
str(np.array([[True,False]]))
np.float64(3)
np.float32(0.1)
np.int64(3)
np.array(["a","bc"])
'''.strip().splitlines():
    try:
        print(line, "=>", repr(eval(line)))
    except Exception as e:
        print(line, "=>", type(e).__name__, e)
