'abc'.uper()
