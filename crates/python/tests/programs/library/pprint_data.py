from pprint import pprint, pformat
pprint({'b': 1, 'a': [1, 2]})
pprint({'model': {'layers': [64, 128, 256], 'activation': 'relu', 'dropout': 0.5}, 'optimizer': {'name': 'adamw', 'lr': 0.001, 'betas': (0.9, 0.999)}, 'epochs': 10})
pprint(list(range(40)), compact=True); pprint(['word' * 5] * 5); pprint({1: {2: {3: {4: 5}}}}, depth=2); print(pformat([1, 'a', None]), pformat(()), pformat((1,)))
pprint([[1, 2, 3] * 5, {'k': 'v' * 30, 'other': 'w' * 40}], width=60, indent=2); pprint('a long string with many words ' * 5, width=50); pprint({'z': 1, 'y': 2}, sort_dicts=False)
