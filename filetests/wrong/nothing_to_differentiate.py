# call: f(n=5)
def f(n: int):
    return 2 * n
