import logging, logging.config, logging.handlers, tempfile, os, queue
d = tempfile.mkdtemp()
cfg = {"version": 1, "disable_existing_loggers": False,
 "formatters": {"short": {"format": "%(levelname)s:%(name)s:%(message)s"}, "br": {"format": "{levelname} {message}", "style": "{"}},
 "filters": {"only": {"name": "app"}},
 "handlers": {"con": {"class": "logging.StreamHandler", "formatter": "short", "level": "INFO", "stream": "ext://sys.stdout"},
              "file": {"class": "logging.FileHandler", "filename": os.path.join(d, "x.log"), "formatter": "br", "filters": ["only"]},
              "rot": {"class": "logging.handlers.RotatingFileHandler", "filename": os.path.join(d, "r.log"), "maxBytes": 60, "backupCount": 2, "formatter": "short"}},
 "loggers": {"app": {"level": "DEBUG", "handlers": ["con", "file", "rot"], "propagate": False}, "app.sub": {"level": "ERROR"}},
 "root": {"level": "WARNING", "handlers": ["con"]}}
old = logging.getLogger("old")
logging.config.dictConfig(cfg)
log = logging.getLogger("app")
log.debug("dbg"); log.info("inf %d", 1); logging.getLogger("app.sub").warning("no"); logging.getLogger("app.sub").error("sub"); logging.warning("root"); old.error("old")
for i in range(6): log.info("message number %d", i)
print(open(os.path.join(d, "x.log")).read()); print(sorted(os.listdir(d))); print([open(os.path.join(d, n)).read() for n in sorted(os.listdir(d)) if n.startswith("r.")])
for bad in ({}, {"version": 2}, {"version": 1, "handlers": {"h": {"class": "nope.X"}}}, {"version": 1, "root": {"handlers": ["zz"]}}, {"version": 1, "root": {"level": "LOUD"}}):
    try: logging.config.dictConfig(bad)
    except Exception as e: print(type(e).__name__, e, repr(e.__cause__))
m = logging.handlers.MemoryHandler(2, target=logging.StreamHandler(__import__("sys").stdout)); l2 = logging.getLogger("mem"); l2.propagate = False; l2.addHandler(m)
l2.warning("a"); print("-"); l2.warning("b"); l2.error("c"); m.close()
q = queue.Queue(); l3 = logging.getLogger("q"); l3.propagate = False; l3.addHandler(logging.handlers.QueueHandler(q)); l3.warning("queued %s", 1); print(q.get().getMessage())
print(logging.makeLogRecord({"msg": "hi", "levelname": "X"}).levelname, logging.getHandlerByName("con") if hasattr(logging, "getHandlerByName") else "")
h = logging.handlers.TimedRotatingFileHandler(os.path.join(d, "t.log"), when="midnight"); print(h.when, h.interval, h.suffix); h.close()
fh = logging.FileHandler(os.path.join(d, "late.log"), delay=True); print(os.path.exists(fh.baseFilename)); fh.close()
