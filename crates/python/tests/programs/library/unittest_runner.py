import unittest, sys, io
class T(unittest.TestCase):
    @classmethod
    def setUpClass(cls): cls.log = []
    def setUp(self): self.addCleanup(lambda: None); self.x = 1
    def tearDown(self): pass
    def test_eq(self): self.assertEqual(1, 1); self.assertNotEqual(1, 2)
    def test_fail(self): self.assertEqual([1, 2, 3], [1, 2, 4])
    def test_err(self): raise ValueError('boom')
    def test_raises(self):
        with self.assertRaises(ZeroDivisionError) as cm: 1 / 0
        self.assertIn('division', str(cm.exception))
        with self.assertRaisesRegex(ValueError, 'inv.*'): int('x')
        self.assertRaises(KeyError, lambda: {}['a'])
    def test_more(self):
        self.assertTrue(1); self.assertFalse(0); self.assertIsNone(None); self.assertIsInstance(1, int); self.assertAlmostEqual(1.00000001, 1); self.assertGreater(2, 1); self.assertLessEqual(1, 1); self.assertCountEqual([1, 2], [2, 1]); self.assertRegex('abc', 'b'); self.assertNotIn(1, []); self.assertDictEqual({1: 2}, {1: 2}); self.assertSequenceEqual([1], (1,)); self.assertListEqual([1], [1]); self.assertTupleEqual((1,), (1,)); self.assertSetEqual({1}, {1}); self.assertNotAlmostEqual(1, 2); self.assertIs(None, None); self.assertIsNot(1, None); self.assertLess(1, 2); self.assertGreaterEqual(1, 1); self.assertNotIsInstance(1, str); self.assertNotRegex('a', 'b'); self.assertMultiLineEqual('a', 'a')
    @unittest.skip('later')
    def test_skip(self): pass
    @unittest.skipIf(True, 'cond')
    def test_skipif(self): pass
    @unittest.expectedFailure
    def test_xfail(self): self.fail('x')
    def test_sub(self):
        for i in range(3):
            with self.subTest(i=i): self.assertNotEqual(i, 1)
    def test_warn_log(self):
        import warnings, logging
        with self.assertWarns(UserWarning): warnings.warn('x')
        with self.assertLogs('foo', level='INFO') as cm: logging.getLogger('foo').info('hi')
        self.assertEqual(cm.output, ['INFO:foo:hi'])
    def test_msg(self): self.assertTrue(False, 'my message')
    def test_dict(self): self.assertEqual({'a': 1}, {'a': 2})
    def test_str(self): self.assertEqual('abc', 'abd')
    def test_in(self): self.assertIn(3, [1, 2])
    def test_none(self): self.assertIsNone(5)
buf = io.StringIO()
suite = unittest.TestLoader().loadTestsFromTestCase(T)
res = unittest.TextTestRunner(stream=buf, verbosity=2).run(suite)
import re
print(re.sub(r'in \d\.\d+s', 'in Xs', buf.getvalue()))
print(res.testsRun, len(res.failures), len(res.errors), len(res.skipped), res.wasSuccessful(), len(res.expectedFailures), res)
