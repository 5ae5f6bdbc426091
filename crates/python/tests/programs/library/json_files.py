import json, os
with open('tmp_corpus.json', 'w') as f:
    json.dump({'epoch': 3, 'loss': [0.5, 0.25]}, f, indent=1)
with open('tmp_corpus.json') as f:
    print(f.read())
with open('tmp_corpus.json') as f:
    data = json.load(f)
print(data, type(data['loss'][0]).__name__)
os.remove('tmp_corpus.json')
