"""Tests in classes, and their runner."""

import sys
import time
import traceback

_FILE = (lambda: None).__code__.co_filename


class SkipTest(Exception):
    pass


def skip(reason=""):
    def mark(test):
        if not isinstance(test, type):
            from functools import wraps

            def skipped(*args, **kwargs):
                raise SkipTest(reason)
            test = wraps(test)(skipped)
        test.__unittest_skip__, test.__unittest_skip_why__ = True, reason
        return test
    if callable(reason):
        test, reason = reason, ""
        return mark(test)
    return mark


def skipIf(condition, reason):
    return skip(reason) if condition else lambda test: test


def skipUnless(condition, reason):
    return skipIf(not condition, reason)


def expectedFailure(test):
    test.__unittest_expecting_failure__ = True
    return test


class _Context:
    def __init__(self, case, expected, pattern=None, msg=None):
        self._case, self._expected, self._pattern, self._msg, self.exception, self._by = case, expected, pattern, msg, None, ""

    def _name(self):
        names = [k.__name__ for k in (self._expected if isinstance(self._expected, tuple) else (self._expected,))]
        return names[0] if len(names) == 1 else str(self._expected)

    def _match(self, value):
        if self._pattern is not None:
            import re
            if not re.search(self._pattern, str(value)):
                shown = self._pattern if isinstance(self._pattern, str) else self._pattern.pattern
                self._case.fail(self._case._formatMessage(self._msg, f'"{shown}" does not match "{value}"'))


class _Raises(_Context):
    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        if value is None:
            self._case.fail(self._case._formatMessage(self._msg, f"{self._name()} not raised{self._by}"))
        if not isinstance(value, self._expected):
            return False
        self.exception = value.with_traceback(None)
        self._match(value)
        return True


class _Warns(_Context):
    def __enter__(self):
        import warnings
        self._recorder = warnings.catch_warnings(record=True)
        self.warnings = self._recorder.__enter__()
        warnings.simplefilter("always")
        return self

    def __exit__(self, kind, value, tb):
        self._recorder.__exit__(kind, value, tb)
        if value is not None:
            return
        for w in self.warnings:
            if issubclass(w.category, self._expected):
                self.warning, self.filename, self.lineno = w.message, w.filename, w.lineno
                return self._match(w.message)
        self._case.fail(self._case._formatMessage(self._msg, f"{self._name()} not triggered{self._by}"))


class _Logs:
    def __init__(self, case, logger, level, none):
        import logging
        self._case, self._none = case, none
        self._logger = logger if isinstance(logger, logging.Logger) else logging.getLogger(logger)
        self._level = logging.INFO if level is None else level if isinstance(level, int) else logging.getLevelName(level)
        self.records, self.output = [], []

    def __enter__(self):
        import logging
        outer, form = self, logging.Formatter("%(levelname)s:%(name)s:%(message)s")

        class Handler(logging.Handler):
            def emit(self, record):
                outer.records.append(record)
                outer.output.append(form.format(record))

        logger = self._logger
        self._old = logger.handlers, logger.level, logger.propagate
        handler = Handler()
        handler.setLevel(self._level)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(self._level)
        return None if self._none else self

    def __exit__(self, kind, value, tb):
        import logging
        logger = self._logger
        logger.handlers, _, logger.propagate = self._old
        logger.setLevel(self._old[1])
        if value is not None:
            return False
        if self._none and self.records:
            self._case.fail(f"Unexpected logs found: {self.output!r}")
        if not self._none and not self.records:
            self._case.fail(f"no logs of level {logging.getLevelName(self._level)} or higher triggered on {logger.name}")


def _diff(a, b):
    import difflib
    import pprint
    return "\n".join(difflib.ndiff(pprint.pformat(a).splitlines(), pprint.pformat(b).splitlines()))


