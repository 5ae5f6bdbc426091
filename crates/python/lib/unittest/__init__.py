"""Tests in classes, and their runner."""

import sys
import time
import traceback


class SkipTest(Exception):
    pass


def skip(reason):
    def mark(test):
        def skipped(self):
            raise SkipTest(reason)
        return skipped
    return mark


def skipIf(condition, reason):
    return skip(reason) if condition else lambda test: test


def skipUnless(condition, reason):
    return skipIf(not condition, reason)


class _Raises:
    def __init__(self, expected, pattern=None):
        self._expected, self._pattern, self.exception = expected, pattern, None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        if value is None:
            raise AssertionError(f"{getattr(self._expected, '__name__', self._expected)} not raised")
        if not isinstance(value, self._expected):
            return False
        self.exception = value
        if self._pattern is not None:
            import re
            if not re.search(self._pattern, str(value)):
                raise AssertionError(f'"{self._pattern}" does not match "{value}"')
        return True


class TestCase:
    failureException = AssertionError

    def __init__(self, methodName="runTest"):
        self._testMethodName = methodName

    def setUp(self):
        pass

    def tearDown(self):
        pass

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def subTest(self, msg=None, **params):
        from contextlib import nullcontext
        return nullcontext()

    def skipTest(self, reason):
        raise SkipTest(reason)

    def fail(self, msg=None):
        raise AssertionError(msg)

    def _check(self, good, standard, msg):
        if not good:
            raise AssertionError(standard if msg is None else f"{standard} : {msg}")

    def assertTrue(self, expr, msg=None):
        self._check(expr, f"{expr!r} is not true", msg)

    def assertFalse(self, expr, msg=None):
        self._check(not expr, f"{expr!r} is not false", msg)

    def assertEqual(self, first, second, msg=None):
        self._check(first == second, f"{first!r} != {second!r}", msg)

    def assertNotEqual(self, first, second, msg=None):
        self._check(first != second, f"{first!r} == {second!r}", msg)

    def assertAlmostEqual(self, first, second, places=7, msg=None, delta=None):
        apart = abs(first - second)
        good = first == second or (apart <= delta if delta is not None else round(apart, places) == 0)
        self._check(good, f"{first!r} != {second!r} within " + (f"{delta!r} delta" if delta is not None else f"{places} places"), msg)

    def assertNotAlmostEqual(self, first, second, places=7, msg=None):
        self._check(round(abs(first - second), places) != 0, f"{first!r} == {second!r} within {places} places", msg)

    def assertIs(self, first, second, msg=None):
        self._check(first is second, f"{first!r} is not {second!r}", msg)

    def assertIsNot(self, first, second, msg=None):
        self._check(first is not second, f"unexpectedly identical: {first!r}", msg)

    def assertIsNone(self, obj, msg=None):
        self._check(obj is None, f"{obj!r} is not None", msg)

    def assertIsNotNone(self, obj, msg=None):
        self._check(obj is not None, "unexpectedly None", msg)

    def assertIn(self, member, container, msg=None):
        self._check(member in container, f"{member!r} not found in {container!r}", msg)

    def assertNotIn(self, member, container, msg=None):
        self._check(member not in container, f"{member!r} unexpectedly found in {container!r}", msg)

    def assertIsInstance(self, obj, cls, msg=None):
        self._check(isinstance(obj, cls), f"{obj!r} is not an instance of {cls!r}", msg)

    def assertGreater(self, a, b, msg=None):
        self._check(a > b, f"{a!r} not greater than {b!r}", msg)

    def assertGreaterEqual(self, a, b, msg=None):
        self._check(a >= b, f"{a!r} not greater than or equal to {b!r}", msg)

    def assertLess(self, a, b, msg=None):
        self._check(a < b, f"{a!r} not less than {b!r}", msg)

    def assertLessEqual(self, a, b, msg=None):
        self._check(a <= b, f"{a!r} not less than or equal to {b!r}", msg)

    def assertRaises(self, expected, function=None, *args, **kwargs):
        if function is None:
            return _Raises(expected)
        with _Raises(expected):
            function(*args, **kwargs)

    def assertRaisesRegex(self, expected, pattern, function=None, *args, **kwargs):
        if function is None:
            return _Raises(expected, pattern)
        with _Raises(expected, pattern):
            function(*args, **kwargs)

    assertListEqual = assertTupleEqual = assertDictEqual = assertSetEqual = assertMultiLineEqual = assertSequenceEqual = assertEqual


def _cases(module):
    return [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, TestCase) and v is not TestCase]


def main(module="__main__", argv=None, exit=True, verbosity=1, **kwargs):
    """Runs the tests of a module and, as CPython does, reports to the error output."""
    marks, problems, count, skipped, start = "", [], 0, 0, time.time()
    for case in _cases(sys.modules[module] if isinstance(module, str) else module):
        case.setUpClass()
        for name in sorted([n for n in dir(case) if n.startswith("test")]):
            test, count, mark = case(name), count + 1, "."
            try:
                test.setUp()
                try:
                    getattr(test, name)()
                finally:
                    test.tearDown()
            except SkipTest:
                mark, skipped = "s", skipped + 1
            except Exception as e:
                mark = "F" if isinstance(e, AssertionError) else "E"
                problems.append(("FAIL" if mark == "F" else "ERROR", f"{name} ({case.__module__}.{case.__name__}.{name})", traceback.format_exc()))
            marks += mark
        case.tearDownClass()
    out = sys.stderr
    print(marks, file=out)
    for kind, what, text in problems:
        print("=" * 70, f"{kind}: {what}", "-" * 70, text, sep="\n", file=out)
    print("-" * 70, f"Ran {count} test{'' if count == 1 else 's'} in {time.time() - start:.3f}s\n", sep="\n", file=out)
    parts = [f"{n}={sum([1 for k, _, _ in problems if k == w])}" for n, w in (("failures", "FAIL"), ("errors", "ERROR")) if w in [k for k, _, _ in problems]]
    parts += [f"skipped={skipped}"] if skipped else []
    print(("FAILED" if problems else "OK") + (f" ({', '.join(parts)})" if parts else ""), file=out)
    if exit:
        sys.exit(1 if problems else 0)
