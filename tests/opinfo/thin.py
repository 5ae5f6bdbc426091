"""Makes directories of cases small enough for the repository.

    python thin.py FROM TO BYTES     e.g. python thin.py out/main main 1024

Keeps the cases whose tensors have at most BYTES bytes together, and of an operator without such a case its smallest one. Tensors are numbered,
so that names take no space. Standard library only; the same input gives the same output.
"""
import json, os, struct, sys


def load(path):
    data = open(path + "/ops.safetensors", "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    return json.load(open(path + "/ops.json")), json.loads(data[8:8 + n]), data[8 + n:]


def names(case):
    return [t for k in ("inputs", "outputs", "cotangents", "grads") for t in case.get(k) or [] if t is not None]


def main(source, target, most):
    manifest, header, data = load(source)
    size = lambda t: header[t]["data_offsets"][1] - header[t]["data_offsets"][0]
    total = lambda c: sum(map(size, names(c)))
    smallest = {}
    for c in manifest["cases"]:
        if c["op"] not in smallest or total(c) < total(smallest[c["op"]]): smallest[c["op"]] = c
    kept = [c for c in manifest["cases"] if total(c) <= most or c is smallest[c["op"]]]
    tensors, blob = {}, bytearray()

    def put(t):
        if t is None: return None
        start, end = header[t]["data_offsets"]
        name = str(len(tensors))
        tensors[name] = dict(dtype=header[t]["dtype"], shape=header[t]["shape"], data_offsets=[len(blob), len(blob) + end - start])
        blob.extend(data[start:end])
        return name

    for c in kept:
        for k in ("inputs", "outputs", "cotangents", "grads"):
            if k in c: c[k] = [put(t) for t in c[k]]
        if all(t == c["tol"] for t in c.get("tols", [])): c.pop("tols", None)
        for k in ("flags", "sample"): c.pop(k, None)
    os.makedirs(target, exist_ok=True)
    text = json.dumps(tensors, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(target + "/ops.safetensors", "wb") as f: f.write(struct.pack("<Q", len(text)) + text + blob)
    with open(target + "/ops.json", "w") as f:
        f.write('{"torch": "%s", "cases": [\n' % manifest["torch"])
        f.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in kept))
        f.write("\n]}\n")
    print(f"{target}: {len(kept)} of {len(manifest['cases'])} cases")


if __name__ == "__main__": main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
