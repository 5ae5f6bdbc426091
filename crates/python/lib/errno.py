"""Numbers of system errors."""
EPERM, ENOENT, EIO, EAGAIN, EACCES, EEXIST, ENOTDIR, EISDIR, EINVAL, ENOSPC, EPIPE, ENOTEMPTY = 1, 2, 5, 11, 13, 17, 20, 21, 22, 28, 32, 39
errorcode = {v: k for k, v in list(globals().items()) if k.startswith("E")}
