grown = bytearray()
for i in range(20000):
    grown.extend(b"abc")
    grown.append(i % 256)
grown[0] = 65
grown[-1] = 66
grown += b"zz"
print(len(grown), grown[:4], grown[-3:], bytes(grown[:2]), grown.count(b"a"), 65 in grown)
try:
    grown[200000] = 1
except IndexError as error:
    print(error)
del grown[10:]
grown[2:4] = b"-----"
print(grown, grown == bytes(grown), grown + b"!", grown.pop(), grown)
