"""Aludel's operator table, parsed from the source: name -> operands [(name, optional, variadic)] and names of arguments. An operand that may be
a number is among both."""
import glob, os, re

MACROS = {"unary": "Tensor input", "rounding": "Tensor input", "compare": "Tensor input, Tensor|Scalar other",
          "logical": "Tensor input, Tensor other", "bitwise": "Tensor|Scalar input, Tensor|Scalar other"}


def table(root=os.environ.get("ALUDEL_OPS", "crates/ir/src/ops")):
    out = {}
    for f in sorted(glob.glob(root + "/**/*.rs", recursive=True)):
        s, group = open(f).read(), os.path.relpath(f, root)[:-3]
        for m in re.finditer(r'op!\(\s*"([^"]+)",\s*"((?:[^"\\]|\\.)*)"', s, re.S):
            out[m.group(1)] = (group, re.sub(r"\\\n\s*", "", m.group(2)).replace('\\"', '"'))
        for macro, signature in MACROS.items():
            for m in re.finditer(r'\b%s!\("([^"$]+)"' % macro, s): out[m.group(1)] = (group, signature)
    return out


def parsed():
    r = {}
    for name, (group, signature) in table().items():
        operands, attrs = [], []
        for part in re.split(r",\s*(?![^\[]*\])", re.sub(r'="[^"]*"', "=text", signature)):
            if part.strip() in ("", "*"): continue
            kind, param = part.split("=")[0].strip().rsplit(" ", 1)
            if kind.startswith("Tensor"): operands.append((param, kind.endswith("?") or "=" in part, kind == "Tensor[]"))
            if not kind.startswith("Tensor") or "|" in kind: attrs.append(param)
        r[name] = dict(group=group, operands=operands, attrs=attrs, signature=signature)
    return r


if __name__ == "__main__":
    for name, v in sorted(parsed().items(), key=lambda kv: kv[1]["group"]): print(v["group"], name, v["operands"], v["attrs"])
