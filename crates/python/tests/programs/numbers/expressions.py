import math

def attempt(line):
    try:
        value = eval(line)
    except BaseException as e:
        return f"{type(e).__name__}: {e}"
    return repr(value)
for line in r'''
(5).to_bytes(2,'big'), (258).to_bytes(2,'little'), (-1).to_bytes(2,'big',signed=True), (5).to_bytes()
(256).to_bytes(1,'big')
(-1).to_bytes(1,'big')
(1).to_bytes(1,'foo')
(1).to_bytes(-1,'big')
int.from_bytes(b'\x01\x02','big'), int.from_bytes(b'\xff','big',signed=True), int.from_bytes([1,2],'little'), int.from_bytes(b'')
int.from_bytes([256], 'big')
int.from_bytes('a', 'big')
(255).bit_count(), (255).bit_length(), (0).bit_length(), (-8).bit_length(), (2**100).bit_count(), (-7).bit_count()
(3).as_integer_ratio(), (0.5).as_integer_ratio(), (0.1).as_integer_ratio(), (3).is_integer(), (3.0).is_integer(), (3.5).is_integer()
(1e308*10).as_integer_ratio()
float('nan').as_integer_ratio()
(3).conjugate(), (3).real, (3).imag, (3).numerator, (3).denominator, True.real
(0.1).hex(), float.fromhex('0x1.8p1'), float.fromhex('inf'), (1e-320).hex(), (0.0).hex(), (-1.5).hex(), float.fromhex('1.8')
float.fromhex('zz')
7//2, -7//2, 7%-3, -7%3, 7.5//2, -7.5//2, -7.5%2, divmod(-7,2), divmod(7,-2), divmod(-7.5,2), divmod(5, 2.5)
1//0
1%0
1/0
1.0//0
1.0%0
1.0/0
divmod(1,0)
divmod(1.0,0)
0**-1
0.0**-1
(-8)**(1/3), (-8.0)**0.5, 2**-1, 2**0.5, 0**0, 0.0**0, (-2)**3, (-2)**-3
10.0**400
2**10000 > 1, len(str(2**10000)), 2**64, -2**63, (-2)**63
pow(3,4,5), pow(3,-1,7), pow(2,100,10**9+7), pow(-3,3,5), pow(3,4,-5), pow(2, -1)
pow(2,-1,4)
pow(2,3,0)
pow(2.0,3,4)
pow('a',2)
1<<100, 2**100>>98, -5>>1, -1>>100, 1<<0, 0<<10**20
1<<-1
1>>-1
1>>10**30, -1>>10**30
1<<10**30
1.0<<2
1.0&2
round(2.5), round(3.5), round(-2.5), round(2.675,2), round(1234,-2), round(1250,-2), round(1350,-2), round(5,-1), round(15,-1), round(0.5), round(1e20), round(2.5,0), round(12345.678,-2)
round(float('nan'))
round(float('inf'))
round('a')
round(1.5, 'a')
int('12'), int(' 12 '), int('1_000'), int('-12'), int('+12'), int('0x1f',16), int('1f',16), int('0b11',0), int('0o17',0), int('z',36), int(b'12'), int('-0x1f', 0)
int('')
int('1__0')
int('_1')
int('1_')
int('012',0)
int('12',1)
int('12',37)
int('9',8)
int(12,10)
int('1.5')
int('a'*10)
int('a\nb')
int(None)
int([])
int('1'*5000)
int(1.9), int(-1.9), int(True), int(1e20), int('٣')
int(float('nan'))
int(float('inf'))
str(10**5000)
len(repr(10**4299))
float('1e5'), float(' 1.5 '), float('nan'), float('-inf'), float('infinity'), float('1_000.5'), float('.5'), float('5.'), float('1e400'), float('-0')
float('')
float('1.5.5')
float('1_')
float('a')
float(None)
float(10**400)
float('0x1')
1e16, 1e15, 123456789012345680.0, 1e-5, 0.0001, 1.0, 100.0, 1e100, 5e-324, 1.7976931348623157e308, -0.0, 0.1+0.2, 1e22, 1e21, 9007199254740993.0
1_000_000, 0x_ff, 1_0.0_1, 0b1_0, 1e1_0, 1_0j
1+2j, 1j**2, (1+2j)*(3-1j), (1+2j)/(3-1j), abs(3+4j), (1+2j).conjugate(), (1+2j).real, complex('1+2j'), complex(1,2), complex('j'), complex('-1-2j'), -1j, complex(0,-0.0), complex(-0.0,1)
complex('1 + 2j')
complex('a')
complex('1','2')
complex(1,'2')
complex(None)
1j<2j
1j//2
1j%2
int(1j)
float(1j)
(1+0j)==1, hash(1+0j)==hash(1), hash(1.0)==hash(1), hash(2**61-1), hash(-1), hash(2**61), hash(0.5), hash(float('inf')), hash(10**30), hash(-2**61), hash(1e300), hash(1j), hash(1+2j)
1j/0
0j**-1
0j**0, 1j**0.5, (1+1j)**10, 2**1j, (1+2j)**-2
1<'a'
1<None
[]<1
{}<{}
abs(-3), abs(-3.5), abs(True), abs(-2**100)
abs('a')
-'a'
+[]
~1.5
max(1,2.0), max(2,2.0), min(1,1.0), max([1,3,2]), max([], default=3), max('a','b',key=ord), min([[2],[1]])
max([])
max(1)
max()
max(1,'a')
max(1,2,default=3)
sum([1,2],3), sum([[1],[2]],[]), sum([0.1]*10), sum([]), sum([1.5,2]), sum((True,True))
sum(['a'])
sum(['a'],'')
sum(1)
bin(5), bin(-5), hex(255), hex(-255), oct(8), bin(0), hex(2**70)
bin(1.5)
hex('a')
bool(0.0), bool('0'), bool([]), bool({}), bool(None), bool(0j), bool(-0.0), bool(range(0))
isinstance(True,int), issubclass(bool,int), isinstance(1,(str,int)), isinstance(1, int|str), isinstance(None, int|None)
isinstance(1,1)
isinstance(1,(int,1))
issubclass(1,int)
issubclass(int,1)
math.floor(-1.5), math.ceil(-1.5), math.trunc(-1.5), math.floor(2**70+0.5), math.floor(5), math.ceil(True)
math.floor('a')
math.floor(float('nan'))
math.sqrt(-1)
math.log(0)
math.log(-1)
math.exp(1000)
math.factorial(20), math.factorial(30), math.factorial(0)
math.factorial(-1)
math.factorial(1.5)
math.comb(5,2), math.perm(5,2), math.comb(5,6), math.perm(5), math.comb(100,50)
math.comb(-1,2)
math.gcd(12,18), math.gcd(), math.gcd(0,5), math.gcd(-4,6,8), math.lcm(4,6), math.lcm(), math.lcm(0,5)
math.gcd(1.5)
math.isqrt(10**30), math.isqrt(15), math.isqrt(0)
math.isqrt(-1)
math.hypot(3,4), math.hypot(1,2,3), math.hypot(), math.dist([1,2],[4,6]), math.dist((0,),(1,))
math.dist([1],[1,2])
math.fsum([0.1]*10), math.prod([1,2,3]), math.prod([],start=5), math.prod([1.5,2]), math.sumprod([1,2],[3,4])
math.sumprod([1],[1,2])
math.isclose(1,1+1e-10), math.isclose(0,1e-10), math.isclose(0,1e-10,abs_tol=1e-9), math.isnan(float('nan')), math.isinf(-math.inf), math.isfinite(1)
math.fmod(1,0)
math.fmod(math.inf,1)
math.ldexp(1,10000)
math.pow(2,0.5), math.pow(0,0)
math.pow(0,-1)
math.pow(-1,0.5)
math.pow(10,400)
math.atan2(-0.0,-1), math.atan2(1,0), math.degrees(math.pi), math.radians(180), math.sin(1), math.cos(1e22), math.tan(1.5), math.asin(1), math.sinh(1), math.cosh(1), math.tanh(1), math.asinh(1), math.acosh(2), math.atanh(0.5), math.erf(0.5), math.erfc(0.5), math.gamma(5.5), math.lgamma(10.5), math.gamma(5)
math.asin(2)
math.acosh(0.5)
math.atanh(1)
math.gamma(0)
math.gamma(-1)
math.lgamma(0)
math.sin(math.inf)
math.tau, math.e, math.inf, math.nan, -math.nan
math.floor
math.sin('a')
math.sin()
math.sin(1,2)
math.foo
int(), float(), complex(), str(), bool(), int('7', base=8)
float(x=1)
1 .real, 1..real, 1.0.is_integer(), 1j.imag
0.1 + 0.7, 1.1 * 3, 1e-7, 1.5e-10, 123e-7, 1e5, 12345678901234567890.0, 1/3, 2/3, 100/3, 1e23, 4.35, 2.675*100, 0.3-0.1
float.__repr__(1.0), float.is_integer(2.0), int.bit_length(5), float.fromhex('-0x1.0p-1074')
1 if 0.0 else 2, not 0, not not 'a', 0 or 'x', 1 and 2, None or 0
'''.splitlines():
    if line.strip():
        print(line, '->', attempt(line))
