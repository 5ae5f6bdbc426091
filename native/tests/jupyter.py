"""Drives the kernel as Jupyter does. Run by `jupyter.rs`: python jupyter.py PART"""

import os
import queue
import re
import signal
import sys
import time

import nbformat
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient

WAIT = 60


class Ran:
    """What a cell said."""

    def __init__(self, client, code, line=None, **settings):
        self.out, self.err, self.shown, self.result, self.error, self.updated, self.cleared = "", "", [], None, None, [], 0
        id = client.execute(code, allow_stdin=line is not None, **settings)
        if line is not None:
            asked = client.get_stdin_msg(timeout=WAIT)
            assert asked["msg_type"] == "input_request", asked
            client.input(line)
        self.collect(client, id)

    def collect(self, client, id):
        states = []
        while True:
            message = client.get_iopub_msg(timeout=WAIT)
            if message["parent_header"].get("msg_id") != id:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                setattr(self, "out" if content["name"] == "stdout" else "err",
                        (self.out if content["name"] == "stdout" else self.err) + content["text"])
            elif kind == "display_data":
                self.shown.append(content["data"])
            elif kind == "update_display_data":
                self.updated.append((content["transient"]["display_id"], content["data"]))
            elif kind == "clear_output":
                self.cleared += 1
            elif kind == "execute_result":
                self.result, self.count = content["data"], content["execution_count"]
            elif kind == "error":
                self.error = content
            elif kind == "status":
                states.append(content["execution_state"])
                if states[-1] == "idle":
                    break
        assert states == ["busy", "idle"], states
        while True:
            self.reply = client.get_shell_msg(timeout=WAIT)
            if self.reply["parent_header"].get("msg_id") == id:
                break
        self.status = self.reply["content"]["status"]


def start():
    return start_new_kernel(kernel_name="aludel", startup_timeout=WAIT)


