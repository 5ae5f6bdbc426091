value = {'numbers': [1, 2, 3]}
result = value['numbers'][0] + value['numbers'][1] * value['numbers'][7] - 5
