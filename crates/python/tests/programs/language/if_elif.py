def grade(s):
    if s >= 90:
        return 'A'
    elif s >= 80:
        return 'B'
    elif s >= 70:
        return 'C'
    else:
        return 'F'
print([grade(s) for s in (95, 85, 75, 10)])
if []:
    print('no')
elif not []:
    print('yes')
