# Running sums, each made from the one before it in the same array.
# The adjoint of a prefix sum is the sum from the other end.


def prefix_sum(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]
    return x