class TestCase:
    failureException = AssertionError
    longMessage = True
    maxDiff = 640

    def __init__(self, methodName="runTest"):
        self._testMethodName, self._cleanups, self._result = methodName, [], None
        self._testMethodDoc = getattr(getattr(self, methodName, None), "__doc__", None)

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

    @classmethod
    def addClassCleanup(cls, function, /, *args, **kwargs):
        cls.__dict__.get("_class_cleanups", None) is None and setattr(cls, "_class_cleanups", [])
        cls._class_cleanups.append((function, args, kwargs))

    def addCleanup(self, function, /, *args, **kwargs):
        self._cleanups.append((function, args, kwargs))

    def enterContext(self, manager):
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value

    def doCleanups(self):
        while self._cleanups:
            function, args, kwargs = self._cleanups.pop()
            self._guarded(self._result, lambda: function(*args, **kwargs))
        return self._ok

    def id(self):
        return f"{type(self).__module__}.{type(self).__qualname__}.{self._testMethodName}"

    def __str__(self):
        return f"{self._testMethodName} ({self.id()})"

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__qualname__} testMethod={self._testMethodName}>"

    def shortDescription(self):
        return self._testMethodDoc.strip().split("\n")[0].strip() if self._testMethodDoc else None

    def countTestCases(self):
        return 1

    def _guarded(self, result, action, test=None):
        try:
            action()
        except KeyboardInterrupt:
            raise
        except SkipTest as e:
            self._ok = False
            result.addSkip(test or self, str(e))
        except BaseException as e:
            self._ok = False
            if self._expecting:
                self._failed_as_expected = e
            elif test is not None:
                result.addSubTest(self, test, (type(e), e, e.__traceback__))
            elif isinstance(e, self.failureException):
                result.addFailure(self, (type(e), e, e.__traceback__))
            else:
                result.addError(self, (type(e), e, e.__traceback__))
        else:
            return True
        return False

    def run(self, result=None):
        result = self._result = TestResult() if result is None else result
        method = getattr(self, self._testMethodName)
        self._ok, self._failed_as_expected, self._expecting = True, None, False
        expecting = getattr(method, "__unittest_expecting_failure__", getattr(self, "__unittest_expecting_failure__", False))
        for skipped in self, method:
            if getattr(skipped, "__unittest_skip__", False):
                result.addSkip(self, skipped.__unittest_skip_why__)
                return result
        result.startTest(self)
        try:
            if self._guarded(result, self.setUp):
                self._expecting = expecting
                self._guarded(result, method)
                self._expecting = False
                self._guarded(result, self.tearDown)
            self.doCleanups()
            if self._failed_as_expected is not None:
                e = self._failed_as_expected
                result.addExpectedFailure(self, (type(e), e, e.__traceback__))
            elif self._ok:
                result.addUnexpectedSuccess(self) if expecting else result.addSuccess(self)
            return result
        finally:
            result.stopTest(self)

    __call__ = run

    def subTest(self, msg=None, **params):
        case = self

        class Sub:
            def __enter__(self):
                pass

            def __exit__(self, kind, value, tb):
                if value is None or isinstance(value, KeyboardInterrupt) or case._result is None:
                    return False
                shown = ([f"[{msg}]"] if msg is not None else []) + ([f"({', '.join([f'{k}={v!r}' for k, v in params.items()])})"] if params else [])

                def again():
                    raise value
                case._guarded(case._result, again, _SubTest(case, " ".join(shown) or "(<subtest>)"))
                return True
        return Sub()

    def skipTest(self, reason):
        raise SkipTest(reason)

    def fail(self, msg=None):
        raise self.failureException(msg)

    def _formatMessage(self, msg, standard):
        if not self.longMessage:
            return msg or standard
        return standard if msg is None else f"{standard} : {msg}"

    def _check(self, good, standard, msg):
        if not good:
            raise self.failureException(self._formatMessage(msg, standard))

    def _differ(self, standard, diff, msg):
        if self.maxDiff is not None and len(diff) > self.maxDiff:
            diff = f"\nDiff is {len(diff)} characters long. Set self.maxDiff to None to see it."
        self._check(False, standard + diff, msg)

    def assertTrue(self, expr, msg=None):
        self._check(expr, f"{expr!r} is not true", msg)

    def assertFalse(self, expr, msg=None):
        self._check(not expr, f"{expr!r} is not false", msg)

    def assertEqual(self, first, second, msg=None):
        kinds = {list: self.assertListEqual, tuple: self.assertTupleEqual, dict: self.assertDictEqual, set: self.assertSetEqual, frozenset: self.assertSetEqual, str: self.assertMultiLineEqual}
        if type(first) is type(second) and type(first) in kinds:
            return kinds[type(first)](first, second, msg)
        self._check(first == second, f"{first!r} != {second!r}", msg)

    def assertSequenceEqual(self, first, second, msg=None, seq_type=None):
        kind = seq_type.__name__ if seq_type else "sequence"
        if seq_type:
            for at, value in (("First", first), ("Second", second)):
                self._check(isinstance(value, seq_type), f"{at} sequence is not a {kind}: {value!r}", None)
        if first == second or seq_type is None and list(first) == list(second):
            return
        text = f"{kind.capitalize()}s differ: {first!r} != {second!r}\n"
        for i, (a, b) in enumerate(zip(first, second)):
            if a != b:
                text += f"\nFirst differing element {i}:\n{a!r}\n{b!r}\n"
                break
        for name, a, b in (("First", first, second), ("Second", second, first)):
            if len(a) > len(b):
                text += f"\n{name} {kind} contains {len(a) - len(b)} additional elements.\nFirst extra element {len(b)}:\n{a[len(b)]!r}\n"
        self._differ(text, "\n" + _diff(first, second), msg)

    def assertListEqual(self, list1, list2, msg=None):
        self.assertSequenceEqual(list1, list2, msg, list)

    def assertTupleEqual(self, tuple1, tuple2, msg=None):
        self.assertSequenceEqual(tuple1, tuple2, msg, tuple)

    def assertDictEqual(self, d1, d2, msg=None):
        if d1 != d2:
            self._differ(f"{d1!r} != {d2!r}", "\n" + _diff(d1, d2), msg)

    def assertSetEqual(self, set1, set2, msg=None):
        lines = []
        for name, other, extra in (("first", "second", set1 - set2), ("second", "first", set2 - set1)):
            if extra:
                lines += [f"Items in the {name} set but not the {other}:"] + [repr(x) for x in extra]
        self._check(not lines, "\n".join(lines), msg)

    def assertMultiLineEqual(self, first, second, msg=None):
        if first != second:
            import difflib
            texts = [t + "\n" if t and "\n" not in t else t for t in (first, second)]
            self._differ(f"{first!r} != {second!r}", "\n" + "".join(difflib.ndiff(*[t.splitlines(True) for t in texts])), msg)

    def assertCountEqual(self, first, second, msg=None):
        left, missing = list(second), []
        for x in first:
            left.remove(x) if x in left else missing.append(x)
        if missing or left:
            found = []
            for x in [*missing, *left]:
                if x not in found:
                    found.append(x)
            lines = [f"First has {list(first).count(x)}, Second has {list(second).count(x)}:  {x!r}" for x in found]
            self._differ("Element counts were not equal:\n", "\n".join(lines), msg)

    def assertNotEqual(self, first, second, msg=None):
        self._check(first != second, f"{first!r} == {second!r}", msg)

    def assertAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        if first == second:
            return
        apart = abs(first - second)
        places = 7 if places is None else places
        good = apart <= delta if delta is not None else round(apart, places) == 0
        self._check(good, f"{first!r} != {second!r} within " + (f"{delta!r} delta" if delta is not None else f"{places} places") + f" ({apart!r} difference)", msg)

    def assertNotAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        apart = abs(first - second)
        places = 7 if places is None else places
        near = apart <= delta if delta is not None else round(apart, places) == 0
        within = f"{delta!r} delta ({apart!r} difference)" if delta is not None else f"{places} places"
        self._check(first != second and not near, f"{first!r} == {second!r} within {within}", msg)

    def assertIs(self, expr1, expr2, msg=None):
        self._check(expr1 is expr2, f"{expr1!r} is not {expr2!r}", msg)

    def assertIsNot(self, expr1, expr2, msg=None):
        self._check(expr1 is not expr2, f"unexpectedly identical: {expr1!r}", msg)

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

    def assertNotIsInstance(self, obj, cls, msg=None):
        self._check(not isinstance(obj, cls), f"{obj!r} is an instance of {cls!r}", msg)

    def assertGreater(self, a, b, msg=None):
        self._check(a > b, f"{a!r} not greater than {b!r}", msg)

    def assertGreaterEqual(self, a, b, msg=None):
        self._check(a >= b, f"{a!r} not greater than or equal to {b!r}", msg)

    def assertLess(self, a, b, msg=None):
        self._check(a < b, f"{a!r} not less than {b!r}", msg)

    def assertLessEqual(self, a, b, msg=None):
        self._check(a <= b, f"{a!r} not less than or equal to {b!r}", msg)

    def assertRegex(self, text, expected_regex, msg=None):
        import re
        shown = getattr(expected_regex, "pattern", expected_regex)
        self._check(re.search(expected_regex, text), f"Regex didn't match: {shown!r} not found in {text!r}", msg)

    def assertNotRegex(self, text, unexpected_regex, msg=None):
        import re
        found = re.search(unexpected_regex, text)
        self._check(not found, found and f"Regex matched: {text[found.start():found.end()]!r} matches {found.re.pattern!r} in {text!r}", msg)

    def _within(self, context, function, args, kwargs):
        if function is None:
            return context
        context._by = f" by {getattr(function, '__name__', function)}"
        with context:
            function(*args, **kwargs)

    def assertRaises(self, expected, function=None, /, *args, msg=None, **kwargs):
        return self._within(_Raises(self, expected, None, msg), function, args, kwargs)

    def assertRaisesRegex(self, expected, pattern, function=None, /, *args, msg=None, **kwargs):
        return self._within(_Raises(self, expected, pattern, msg), function, args, kwargs)

    def assertWarns(self, expected, function=None, /, *args, msg=None, **kwargs):
        return self._within(_Warns(self, expected, None, msg), function, args, kwargs)

    def assertWarnsRegex(self, expected, pattern, function=None, /, *args, msg=None, **kwargs):
        return self._within(_Warns(self, expected, pattern, msg), function, args, kwargs)

    def assertLogs(self, logger=None, level=None):
        return _Logs(self, logger, level, False)

    def assertNoLogs(self, logger=None, level=None):
        return _Logs(self, logger, level, True)


