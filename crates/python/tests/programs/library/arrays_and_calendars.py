import calendar
import difflib
from array import array

a = array("f", [1.0, 2.5])
a.append(3.25)
a.extend([1, 2])
print(a, a.itemsize, a.typecode, len(a), a[1:3], a.tolist(), sum(a), a.index(2.5), array("h", [1, -2]).tobytes(), array("d"))
for wrong in (lambda: array("i", ["a"]), lambda: array("b", [300]), lambda: a[9]):
    try:
        wrong()
    except (TypeError, OverflowError, IndexError) as error:
        print(type(error).__name__, error)
print(calendar.isleap(1900), calendar.monthrange(2024, 2), calendar.month_name[3], list(calendar.day_abbr), calendar.leapdays(2000, 2025))
print(calendar.month(2024, 2), calendar.monthcalendar(2023, 10), calendar.timegm((2020, 1, 1, 0, 0, 0)))
old, new = "one two three four five six".split(), "ore one tree four five seven six".split()
print(difflib.get_close_matches("appel", ["ape", "apple", "peach", "puppy"]), difflib.SequenceMatcher(None, "abcd", "bcde").ratio())
print(difflib.SequenceMatcher(None, "qabxcd", "abycdf").get_opcodes(), difflib.SequenceMatcher(None, "ab", "ab").get_matching_blocks())
print("\n".join(difflib.unified_diff(old, new, "a", "b", lineterm="", n=1)))
print("\n".join(difflib.context_diff(old, new, "a", "b", lineterm="", n=1)))
