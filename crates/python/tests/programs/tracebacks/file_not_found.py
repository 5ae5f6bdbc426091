open('no_such_file.txt')