def cells():
    manager, client = start()
    run = lambda code, **settings: Ran(client, code, **settings)
    info = client.kernel_info(reply=True, timeout=WAIT)["content"]
    assert info["language_info"]["name"] == "python" and info["protocol_version"].startswith("5."), info
    # A session: names stay, the last expression is the result.
    assert run("x = 20").result is None
    ran = run("print('one')\nx + 1")
    assert (ran.out, ran.result, ran.count) == ("one\n", {"text/plain": "21"}, 2), vars(ran)
    assert run("_ + 1").result == {"text/plain": "22"}
    assert run("x;").result is None
    assert run("None").result is None
    assert run("'text'").result == {"text/plain": "'text'"}
    assert run("class A:\n    def __repr__(self):\n        return 'an A'\nA()").result == {"text/plain": "an A"}
    ran = run("import sys\nprint('o')\nprint('e', file=sys.stderr)")
    assert (ran.out, ran.err) == ("o\n", "e\n")
    # Much output, whole and in order.
    assert run("for i in range(20000): print(i)").out == "".join(f"{i}\n" for i in range(20000))
    # Errors with CPython's tracebacks.
    ran = run("def f(n):\n    return 1 / n\n\nf(0)")
    n = ran.reply["content"]["execution_count"]
    assert ran.status == "error" and (ran.error["ename"], ran.error["evalue"]) == ("ZeroDivisionError", "division by zero"), ran.error
    assert ran.error["traceback"] == [
        "Traceback (most recent call last):",
        f'  File "<cell {n}>", line 4, in <module>',
        "    f(0)",
        f'  File "<cell {n}>", line 2, in f',
        "    return 1 / n",
        "           ~~^~~",
        "ZeroDivisionError: division by zero",
    ], ran.error["traceback"]
    assert run("x = )").error["ename"] == "SyntaxError"
    ran = run("class E(Exception):\n    pass\nraise E('a: b\\nc')")
    assert (ran.error["ename"], ran.error["evalue"]) == ("E", "a: b\nc"), ran.error
    # What a failed cell did stays.
    assert run("y = 5\nboom").status == "error" and run("y").result == {"text/plain": "5"}
    # Tensors and figures.
    ran = run("import torch\ntorch.arange(6.).reshape(2, 3)")
    assert ran.result["text/plain"] == "tensor([[0., 1., 2.],\n        [3., 4., 5.]])", ran.result
    assert "2 × 3 · torch.float32 · cpu" in ran.result["text/html"] and "<td>5</td>" in ran.result["text/html"], ran.result
    big = run("torch.zeros(3, 100, 100, requires_grad=True)").result["text/html"]
    assert "[0, :, :]" in big and big.count("<tr>") == 13 and "requires grad" in big, big
    assert "text/html" not in run("torch.tensor(3.)").result
    ran = run("import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.title('T')\nplt.show()")
    assert len(ran.shown) == 1 and ran.shown[0]["image/svg+xml"].startswith("<svg"), ran.shown
    # One that is left open is shown, once.
    ran = run("plt.figure()\nplt.plot([3, 1])\nNone")
    assert len(ran.shown) == 1, ran.shown
    ran = run("fig, ax = plt.subplots()\nax.plot([3, 1])\nfig")
    assert "<svg" in ran.result["image/svg+xml"] and not ran.shown, (ran.result, ran.shown)
    assert not run("1").shown
    ran = run("import numpy as np\nfrom PIL import Image\nImage.fromarray(np.zeros((2, 2), dtype=np.uint8))")
    assert ran.result["image/png"].startswith("iVBOR"), ran.result
    ran = run("from IPython.display import HTML, display, clear_output\nh = display(HTML('<b>1</b>'), display_id=True)\n"
              "h.update(HTML('<b>2</b>'))\nclear_output(wait=True)")
    assert ran.shown[0]["text/html"] == "<b>1</b>" and ran.updated[0][1]["text/html"] == "<b>2</b>" and ran.cleared == 1, vars(ran)
    # input(), and a front end that takes none.
    assert run("print('hello', input('name? '))", line="Ada").out == "name? hello Ada\n"
    assert "takes none" in run("input()").error["evalue"]
    # Silent and expressions.
    count = run("1").reply["content"]["execution_count"]
    assert run("1", silent=True).result is None
    assert run("1").reply["content"]["execution_count"] == count + 1
    values = run("a = 3", user_expressions={"a": "a * 2", "b": "1 / 0"}).reply["content"]["user_expressions"]
    assert values["a"]["data"]["text/plain"] == "6" and values["b"]["ename"] == "ZeroDivisionError", values
    # Magics.
    assert run("%matplotlib inline\nz = 1").status == "ok"
    assert "not found" in run("%run x").error["evalue"]
    assert "Wall time" in run("%%time\nz").out
    # What stands behind a cell that fails is not run; what is unsigned or no message is not heard.
    ids = [client.execute(code) for code in ("import time; time.sleep(0.5); boom", "late = 1", "late = 2")]
    replies = [client.get_shell_msg(timeout=WAIT) for _ in ids]
    assert [r["content"]["status"] for r in replies] == ["error", "aborted", "aborted"], replies
    client.shell_channel.socket.send_multipart([b"<IDS|MSG>", b"00", b"{}", b"{}", b"{}", b"{}"])
    client.shell_channel.socket.send_multipart([b"nonsense"])
    assert run("'late' in globals()").result == {"text/plain": "False"}
    client.comm_info()
    assert client.get_shell_msg(timeout=WAIT)["content"]["comms"] == {}
    client.shutdown()
    end = time.time() + WAIT
    while manager.is_alive() and time.time() < end:
        time.sleep(0.05)
    assert not manager.is_alive()


