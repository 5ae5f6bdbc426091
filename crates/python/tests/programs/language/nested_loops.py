out = []
for i in range(3):
    for j in range(3):
        if j == i:
            continue
        if i + j > 3:
            break
        out.append((i, j))
print(out)
rows = [[i * j for j in range(1, 4)] for i in range(1, 4)]
for row in rows:
    print(*row, sep='\t')
