from pathlib import Path
import tempfile
with tempfile.TemporaryDirectory() as name:
    d = Path(name)
    (d / 'sub' / 'deep').mkdir(parents=True)
    (d / 'sub').mkdir(exist_ok=True)
    f = d / 'a.txt'
    print(f.write_text('hello\nworld\n'), f.read_text(), f.exists(), f.is_file(), f.stat().st_size, (d / 'b.bin').write_bytes(b'\x00\x01'), (d / 'b.bin').read_bytes())
    (d / 'sub' / 'c.txt').write_text('c'); (d / 'sub' / 'deep' / 'e.txt').touch()
    print(sorted(p.name for p in d.iterdir()), sorted(str(p.relative_to(d)) for p in d.glob('*.txt')), sorted(str(p.relative_to(d)) for p in d.rglob('*.txt')), sorted(p.name for p in d.glob('sub/*')))
    with f.open() as h: print(h.readline().strip())
    with (d / 'new.txt').open('w') as h: h.write('x')
    f.rename(d / 'renamed.txt'); print(f.exists(), (d / 'renamed.txt').exists()); (d / 'renamed.txt').unlink(); (d / 'gone').unlink(missing_ok=True)
    try:
        (d / 'sub').mkdir()
    except FileExistsError as e:
        print('exists', e.errno)
print(d.exists())
