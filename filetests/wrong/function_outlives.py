# call: f(x=1.5)
def f(x):
    def make(a):
        def g(v):
            return a * v

        return g

    h = make(2.0)
    return h(x)
