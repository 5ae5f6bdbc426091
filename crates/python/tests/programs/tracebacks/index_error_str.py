'abc'[5]
