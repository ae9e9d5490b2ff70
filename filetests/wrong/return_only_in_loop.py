# call: f(x=[1.0, 2.0, 3.0])
def f(x):
    for v in x:
        if v > 2:
            return v
