"""Mocks, and what they say of their calls."""

def t(f):
    try:
        print(repr(f()))
    except BaseException as e:
        print(type(e).__name__, e)


from unittest import mock
from unittest.mock import Mock, MagicMock, patch, call, ANY, sentinel, mock_open, PropertyMock, DEFAULT, create_autospec
import re
def R(x): return re.sub(r"id='\d+'", "id", repr(x))
m = Mock(return_value=3)
t(lambda: (m(1, a=2), m.called, m.call_count, m.call_args, m.call_args_list, m.mock_calls, m.call_args.args, m.call_args.kwargs, m.call_args == call(1, a=2), m.call_args[0], m.call_args == ((1,), {"a": 2})))
m(5)
t(lambda: (m.call_args_list == [call(1, a=2), call(5)], call(5) in m.call_args_list, m.assert_called_with(5), m.assert_any_call(1, a=2), m.assert_has_calls([call(1, a=2), call(5)]), m.assert_called()))
t(lambda: (m.assert_called_once()))
t(lambda: (m.assert_called_once_with(5)))
t(lambda: (m.assert_called_with(6, b=1)))
t(lambda: (m.assert_not_called()))
t(lambda: (m.assert_any_call(9)))
t(lambda: (m.assert_has_calls([call(9)])))
t(lambda: (m.assert_has_calls([call(5), call(9)], any_order=True)))
t(lambda: (Mock().assert_called_with(1)))
t(lambda: (Mock().assert_called()))
t(lambda: (Mock(name="nm").assert_called_once()))
t(lambda: (Mock().assert_foo()))
n = Mock()
n.foo.bar(1); n.foo(2).baz(3); n()(4)
t(lambda: (n.mock_calls, n.method_calls, n.foo.mock_calls, R(n.foo.bar), R(n), R(n.foo()), R(Mock(name="x")), R(Mock(name="x").y), R(n()), n.foo is n.foo, R(n.foo().z)))
n.a.b.c = 5
t(lambda: (n.a.b.c, n.side_effect, n.configure_mock(x=1, **{"y.return_value": 7}), n.x, n.y()))
s = Mock(side_effect=[1, ValueError("v"), 3])
t(lambda: (s()))
t(lambda: (s()))
t(lambda: (s()))
t(lambda: (s()))
t(lambda: (Mock(side_effect=KeyError("k"))()))
t(lambda: (Mock(side_effect=lambda x: x * 2)(4), Mock(side_effect=lambda x: DEFAULT, return_value=9)(4)))
class T:
    attr = 1
    def meth(self, a, b=2): return a
    @property
    def prop(self): return "real"
sp = Mock(spec=T)
t(lambda: (isinstance(sp, T), R(sp), R(sp.meth), sp.meth(1) is sp.meth.return_value))
t(lambda: (sp.nope))
sp.newattr = 3
t(lambda: (sp.newattr))
t(lambda: (setattr(Mock(spec_set=T), "newattr", 1)))
t(lambda: (Mock(spec=["a"]).b))
t(lambda: (len(Mock())))
t(lambda: (Mock()[0]))
mm = MagicMock()
t(lambda: (len(mm), bool(mm), list(mm), 1 in mm, int(mm), float(mm), mm[0] is mm[1], mm.__getitem__.called, R(mm[0]), R(mm + 1), mm == mm, mm != 3, hash(mm) == hash(mm), R(mm()), str(mm) == repr(mm)))
mm.__len__.return_value = 4; mm.__getitem__.side_effect = lambda k: k * 2; mm.__iter__.return_value = [1, 2]; mm.__contains__.return_value = True
t(lambda: (len(mm), mm[5], list(mm), list(mm), 9 in mm))
with mm as e: print(e is mm.__enter__.return_value)
t(lambda: (mm.__enter__.called, mm.__exit__.call_args))
k = Mock(); k.__len__ = lambda self: 8; k.__str__ = Mock(return_value="strd")
t(lambda: (len(k), str(k)))
w = Mock(wraps=T())
t(lambda: (w.meth(5), w.meth.called, w.attr is not None))
del m.zz
t(lambda: (m.zz))
m.reset_mock()
t(lambda: (m.called, m.mock_calls, m()))
t(lambda: (sentinel.a, sentinel.a is sentinel.a, ANY == 5, call(1, ANY) == call(1, 2), repr(ANY), call.foo(1), call.a.b(2), call(1)(2), call, call().x(3), [call(1), call.f()]))
