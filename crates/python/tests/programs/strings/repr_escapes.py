for s in ("it's", 'say "x"', 'both \' "', 'tab\tnl\ncr\r', 'back\\slash', '\x00\x1f\x7f', 'é€😀', '\xa0\u200b', ''):
    print(repr(s), len(s))
print(ascii('é€😀'), [s for s in ('a\n', "b'")], b"by'te\xff\n", str(b'x'))
