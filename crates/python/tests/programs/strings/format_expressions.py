from decimal import Decimal
from fractions import Fraction
import datetime
class F:
    def __format__(self, s): return f"<{s}>"

def attempt(line):
    try:
        value = eval(line)
    except BaseException as e:
        return f"{type(e).__name__}: {e}"
    return repr(value)
for line in r'''
f"{3.14159:.3}"
f"{3.14159:10.3f}|"
f"{1e10:g} {1e16:g} {123456789:g} {0.0001:g} {0.00001:g}"
f"{1234567.891:,.2f} {1234567.891:_.2f} {1234567:_} {1234567:,}"
f"{255:#x} {255:#o} {255:#b} {255:X} {255:#X}"
f"{255:#010x} {255:010b} {-255:+#x}"
f"{0xffffffff:_x} {0b1010101010:_b}"
f"{42:c} {0x1F600:c}"
f"{3:.2%} {0.12345:.1%} {0.5:%}"
f"{1.5:e} {1.5:.0e} {12345.678:E} {0:e}"
f"{1.0:#.0f} {1.0:#g} {1.0:.0f}"
f"{float('nan'):10} {float('inf'):+} {float('-inf'):010} {float('nan'):F}"
f"{True:d} {True} {True:5} {True!s:5}|"
f"{'abc':>10}|{'abc':<10}|{'abc':^10}|{'abc':*^10}|{'abc':.2}|{'abc':5.1}|"
f"{'abc':=10}"
f"{'abc':010}"
f"{'abc':+}"
f"{'abc':d}"
f"{'abc':,}"
f"{3:s}"
f"{3.5:d}"
f"{3:,x}"
f"{3:.2d}"
f"{3:n} {1234.5:n}"
f"{[1]:5}"
f"{None:5}"
f"{None}"
f"{1+2j:.2f} {1+2j:>20} {1.5-2j:+.1e} {complex(1,float('nan'))}"
f"{1+2j:=20}"
f"{1+2j:020}"
f"{F():abc} {F()!r:.3}"
f"{datetime.date(2024,3,1):%d/%m/%Y} {datetime.date(2024,3,1)}"
f"{Decimal('1.2345'):.2f} {Decimal('1234567.5'):,} {Decimal('1E+5')} {Decimal('0.00001234'):g}"
f"{{}} {{{1}}} {{{{"
f"{1!r:>5} {'é'!a} {'x'!s}"
f"{'a' 'b'} {'a' if 1 else 'b'} {(lambda x: x*2)(3)}"
f"{1:{2}{3}} {3.14159:{'.'}{2}f} {5:{'>'}{10}}"
f"{1:>{3+4}}|"
f"{3=} {3 = } {3=:>5} {'a'=} {'a'=!s} {'a'=!r:>6}"
f"{ 1 + 1 = }"
'{:>{w}}'.format(3, w=5)
'{0}{1}{0}'.format('a','b')
'{}{0}'.format(1,2)
'{0}{}'.format(1,2)
'{a.real} {b[0]} {b[x]}'.format(a=1, b={0:1,'x':2})
'{b[0]} {b[1]}'.format(b=[1,2])
'{b[-1]}'.format(b=[1,2])
'{'.format()
'}'.format()
'{0'.format(1)
'{0!x}'.format(1)
'{0!}'.format(1)
'{x}'.format()
'{1}'.format(0)
'{0.foo}'.format(1)
'{:{}}'.format(1)
'{0:{1}}'.format(1, 10)
'{!r:^10}|{!s}'.format('a', 'b')
'{:%H:%M}'.format(datetime.time(1,2))
'{:10.3}|{:<5}|{:05}|{:+d}|{: d}|{:x}'.format('abcdef', 3, 3, 3, 3, 255)
format(3.0, '')
format(1e22), format(1e16), format(123456789012345678)
format(10**20, ','), format(-10**20, '_'), format(10**30,'e'), format(10**30, '.3f')
format(10**400, 'f')
format(1, '1000000000000000000000d')
format(1, '.')
format(1, 'z')
format(-0.0001, 'z.1f'), format(-0.0, 'z')
format(1, 'é')
format(3, 'é>5')
format(1.5, '<<5')
format('a', '\n>3')
format(1.23456789e-7), format(0.1+0.2), format(1/3, '.20f'), format(2.5, '.0f'), format(3.5, '.0f'), format(1e300, '.5g')
format(12345678.9, '015,.1f'), format(-5, '08,'), format(1234, '010,d'), format(1234.5, '012_.2f')
format(b'abc', '5')
'%d %i %u' % (1.9, True, -3)
'%5d|%-5d|%05d|%+d|% d' % (42,42,42,42,42)
'%x %X %#x %o %#o' % (255,255,255,8,8)
'%s %r %a' % ('é','é','é')
'%c %c' % (65, 'x')
'%c' % 'xy'
'%c' % 1.5
'%e %E %g %G %f %F' % (1.5,1.5,1e-10,1e-10,1.5,float('inf'))
'%.3s|%10.2s|%-10s|' % ('abcdef','abcdef','ab')
'%*d|%-*d|%.*f' % (5,1,5,1,2,3.14159)
'%(a)s %(b)05d' % {'a':1,'b':2}
'%(a)s' % {'b':1}
'%(a)s' % 3
'%s' % (1,2)
'%s %s' % (1,)
'%d' % 'a'
'%d' % None
'%x' % 1.5
'%f' % 'a'
'%' % ()
'%q' % 1
'%%' % ()
'%5%|' % ()
'%s' % {'a':1}
'%s' % [1,2]
'%s' % ((1,2),)
'abc' % ()
'abc' % 1
'abc' % {}
'%.0f %.0f %.0f' % (0.5,1.5,2.5)
'%#.3g %g' % (1.0, 1e5)
'%ld %hd %Lf' % (1,2,3.0)
'%i' % 10**25
'%.10d' % 42
'%+.2e' % 12345.678
'%s' % b'abc'
b'%s %d %b' % (b'abc', 3, b'x')
b'%s' % 'a'
b'%a %r' % ('é', 3)
b'%c%c' % (65, b'B')
b'%(x)s' % {b'x': b'1'}
'%(x' % {}
'%(x)' % {'x':1}
'%d %(x)s' % {'x':1}
'%*s' % ('a', 1)
'%.*f' % (1, )
"{:d}".format(2**100), "{:e}".format(2**100), "{:,}".format(2**64)
"{:08.3f}".format(-3.14159), "{:+08.3f}".format(3.14159), "{:<+8.3f}|".format(3.14159)
"{0[a]}{0[b]}".format({'a':1,'b':2})
"{0[a b]}".format({'a b':1})
"{a[0][1]}".format(a=[[1,2]])
"{.real}".format(1)
"{[0]}".format([5])
"{0[}".format([1])
"{0[]}".format([1])
"{0.}".format(1)
"{ }".format(1)
"{ 0}".format(1)
"{-1}".format(1)
str.format('{}', 1), str.format_map('{a}', {'a': 1})
'{a}'.format_map({})
'''.splitlines():
    if line.strip():
        print(line, '->', attempt(line))
