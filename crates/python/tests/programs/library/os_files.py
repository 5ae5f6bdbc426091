import os, tempfile, shutil, glob
d = tempfile.mkdtemp()
os.makedirs(os.path.join(d, 'a', 'b'), exist_ok=True)
os.makedirs(os.path.join(d, 'a'), exist_ok=True)
for n in ('x.txt', 'y.txt', 'a/z.txt', 'a/b/w.py'):
    with open(os.path.join(d, n), 'w') as f:
        f.write(n)
print(sorted(os.listdir(d)), sorted(os.path.relpath(p, d) for p in glob.glob(d + '/*.txt')), sorted(os.path.relpath(p, d) for p in glob.glob(d + '/**/*', recursive=True)), os.path.getsize(os.path.join(d, 'x.txt')))
for root, dirs, files in os.walk(d):
    dirs.sort(); print(os.path.relpath(root, d), dirs, sorted(files))
os.rename(os.path.join(d, 'x.txt'), os.path.join(d, 'r.txt')); os.remove(os.path.join(d, 'y.txt')); shutil.copy(os.path.join(d, 'r.txt'), os.path.join(d, 'c.txt')); print(sorted(os.listdir(d)), open(os.path.join(d, 'c.txt')).read(), [e.name for e in sorted(os.scandir(d), key=lambda e: e.name) if e.is_dir()])
try:
    os.mkdir(os.path.join(d, 'a'))
except FileExistsError as e:
    print(type(e).__name__, e.errno)
try:
    os.rmdir(os.path.join(d, 'a'))
except OSError as e:
    print(type(e).__name__, e.errno)
shutil.rmtree(d); print(os.path.exists(d))
