# argv: -v
import unittest, time
time.perf_counter = lambda: 0
class A(unittest.TestCase):
    """Doc"""
    def test_one(self):
        "first line"
        self.assertEqual(1, 2)
    def test_two(self): self.assertEqual({1, 2}, {2, 3})
    def test_three(self): self.assertCountEqual([1, 1], [1, 2])
    def test_multi(self): self.assertEqual('a\nb\nc\n', 'a\nx\nc\n')
    def test_len(self): self.assertEqual([1, 2], [1, 2, 3])
    def test_almost(self): self.assertAlmostEqual(1.0, 1.1)
    def test_raises(self): self.assertRaises(KeyError, int, '5')
    def test_raises2(self):
        with self.assertRaises(KeyError): int('x')
    def test_chain(self):
        try: 1 / 0
        except ZeroDivisionError as e: raise ValueError('v') from e
    def test_regex(self): self.assertRegex('abc', 'x+')
    def helper(self): self.fail('in helper')
    def test_helper(self): self.helper()
class B(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError('no class')
    def test_x(self): pass
@unittest.skip('whole')
class C(unittest.TestCase):
    def test_y(self): pass
class D(unittest.TestCase):
    def setUp(self): raise ValueError('setup')
    def tearDown(self): print('never')
    def test_z(self): pass
    @unittest.expectedFailure
    def test_u(self): pass
class E(unittest.TestCase):
    def runTest(self): self.addCleanup(print, 'cleaned'); self.skipTest('inside')
try: unittest.main()
except SystemExit as e: print('exit', e.code)
