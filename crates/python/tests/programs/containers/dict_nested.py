cfg = {'model': {'layers': [1, 2], 'act': 'relu'}, 'lr': 0.1}
cfg['model']['layers'].append(3)
cfg['model']['drop'] = cfg.get('drop', {}).get('p', 0.5)
print(cfg)
for k, v in cfg.items():
    print(k, '->', v if not isinstance(v, dict) else sorted(v))
groups = {}
for w in ['ant', 'bee', 'axe', 'bat']:
    groups.setdefault(w[0], []).append(w)
print(groups, {k: len(v) for k, v in groups.items()})
