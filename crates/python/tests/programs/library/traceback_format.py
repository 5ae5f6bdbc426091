import traceback
def inner():
    raise ValueError('deep')
def outer():
    inner()
try:
    outer()
except ValueError as e:
    text = traceback.format_exc()
    print(text)
    print(traceback.format_exception_only(type(e), e))
    print([f.name for f in traceback.extract_tb(e.__traceback__)])
    print(''.join(traceback.format_exception(e)) == text)