def notebook():
    with open(os.path.join(os.environ["EXAMPLES"], "mlp_points.py")) as file:
        text = file.read()
    # As somebody would make a notebook of it: imports, functions and the model in cells, what `main` does in one of its own.
    text, main = text[: text.index("def main")], text[text.index("    torch.manual_seed") : text.index("if __name__")]
    parts = re.split(r"\n\n\n", text)
    body = "import types\nargs = types.SimpleNamespace(steps=60, hidden=32, lr=1e-2, every=20)\n"
    body += "\n".join(line[4:] for line in main.rstrip().splitlines())
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(part) for part in parts + [body, "loss.item()", "model"]]
    book.metadata["kernelspec"] = {"name": "aludel", "display_name": "Aludel", "language": "python"}
    NotebookClient(book, timeout=300, kernel_name="aludel").execute()
    nbformat.validate(book)
    printed = "".join(o.text for o in book.cells[-3].outputs if o.output_type == "stream")
    losses = [float(loss) for loss in re.findall(r"loss ([\d.]+)", printed)]
    assert len(losses) == 3 and losses[-1] < losses[0], printed
    assert abs(float(book.cells[-2].outputs[0].data["text/plain"]) - losses[-1]) < 1e-3
    assert book.cells[-1].outputs[0].data["text/plain"].startswith("Net(\n  (fc1): Linear("), book.cells[-1]


def interrupt():
    manager, client = start()
    for ask in (manager.interrupt_kernel, lambda: os.kill(manager.provisioner.pid, signal.SIGINT)):
        for code in ("n = 0\nwhile True:\n    n += 1", "import time\ntime.sleep(1000)"):
            id = client.execute(code)
            time.sleep(0.3)
            ask()
            ran = Ran.__new__(Ran)
            ran.out, ran.err, ran.shown, ran.error = "", "", [], None
            ran.collect(client, id)
            assert ran.error["ename"] == "KeyboardInterrupt", ran.error
    # While it waits for somebody to type.
    id = client.execute("input()", allow_stdin=True)
    client.get_stdin_msg(timeout=WAIT)
    manager.interrupt_kernel()
    ran = Ran.__new__(Ran)
    ran.out, ran.err, ran.shown, ran.error = "", "", [], None
    ran.collect(client, id)
    assert ran.error["ename"] == "KeyboardInterrupt", ran.error
    # An interruption between cells is not the next one's.
    manager.interrupt_kernel()
    time.sleep(0.2)
    assert Ran(client, "n > 0").result == {"text/plain": "True"}
    manager.restart_kernel(now=False)
    client.wait_for_ready(timeout=WAIT)
    assert Ran(client, "'n' in globals()").result == {"text/plain": "False"}
    # In the middle of a cell, too.
    client.execute("while True: pass")
    time.sleep(0.2)
    manager.shutdown_kernel()
    assert not manager.is_alive()


def names():
    manager, client = start()
    reply = lambda ask: (ask, client.get_shell_msg(timeout=WAIT)["content"])[1]
    Ran(client, "import torch\nimport torch.nn as nn\nvalue_of_mine = [1]\ndef mine(a, b=2):\n    '''Adds.'''\n    return a + b")
    found = reply(client.complete("x = value_o", 11))
    assert (found["matches"], found["cursor_start"], found["cursor_end"]) == (["value_of_mine"], 4, 11), found
    assert "Linear" in reply(client.complete("nn.Lin"))["matches"]
    assert "append" in reply(client.complete("value_of_mine.app"))["matches"]
    assert "softmax" in reply(client.complete("from torch.nn.functional import soft"))["matches"]
    assert reply(client.complete("é = value_o", 11))["cursor_start"] == 4
    assert reply(client.complete("nothing.here.x"))["matches"] == []
    text = lambda code, at=None: reply(client.inspect(code, at)).get("data", {}).get("text/plain", "")
    assert "mine(a, b=2)" in text("mine") and "Adds." in text("mine(1, ", 8), text("mine(1, ", 8)
    assert "[1]" in text("value_of_mine")
    assert reply(client.inspect("nothing_here"))["found"] is False
    whole = lambda code: reply(client.is_complete(code))
    assert whole("x = 1")["status"] == "complete" and whole("x = )")["status"] == "invalid"
    assert whole("for i in y:") == {"status": "incomplete", "indent": "    "}
    assert reply(client.history(hist_access_type="tail", n=1))["history"][0][2].startswith("import torch")
    client.stop_channels()
    manager.shutdown_kernel(now=True)


try:
    {"cells": cells, "notebook": notebook, "interrupt": interrupt, "names": names}[sys.argv[1]]()
except queue.Empty:
    raise SystemExit("the kernel says nothing")
print("done")