class _SubTest:
    failureException = AssertionError

    def __init__(self, case, shown):
        self._case, self._shown = case, shown

    def __str__(self):
        return f"{self._case} {self._shown}"

    def shortDescription(self):
        return self._case.shortDescription()


class TestResult:
    def __init__(self, stream=None, descriptions=None, verbosity=None):
        self.failures, self.errors, self.skipped, self.expectedFailures, self.unexpectedSuccesses = [], [], [], [], []
        self.testsRun, self.shouldStop, self.failfast = 0, False, False

    def startTestRun(self):
        pass

    stopTestRun = startTestRun

    def startTest(self, test):
        self.testsRun += 1

    def stopTest(self, test):
        pass

    def stop(self):
        self.shouldStop = True

    def _text(self, err):
        # Frames of this module are left out.
        out, leave = [], False
        for line in "".join(traceback.format_exception(err[1])).splitlines(True):
            if line.startswith('  File "'):
                leave = line.startswith(f'  File "{_FILE}"')
            elif not line.startswith("    "):
                leave = False
            if not leave:
                out.append(line)
        return "".join(out)

    def _note(self, kind, test, err):
        kind.append((test, self._text(err)))
        self.shouldStop |= self.failfast

    def addError(self, test, err):
        self._note(self.errors, test, err)

    def addFailure(self, test, err):
        self._note(self.failures, test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self._note(self.failures if isinstance(err[1], test.failureException) else self.errors, subtest, err)

    def addSuccess(self, test):
        pass

    def addSkip(self, test, reason):
        self.skipped.append((test, reason))

    def addExpectedFailure(self, test, err):
        self.expectedFailures.append((test, self._text(err)))

    def addUnexpectedSuccess(self, test):
        self.unexpectedSuccesses.append(test)

    def wasSuccessful(self):
        return not (self.failures or self.errors or self.unexpectedSuccesses)

    def __repr__(self):
        return f"<unittest.{'runner' if isinstance(self, TextTestResult) else 'result'}.{type(self).__qualname__} run={self.testsRun} errors={len(self.errors)} failures={len(self.failures)}>"


class TextTestResult(TestResult):
    separator1, separator2 = "=" * 70, "-" * 70

    def __init__(self, stream, descriptions, verbosity):
        super().__init__()
        self.stream, self.showAll, self.dots, self._fresh = stream, verbosity > 1, verbosity == 1, True

    def getDescription(self, test):
        doc = test.shortDescription()
        return f"{test}\n{doc}" if doc else str(test)

    def startTest(self, test):
        super().startTest(test)
        if self.showAll:
            self.stream.write(f"{self.getDescription(test)} ... ")
            self._fresh = False

    def _say(self, test, long, short, subtest=None):
        if self.showAll:
            if subtest is not None:
                self.stream.write(("" if self._fresh else "\n") + f"  {self.getDescription(subtest)} ... ")
            elif self._fresh:
                self.stream.write(f"{self.getDescription(test)} ... ")
            self.stream.write(long + "\n")
            self._fresh = True
        elif self.dots:
            self.stream.write(short)

    def addSuccess(self, test):
        self._say(test, "ok", ".")

    def addError(self, test, err):
        super().addError(test, err)
        self._say(test, "ERROR", "E")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._say(test, "FAIL", "F")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        kind = "FAIL" if isinstance(err[1], test.failureException) else "ERROR"
        self._say(test, kind, kind[0], subtest)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._say(test, f"skipped {reason!r}", "s")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._say(test, "expected failure", "x")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._say(test, "unexpected success", "u")

    def printErrors(self):
        write = self.stream.write
        if self.dots or self.showAll:
            write("\n")
        for kind, entries in (("ERROR", self.errors), ("FAIL", self.failures)):
            for test, text in entries:
                write(f"{self.separator1}\n{kind}: {self.getDescription(test)}\n{self.separator2}\n{text}\n")
        if self.unexpectedSuccesses:
            write(self.separator1 + "\n" + "".join([f"UNEXPECTED SUCCESS: {self.getDescription(t)}\n" for t in self.unexpectedSuccesses]))


class TestSuite:
    def __init__(self, tests=()):
        self._tests = list(tests)

    def __iter__(self):
        return iter(self._tests)

    def addTest(self, test):
        self._tests.append(test)

    def addTests(self, tests):
        self._tests.extend(tests)

    def countTestCases(self):
        return sum([t.countTestCases() for t in self])

    def _flat(self):
        for t in self:
            yield from t._flat() if isinstance(t, TestSuite) else [t]

    def run(self, result):
        current, usable = None, True
        for test in [*self._flat(), None]:
            if type(test) is not current:
                if current is not None and usable:
                    self._class(result, current, "tearDownClass")
                    for function, args, kwargs in reversed(getattr(current, "_class_cleanups", [])):
                        function(*args, **kwargs)
                current, usable = None if test is None else type(test), True
                if current is not None and isinstance(test, TestCase) and not getattr(current, "__unittest_skip__", False):
                    usable = self._class(result, current, "setUpClass")
            if test is None or result.shouldStop:
                continue
            if usable:
                test(result)
        return result

    def _class(self, result, kind, name):
        try:
            getattr(kind, name, lambda: None)()
            return True
        except SkipTest as e:
            result.addSkip(_Holder(name, kind), str(e))
        except Exception as e:
            result.addError(_Holder(name, kind), (type(e), e, e.__traceback__))
        return False

    __call__ = run


class _Holder:
    def __init__(self, name, kind):
        self._text = f"{name} ({kind.__module__}.{kind.__qualname__})"

    def __str__(self):
        return self._text

    shortDescription = lambda self: None


class TestLoader:
    testMethodPrefix = "test"
    suiteClass = TestSuite

    def getTestCaseNames(self, case):
        return sorted([n for n in dir(case) if n.startswith(self.testMethodPrefix) and callable(getattr(case, n))])

    def loadTestsFromTestCase(self, case):
        names = self.getTestCaseNames(case) or (["runTest"] if hasattr(case, "runTest") else [])
        return TestSuite([case(n) for n in names])

    def loadTestsFromModule(self, module):
        found = [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, TestCase) and v is not TestCase]
        return TestSuite([self.loadTestsFromTestCase(case) for case in sorted(found, key=lambda case: case.__name__)])

    def loadTestsFromName(self, name, module=None):
        case, *method = name.removeprefix("__main__.").split(".")
        case = getattr(module or sys.modules["__main__"], case)
        return TestSuite([case(method[0])]) if method else self.loadTestsFromTestCase(case)

    def loadTestsFromNames(self, names, module=None):
        return TestSuite([self.loadTestsFromName(name, module) for name in names])


