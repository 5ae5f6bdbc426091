"""Who called, the text of functions, and small things of the library."""
import dataclasses
import datetime
import enum
import inspect
import os
import re
import statistics
import sys
import typing
from fractions import Fraction


def here():
    frame = sys._getframe()
    return frame.f_code.co_name, frame.f_back.f_code.co_name, sys._getframe(1).f_lineno, inspect.currentframe().f_code.co_name, inspect.stack()[1].function


print(here())


class Shape:
    def area(self):
        # A comment.
        return 1

    @property
    def sides(self,
              ):
        found = [
  1]
        return found

print(inspect.getsource(Shape.area), inspect.getsource(Shape), inspect.getsource(here), inspect.getsourcelines(Shape)[1], sep="|")
for attempt in (lambda: inspect.getsource(len), lambda: sys._getframe(99), lambda: os.rename("no such", "other"), lambda: re.compile("(?<=a+)b"), lambda: statistics.mean(["a"])):
    try:
        print(attempt())
    except Exception as e:
        print(type(e).__name__, e)
moment = datetime.datetime(2024, 3, 5, 4, 7, 9)
print(moment.strftime("%-d/%-m/%y %-I:%M %p %-H %-S %-j"), f"{moment:%-d. %B}", statistics.mean([Fraction(1, 2), 1]))


class Colour(enum.Enum):
    RED = 1


try:
    Colour.RED.value = 2
except AttributeError as e:
    print(e)


@dataclasses.dataclass
class Point:
    x: int
    count: typing.ClassVar[int] = 0


print(Point.__doc__)
