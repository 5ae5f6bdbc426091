"""`literal_eval`; trees of syntax there are none."""
import re

_TEXT = r"""[bBrRuU]{0,2}('''.*?'''|\"\"\".*?\"\"\"|'(\\.|[^'\\])*'|"(\\.|[^"\\])*")"""


def literal_eval(node_or_string):
    text = node_or_string.strip()
    bare = re.sub(_TEXT, "0", text, flags=re.S)
    names = re.findall(r"(?<![\w.])[A-Za-z_]\w*", bare)
    if re.search(r"[^\w\s()\[\]{},:.+\-]", bare) or [n for n in names if n not in ("True", "False", "None", "set")]:
        compile(text, "<unknown>", "eval")
        raise ValueError(f"malformed node or string on line 1: {text!r}")
    return eval(text, {"__builtins__": {}, "set": set})
