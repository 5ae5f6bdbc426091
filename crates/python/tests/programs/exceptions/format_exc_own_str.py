import traceback


class Refused(Exception):
    def __init__(self, message, code):
        super().__init__(message)
        self.code = code

    def __str__(self):
        return f"[{self.code}] {self.args[0]}"


try:
    try:
        raise Refused("first", 1)
    except Refused as error:
        raise Refused("second", 2) from error
except Refused as error:
    print(traceback.format_exc())
    print("".join(traceback.format_exception_only(type(error), error)), end="")
for text in ("1 +", "x = 1", "a b"):
    try:
        eval(text)
    except SyntaxError as error:
        print(type(error).__name__, error)
