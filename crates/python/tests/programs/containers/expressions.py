from collections import *
import operator
class K:
    def __init__(s, v): s.v = v
    def __repr__(s): return f'K({s.v})'
    def __lt__(s, o): return s.v < o.v
def g():
    yield 1
    yield 2

def attempt(line):
    try:
        value = eval(line)
    except BaseException as e:
        return f"{type(e).__name__}: {e}"
    return repr(value)
for line in r'''
[1,2,3][5]
[1,2,3][1:2:0]
[][0]
().index(1)
[1].index(2)
[1].remove(2)
[].pop()
[1].pop(5)
[1,2].insert('a',1)
[1]+(1,)
[1]+1
[1]*'a'
[1]*2.0
(1,)+[1]
[1,2]<[1,3], [1]<[1,0], [1,'a']==[1,'a'], [2]>[1,5], (1,2)<(1,2,3)
[1]<['a']
[1]<(1,)
[K(2),K(1)]<[K(3)]
sorted([3,'a'])
sorted([1,None])
sorted(5)
sorted([3,1,2],reverse=True), sorted('bca',key=str.upper), sorted({2:1,1:2}), sorted([(1,'b'),(1,'a')])
sorted([1],lambda x:x)
sorted([K(2),K(1)]), sorted([K(2),K(1)], key=lambda k:-k.v), min([K(2),K(1)])
[3,1].sort(), [1].reverse(), [1].append(2), [1].extend('ab'), [].clear(), [1].copy(), [1,1].count(1)
[].extend(1)
[].append()
[].append(1,2)
[].foo
[] .append.__name__, [].append.__self__, list.append
list(range(5)), list('abc'), list({1:2}), list(g()), list(map(str,[1])), list(zip([1],[2])), list()
list(1)
list(1,2)
tuple('ab'), tuple([1]), tuple(g()), (1,), ()
tuple(1)
dict(a=1), dict([(1,2)]), dict({1:2},b=3), dict(zip('ab',[1,2])), dict(), dict([[1,2],'ab'])
dict([1])
dict([(1,2,3)])
dict(1)
dict([('a')])
{}['a']
{1:2}[[1]]
{[]:1}
{{}}
{1:2}.get(3), {1:2}.get(3,4), {1:2}.pop(1), {1:2}.pop(3,5), {1:2}.setdefault(1,3), {1:2}.setdefault(4), {1:2}.items(), {1:2}.keys(), {1:2}.values(), {1:2}.copy(), {}.update({1:2}), {1:2}.popitem()
{}.pop(1)
{}.popitem()
{}.get()
{}.pop()
{}.update(1)
{}.update([1])
{}.update([(1,2,3)])
{1:2}|{3:4}, {1:2}|{1:3}, {1:2}=={1:2.0}, {1:2}!={}, {1:{2:3}}, {1:2}.keys()&{1}, {1:2}.keys()|{3}, {1:2}.items()-{(1,2)}, {1:2}.keys()^{1,5}, {1:2}.keys()=={1}
{}|1
{}|[]
{}+{}
{1:2}<{1:3}
dict.fromkeys('ab'), dict.fromkeys([1,2],0), dict.fromkeys({1:2})
dict.fromkeys(1)
reversed({1})
reversed(1)
reversed(g())
{1,2}|{3}, {1,2}&{2}, {1,2}-{2}, {1,2}^{2,3}, {1}<{1,2}, {1}<={1}, {1,2}>{1}, {1}.isdisjoint({2}), {1}.issubset([1,2]), {1}.union([2],(3,)), {1,2}.intersection([2]), {1}.difference([1]), {1}.symmetric_difference([2])
{1}|[2]
{1}<[1]
{1}+{2}
set([[]])
{1}.remove(2)
{1}.discard(2), {1}.add(2), {1}.pop(), {1}.copy(), {1}.clear(), {1}.update([2],[3])
set().pop()
set(1)
frozenset([1]).add(2)
{1}.foo
hash([])
hash({})
hash(set())
hash((1,[]))
hash((1,2))==hash((1,2)), hash((1,2)), hash(()), hash((1,)), hash((1,(2,3)))
hash(None)==hash(None), hash(True), hash(frozenset())
slice(1,2,3), slice(5), slice(1,10,2).indices(5), slice(None).indices(3), slice(-1,None,-1).indices(4), slice(1,2)==slice(1,2), slice(1).start, slice(1).stop
slice()
slice(1,2,0).indices(3)
slice('a').indices(3)
range(10)[2], range(10)[-1], range(10)[2:5], range(0,10,3)[::-1], len(range(0,10,3)), 3 in range(10), 'a' in range(3), 2.0 in range(3), range(3)==range(0,3,1), range(0)==range(2,1), range(1,10,2).index(5), range(5).count(2), hash(range(3))==hash(range(0,3)), repr(range(0,5,1)), repr(range(0,5,2)), range(10).start, range(5,1,-1)[1], list(range(5,1,-2))
range(3)[5]
range(1,2,0)
range(1.5)
range('a')
range()
range(1,2,3,4)
range(3).index(5)
range(3)+range(2)
len(5)
len(g())
iter(5)
next([])
next(iter([])), 1
next(iter([]),'d'), next(g()), list(iter(iter([1,2]).__next__, 2))
enumerate(5)
zip([1],5)
list(zip([1,2],[1],strict=True))
list(zip([1],[1,2],strict=True))
list(zip([1],[1],[],strict=True))
list(map(1,[2]))
list(map(lambda a,b:a+b,[1,2],[3])), list(filter(None,[0,1,'',2])), list(filter(lambda x:x>1,[1,2])), list(enumerate('ab',start=5)), all([]), any([]), all([1,0]), any(x>1 for x in [1,2])
list(filter(1,[1]))
all(1)
[*range(3),*'ab'], {*[1],*(2,)}, {**{1:2},**{3:4}}, (*[1],), [*{}]
[*1]
{**1}
{**[1]}
print(*1)
dict(**1)
dict(**{1:2})
(lambda *a,**k:(a,k))(*[1],2,**{'a':3},b=4)
(lambda a:a)(**{'a':1},**{'a':2})
(lambda a:a)(1,a=2)
del_ := [1,2,3].__delitem__(0)
[[]]*3, [[1]*2]*2, [0]*3
[x for x in 1]
[x for x,y in [1]]
[x for x,y in [(1,2,3)]]
Counter('abca'), Counter('abca').most_common(1), Counter(a=1)+Counter(a=2,b=1), Counter(a=3)-Counter(a=5,b=-1), Counter(a=1)|Counter(a=2), Counter(a=1)&Counter(a=2), +Counter(a=-1,b=1), -Counter(a=-1), Counter('ab')['z'], Counter(a=2).total(), list(Counter(a=2,b=0).elements()), Counter(a=1)==Counter(a=1,b=0), Counter(a=1)<=Counter(a=2), Counter([1,1]).most_common(), Counter(), Counter({'a':1}), Counter(a=1).copy()
Counter(1)
Counter.fromkeys('ab')
Counter(a=1).subtract(a=3), Counter(a='x'), Counter(a=1).update('ab')
deque([1,2,3],2), deque('abc'), deque(maxlen=3), deque([1]).pop(), deque([1,2]).popleft(), deque([1,2,3]).index(2), deque([1])+deque([2]), deque([1])*2, deque([1])==deque([1]), deque([1,2])<deque([1,3]), deque([1,2,3])[1], deque([1],maxlen=1).maxlen, list(reversed(deque([1,2]))), deque([1,2,3]).count(1), deque([1]).copy(), 1 in deque([1])
deque().pop()
deque().popleft()
deque([1])[5]
deque([1])[0:1]
deque(maxlen=-1)
deque(1)
deque([1]).index(2)
deque([1]).remove(2)
deque(maxlen=1).insert(0,1), deque([1,2,3]).rotate(1), deque([1]).extendleft('ab')
deque([1],maxlen=1).insert(0,2)
deque([1])+[2]
OrderedDict(a=1,b=2), OrderedDict([(1,2)])==OrderedDict([(1,2)]), OrderedDict([(1,2),(3,4)])==OrderedDict([(3,4),(1,2)]), OrderedDict([(1,2),(3,4)])=={3:4,1:2}, OrderedDict(a=1).popitem(last=False), OrderedDict(), list(reversed(OrderedDict(a=1,b=2))), OrderedDict(a=1)|{'b':2}, OrderedDict(a=1).move_to_end('a')
OrderedDict().move_to_end('x')
OrderedDict().popitem()
OrderedDict()['x']
defaultdict(list), defaultdict(int,a=1), defaultdict(list)['a'], defaultdict(lambda:5)['x'], defaultdict(int)|{'a':1}, defaultdict(list).default_factory, defaultdict(None,{1:2}), defaultdict(int).copy(), defaultdict(int).get('a')
defaultdict()['a']
defaultdict(1)
ChainMap({1:2},{1:3,4:5}), ChainMap({1:2},{1:3,4:5})[4], dict(ChainMap({1:2},{4:5})), ChainMap({}).new_child({1:2}), ChainMap({1:1},{2:2}).parents, list(ChainMap({1:1},{2:2})), len(ChainMap({1:1},{1:2})), ChainMap().maps, ChainMap({1:1}).get(5)
ChainMap({})['a']
ChainMap({}).pop('a')
ChainMap({}).popitem()
namedtuple('P','x y')(1)
namedtuple('P','x y')(1,2,3)
namedtuple('P','x y')(1,z=2)
namedtuple('P','def')
namedtuple('P','x x')
namedtuple('P','_x')
namedtuple('1P','x')
namedtuple('P','x')(1)._replace(y=2)
namedtuple('P','x',defaults=[1,2])
namedtuple('P','x y')._make([1])
namedtuple('P','x')(1).y
UserDict({1:2}), UserList([1]), UserString('a'), UserDict(a=1)['a'], UserList([1])+[2], UserString('ab').upper()
operator.itemgetter(1)([1,2]), operator.itemgetter(0,1)([1,2]), operator.attrgetter('real')(5), operator.attrgetter('real','imag')(5), operator.methodcaller('upper')('a'), operator.itemgetter(slice(1))([1,2]), operator.itemgetter(1), operator.attrgetter('a.b'), operator.methodcaller('f',1,k=2)
operator.itemgetter(5)([1])
operator.attrgetter('x.y')(1)
operator.indexOf([1],2)
'''.splitlines():
    if line.strip():
        print(line, '->', attempt(line))
