# call: f(x=1.0)
RATE = 2.0
