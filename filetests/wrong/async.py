# call: f(x=1.0)
async def f(x):
    return x * x
