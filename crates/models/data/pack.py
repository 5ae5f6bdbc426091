"""Packs the data set's test part, `optdigits.tes` of the UCI repository, as the crate reads it: python pack.py optdigits.tes

65 columns, one after the other: the 64 pixels and the digit, a byte an image, as a raw deflate stream. A pixel of all images
compresses better than all pixels of an image.
"""

import pathlib
import sys
import zlib

lines = pathlib.Path(sys.argv[1]).read_text().split()
rows = [[int(v) for v in line.split(",")] for line in lines]
columns = bytes(row[i] for i in range(65) for row in rows)
packer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_FILTERED)
pathlib.Path(__file__).with_name("digits.deflate").write_bytes(packer.compress(columns) + packer.flush())
