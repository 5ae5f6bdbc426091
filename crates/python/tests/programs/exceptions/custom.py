class AppError(Exception):
    code = 1
    def __init__(self, msg, **info):
        super().__init__(msg)
        self.info = info
class DataError(AppError, ValueError):
    code = 2
try:
    raise DataError('bad row', row=3)
except ValueError as e:
    print(e, e.code, e.info, e.args, isinstance(e, AppError))
class NoInit(Exception):
    pass
print(repr(NoInit('a', 'b')), NoInit('x').args)
