def run():
    value = 1
    print(valeu)
run()