defaultTestLoader = TestLoader()


class TextTestRunner:
    def __init__(self, stream=None, descriptions=True, verbosity=1, failfast=False, buffer=False, resultclass=None, **options):
        self.stream, self.verbosity, self.failfast, self.resultclass = stream or sys.stderr, verbosity, failfast, resultclass or TextTestResult

    def run(self, test):
        result, start = self.resultclass(self.stream, True, self.verbosity), time.perf_counter()
        result.failfast = self.failfast
        test(result)
        took = time.perf_counter() - start
        result.printErrors()
        write, run = self.stream.write, result.testsRun
        write(f"{result.separator2}\nRan {run} test{'' if run == 1 else 's'} in {took:.3f}s\n\n")
        counts = [("failures", result.failures), ("errors", result.errors), ("skipped", result.skipped), ("expected failures", result.expectedFailures), ("unexpected successes", result.unexpectedSuccesses)]
        parts = [f"{name}={len(found)}" for name, found in counts if found]
        word = "FAILED" if not result.wasSuccessful() else "NO TESTS RAN" if run == 0 and not result.skipped else "OK"
        write(word + (f" ({', '.join(parts)})" if parts else "") + "\n")
        return result


class main:
    """Runs the tests of a module and, as CPython does, reports to the error output."""

    def __init__(self, module="__main__", defaultTest=None, argv=None, testRunner=None, testLoader=defaultTestLoader, exit=True, verbosity=1, failfast=None, **options):
        argv = list(sys.argv if argv is None else argv)[1:]
        module = sys.modules[module] if isinstance(module, str) else module
        names = [a for a in argv if not a.startswith("-")] or ([defaultTest] if isinstance(defaultTest, str) else list(defaultTest or ()))
        verbosity = 2 if "-v" in argv or "--verbose" in argv else 0 if "-q" in argv or "--quiet" in argv else verbosity
        suite = testLoader.loadTestsFromNames(names, module) if names else testLoader.loadTestsFromModule(module)
        runner = testRunner or TextTestRunner(verbosity=verbosity, failfast=failfast or "-f" in argv)
        self.result = (runner() if isinstance(runner, type) else runner).run(suite)
        if exit:
            sys.exit(5 if self.result.testsRun == 0 and not self.result.skipped else int(not self.result.wasSuccessful()))


TestProgram = main
