import logging
import logging.config
import os
import tempfile

path = os.path.join(tempfile.mkdtemp(), "logging.ini")
with open(path, "w") as file:
    file.write("""
[loggers]
keys=root,train

[handlers]
keys=console,plain

[formatters]
keys=simple,short

[logger_root]
level=WARNING
handlers=console

[logger_train]
level=DEBUG
handlers=plain
qualname=train
propagate=0

[handler_console]
class=StreamHandler
level=DEBUG
formatter=simple
args=(sys.stdout,)

[handler_plain]
class=logging.StreamHandler
formatter=short
kwargs={'stream': sys.stdout}

[formatter_simple]
format=%(name)s - %(levelname)s - %(message)s

[formatter_short]
format=> {message}
style={
""")
before = logging.getLogger("before")
logging.config.fileConfig(path)
log = logging.getLogger("train")
log.debug("step %d", 1)
logging.getLogger("train.loop").info("inner")
logging.getLogger("other").info("unseen")
logging.getLogger("other").warning("seen")
before.error("disabled")
logging.config.fileConfig(path, disable_existing_loggers=False)
print(before.disabled, log.propagate, [type(h).__name__ for h in log.handlers])
for wrong in ("nowhere.ini",):
    try:
        logging.config.fileConfig(wrong)
    except FileNotFoundError as error:
        print(error)
