# call: f(x=1.0)

