"""The peers, a module each.

A module has a function for every row it can do, named as the row, which takes the inputs and gives a function without arguments:
called, it computes value and gradient. The first call does whatever the peer has to do once. `numbers(result)` makes the value and
the gradient, as one array, of what such a call returns. `REFUSED` says why for rows it has no way to do.
"""
