import base64
import hashlib
import uuid

for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512"):
    made = hashlib.new(name, b"hello ")
    made.update(b"world" * 30)
    print(name, made.digest_size, made.block_size, made.hexdigest())
for data in (b"", b"a", b"hello", b"hello world\xff\xfe"):
    print(base64.b32encode(data), base64.b85encode(data), base64.b32decode(base64.b32encode(data)) == data == base64.b85decode(base64.b85encode(data)))
print(uuid.uuid5(uuid.NAMESPACE_DNS, "example.com"), uuid.uuid3(uuid.NAMESPACE_URL, "a"), uuid.uuid5(uuid.NAMESPACE_OID, "b").version)
