serve()
