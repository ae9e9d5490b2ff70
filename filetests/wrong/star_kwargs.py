# call: f(x=1.0)
def f(**options):
    return options["x"]
