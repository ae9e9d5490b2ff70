# call: f(x=[3.0, 4.0], y=[1.0])
def f(x, y):
    for i in range(len(y)):
        if i > 1:
            if i == 7:
                return x, x, 4
        for e in x:
            return e, 0.5, 1
    return 0.5, x, 0.7
