# call: f(x=[1.0, 2.0, 3.0])
def f(x):
    for v in x:
        if v > 5:
            break
    else:
        v = 0.0
    return v
