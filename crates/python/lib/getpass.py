"""Who runs the script."""
import os


def getuser():
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        if os.environ.get(name):
            return os.environ[name]
    return "root"


def getpass(prompt="Password: ", stream=None):
    return input(prompt)
