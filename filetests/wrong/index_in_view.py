# call: f(x=[1.0, 2.0, 3.0, 4.0])
def f(x):
    middle = x[1:3]
    return middle[2]
