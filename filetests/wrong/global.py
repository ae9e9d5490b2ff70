# call: f(x=1.0)
COUNT = 0


def f(x):
    global COUNT
    COUNT = COUNT + 1
    return x * COUNT
