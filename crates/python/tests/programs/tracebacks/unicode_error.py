'é'.encode('ascii')
