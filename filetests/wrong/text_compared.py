# call: f(x=1.0)
def f(x):
    if x == "one":
        return 1.0
    return x
