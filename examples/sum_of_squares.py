# The sum of squares of the elements of an array.
# Its gradient is twice the array.


def sum_of_squares(x):
    total = 0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total
