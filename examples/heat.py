# Heat in a rod, explicit steps, the temperatures overwritten in place.
# Returns the temperature in the middle after n steps.


def heat(u, k, n):
    for step in range(n):
        left = u[0]
        for i in range(1, len(u) - 1):
            here = u[i]
            u[i] = here + k * (left - 2 * here + u[i + 1])
            left = here
    return u[len(u) // 2]
