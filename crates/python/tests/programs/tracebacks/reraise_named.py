try:
    try:
        [].index(3)
    except ValueError as e:
        saved = e
        raise saved
except ValueError as e2:
    print(e2 is saved)
raise saved
