# call: f(x=[1, 2], p=1.0)
def f(x, p):
    v = x
    for i in range(3):
        if p > 0:
            v[0] += p
            v = v * 1.0
            continue
    return x[0]
