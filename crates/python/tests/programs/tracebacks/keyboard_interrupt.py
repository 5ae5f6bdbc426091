print('start')
raise KeyboardInterrupt
