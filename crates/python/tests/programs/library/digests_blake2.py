import hashlib

for data in (b"", b"abc", b"x" * 64, b"y" * 128, b"z" * 300):
    print(hashlib.blake2b(data).hexdigest(), hashlib.blake2s(data).hexdigest())
for h in (hashlib.blake2b(b"m", key=b"secret", digest_size=16), hashlib.blake2s(b"m" * 200, key=b"k" * 32, salt=b"salt", person=b"me"),
          hashlib.blake2b(digest_size=20, person=b"app"), hashlib.new("blake2s", b"q", digest_size=4)):
    copy = h.copy()
    h.update(b"more")
    print(h.name, h.digest_size, h.block_size, h.hexdigest(), copy.hexdigest())
print(hashlib.blake2b.MAX_KEY_SIZE, hashlib.blake2s.SALT_SIZE, hashlib.blake2b.MAX_DIGEST_SIZE)
for call in (lambda: hashlib.blake2b(digest_size=65), lambda: hashlib.blake2s(key=b"k" * 33), lambda: hashlib.blake2b(salt=b"s" * 17), lambda: hashlib.blake2b("text")):
    try:
        call()
    except (ValueError, TypeError) as error:
        print(type(error).__name__, error)
for name in ("sha1", "sha256", "sha512", "md5"):
    print(hashlib.pbkdf2_hmac(name, b"password", b"salt", 3).hex(), hashlib.pbkdf2_hmac(name, b"p" * 200, b"s", 2, 50).hex())
