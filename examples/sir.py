# An epidemic: susceptible, infected, recovered. Contacts are halved once many are infected, so the
# path depends on the state. Returns the peak and who was spared.


def epidemic(rate, recovery, infected, threshold, dt, n):
    s, i = 1.0 - infected, infected
    peak = i
    for step in range(n):
        contacts = rate
        if i > threshold:
            contacts = 0.5 * rate
        new = dt * contacts * s * i
        s -= new
        i += new - dt * recovery * i
        peak = max(peak, i)
    return peak, s
