text = 'hello world hello'
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
enc = [stoi[c] for c in text]
print(chars, len(chars))
print(enc, ''.join(itos[i] for i in enc) == text)
counts = {}
for w in text.split():
    counts[w] = counts.get(w, 0) + 1
print(counts)
pairs = {}
for a, b in zip(text, text[1:]):
    pairs[a, b] = pairs.get((a, b), 0) + 1
print(sorted(pairs.items(), key=lambda kv: (-kv[1], kv[0]))[:4])
