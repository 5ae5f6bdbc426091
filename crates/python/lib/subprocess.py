"""Other programs: a script starts none here."""

PIPE, STDOUT, DEVNULL = -1, -2, -3


class SubprocessError(Exception):
    pass


class CalledProcessError(SubprocessError):
    def __init__(self, returncode, cmd, output=None, stderr=None):
        super().__init__(f"Command '{cmd}' returned non-zero exit status {returncode}.")
        self.returncode, self.cmd, self.output, self.stdout, self.stderr = returncode, cmd, output, output, stderr


class TimeoutExpired(SubprocessError):
    pass


def run(args, *rest, **kwargs):
    raise PermissionError(1, "scripts start no other programs here", args if isinstance(args, str) else args[0])


call = check_call = check_output = Popen = getoutput = run
