from pathlib import Path, PurePath
p = Path('/home/user') / 'data' / 'model.tar.gz'
print(p, repr(p), p.name, p.stem, p.suffix, p.suffixes, p.parent, p.parents[1], p.parts, p.with_suffix('.pt'), p.with_name('x'), p.is_absolute(), p.relative_to('/home'), str(p) + '!', p == Path('/home/user/data/model.tar.gz'), Path('a//b/./c'), Path(), Path('a') / '/b', p.joinpath('x', 'y'), Path('a.txt').with_stem('b'), p.match('*.gz'), sorted([Path('b'), Path('a')]), 'x' / Path('y'), p.as_posix(), hash(Path('a')) == hash(Path('a')))
print(Path('no/such').exists(), Path('.').is_dir(), Path('x.y').suffix, Path('.hidden').suffix, Path('/').name, Path('/').parent, isinstance(p, PurePath), f'{Path("a"):>3}' if False else '', p.is_relative_to('/home'))
for f in (lambda: p.relative_to('/etc'), lambda: Path('/').with_name('a'), lambda: p.with_suffix('gz'), lambda: Path(5), lambda: Path('no/such').read_text()):
    try:
        f()
    except (ValueError, TypeError, OSError) as e:
        print(type(e).__name__, e)
