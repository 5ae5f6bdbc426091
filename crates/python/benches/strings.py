import time
def build(n):
    s = ""
    parts = []
    for i in range(n):
        s += str(i)
        parts.append(f"{i}:{i * 2}")
        if i % 7 == 0:
            s += "-".join(["a", "b", str(i)])
    text = ",".join(parts)
    words = text.split(",")
    return len(s), len(text), sum([len(w.upper().replace(":", "")) for w in words])
t=time.perf_counter(); build(300000); print("strings", time.perf_counter()-t)
