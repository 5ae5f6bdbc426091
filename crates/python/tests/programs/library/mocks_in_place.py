from unittest import mock
from unittest.mock import Mock, MagicMock, patch, call, mock_open, PropertyMock, create_autospec
import io, json, os, unittest
class Svc:
    url = "real"
    def get(self, x): return f"real {x}"
    @staticmethod
    def st(): return "st"
with patch.object(Svc, "get", return_value="fake") as g: print(Svc().get(1), g.call_args)
print(Svc().get(1))
with patch.object(Svc, "url", "patched"): print(Svc.url)
print(Svc.url)
with patch("os.getcwd", return_value="/fake") as p: print(os.getcwd(), p.called)
print(os.getcwd() != "/fake")
@patch("os.path.exists")
@patch.object(Svc, "get")
def t(a, b, c=3):
    a.return_value = 1; b.return_value = True
    print(Svc().get(5), os.path.exists("/zz"), a is Svc.get, c)
t(); t(c=4)
with patch.dict(os.environ, {"MK": "1"}): print(os.environ["MK"])
print("MK" in os.environ)
d = {"a": 1}
with patch.dict(d, {"b": 2}, clear=True): print(d)
print(d)
pp = patch("json.dumps", side_effect=lambda o: "X"); f = pp.start(); print(json.dumps(1), f.call_count); pp.stop(); print(json.dumps(1))
with patch("builtins.open", mock_open(read_data="l1\nl2\n")) as mo:
    with open("x.txt") as fh: print(fh.read())
    with open("x.txt") as fh: print([l for l in fh], )
    with open("y", "w") as fh: fh.write("z")
    mo.assert_called_with("y", "w"); print(mo.call_args_list, mo().write.call_args)
with patch.object(Svc, "url", new_callable=PropertyMock) as pm:
    pm.return_value = 7; print(Svc().url, pm.call_count)
try:
    with patch.object(Svc, "zzz"): pass
except AttributeError as e: print(str(e))
with patch.object(Svc, "zzz", 5, create=True): print(Svc.zzz)
print(hasattr(Svc, "zzz"))
with patch.multiple(Svc, url="m", get=mock.DEFAULT) as vals: print(Svc.url, sorted(vals))
au = create_autospec(Svc)
i = au(); i.get.return_value = 3; print(i.get(1))
def fn(a, b): pass
af = create_autospec(fn, return_value=4); print(af(1, 2))
try: af(1)
except TypeError as e: print(e)
class TC(unittest.TestCase):
    @patch("os.getcwd")
    def test_a(self, cw):
        cw.return_value = "q"
        self.assertEqual(os.getcwd(), "q")
    def test_b(self):
        m = Mock(); m(1); m.assert_called_once_with(1)
        with self.assertRaises(AssertionError): m.assert_not_called()
r = unittest.TextTestRunner(stream=io.StringIO()).run(unittest.TestLoader().loadTestsFromTestCase(TC)); print(r.testsRun, r.wasSuccessful(), r.failures, r.errors)
model = MagicMock(); model.train.return_value = model; model.parameters.return_value = iter([1, 2])
print(list(model.train().parameters()), model.mock_calls)
opt = Mock(); opt.step(); opt.zero_grad(set_to_none=True); print(opt.method_calls); opt.assert_has_calls([call.step(), call.zero_grad(set_to_none=True)])
print([c[0] for c in opt.mock_calls], opt.step.call_count)

