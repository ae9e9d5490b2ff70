// The workloads in C++, once for all that differentiate it. A row is `T row<T>(x, c)`: x holds what it is differentiated by, in the order
// of the gradient, c everything else. How
// large arrays are made (ARRAY, DONE) and functions are declared is up to who includes this.

template <class T> T row_a(const T* x, const double*) {
    T h = x[2], total = 0.0;
    for (int i = 0; i < 1000000; i++) {
        h = tanh(x[0] * h + x[1]);
        total += h;
    }
    return total / 1000000.0;
}

template <class T> T row_a0(const T* x, const double*) {
    T h = 0.5;
    for (int i = 0; i < 1000000; i++) h = tanh(x[0] * h + x[1]);
    return h;
}

// x: W, U, b; c: the inputs of all steps.
template <class T> T row_b(const T* __restrict__ x, const double* __restrict__ c) {
    const int d = 64, steps = 1000;
    const T *W = x, *U = x + d * d, *b = x + 2 * d * d;
    // All states are kept, one after another: nothing is overwritten, so that nothing has to be saved.
    ARRAY(T, h, (steps + 1) * d)
    for (int i = 0; i < d; i++) h[i] = 0.0;
    T total = 0.0;
    for (int t = 0; t < steps; t++) {
        const T* old = h + d * t;
        for (int i = 0; i < d; i++) {
            T sum = b[i];
            for (int j = 0; j < d; j++) sum += W[d * i + j] * old[j] + U[d * i + j] * c[d * t + j];
            T now = tanh(sum);
            h[d * (t + 1) + i] = now;
            total += 0.5 * now * now;
        }
    }
    DONE(h)
    return total / double(steps);
}

// c: the number of steps; x may leave out the start, which then is (1, 1, 1).
template <class T> T lorenz(T sigma, T rho, T beta, T x, T y, T z, int n) {
    const double dt = 2.0 / n, h = dt / 2;
    for (int step = 0; step < n; step++) {
        T ax = sigma * (y - x), ay = x * (rho - z) - y, az = x * y - beta * z;
        T u = x + h * ax, v = y + h * ay, w = z + h * az;
        T bx = sigma * (v - u), by = u * (rho - w) - v, bz = u * v - beta * w;
        u = x + h * bx, v = y + h * by, w = z + h * bz;
        T cx = sigma * (v - u), cy = u * (rho - w) - v, cz = u * v - beta * w;
        u = x + dt * cx, v = y + dt * cy, w = z + dt * cz;
        T dx = sigma * (v - u), dy = u * (rho - w) - v, dz = u * v - beta * w;
        x += dt / 6 * (ax + 2.0 * bx + 2.0 * cx + dx);
        y += dt / 6 * (ay + 2.0 * by + 2.0 * cy + dy);
        z += dt / 6 * (az + 2.0 * bz + 2.0 * cz + dz);
    }
    return x;
}

template <class T> T row_c(const T* x, const double*) {
    return lorenz<T>(x[0], x[1], x[2], x[3], x[4], x[5], 1000000);
}

template <class T> T row_l(const T* __restrict__ x, const double* __restrict__ c) {
    return lorenz<T>(x[0], x[1], x[2], T(c[0]), T(c[1]), T(c[2]), 10000);
}

template <class T, bool reacts> T plate(const T* x) {
    const int n = 256;
    ARRAY(T, first, n * n)
    ARRAY(T, second, n * n)
    T *u = first, *next = second;
    for (int k = 0; k < n * n; k++) u[k] = next[k] = x[k];
    for (int step = 0; step < 1000; step++) {
        for (int i = 1; i < n - 1; i++) {
            for (int j = 1; j < n - 1; j++) {
                const T& c = u[n * i + j];
                const T& around_n = u[n * (i - 1) + j];
                const T& around_s = u[n * (i + 1) + j];
                const T& around_w = u[n * i + j - 1];
                const T& around_e = u[n * i + j + 1];
                if (reacts)
                    next[n * i + j] = c + 0.2 * (around_n + around_s + around_w + around_e - 4.0 * c) + 0.01 * (c - c * c * c);
                else
                    next[n * i + j] = c + 0.2 * (around_n + around_s + around_w + around_e - 4.0 * c);
            }
        }
        T* other = u;
        u = next;
        next = other;
    }
    T total = 0.0;
    for (int k = 0; k < n * n; k++) total += 0.5 * u[k] * u[k];
    DONE(first)
    DONE(second)
    return total;
}

template <class T> T row_d(const T* x, const double*) {
    return plate<T, false>(x);
}

template <class T> T row_d2(const T* x, const double*) {
    return plate<T, true>(x);
}

// One path of e, not yet discounted nor divided by their number; z: its normal numbers, those of Z1, then those of Z2.
template <class T> T heston_path(const T* x, const double* z1, const double* z2) {
    const double dt = 1.0 / 252, r = 0.02;
    T X = log(100.0), v = x[0];
    T other = sqrt(1.0 - x[4] * x[4]);
    for (int t = 0; t < 252; t++) {
        T vp = v > 1e-6 ? v : T(1e-6);
        T s = sqrt(vp * dt);
        X += (r - vp / 2.0) * dt + s * z1[t];
        v += x[1] * (x[2] - vp) * dt + x[3] * s * (x[4] * z1[t] + other * z2[t]);
    }
    T gain = exp(X) - 100.0;
    return gain > 0.0 ? gain : T(0.0);
}

const int PATHS = 20000, DAYS = 252;

template <class T> T row_e(const T* __restrict__ x, const double* __restrict__ c) {
    T total = 0.0;
    for (int p = 0; p < PATHS; p++) total += heston_path<T>(x, c + DAYS * p, c + DAYS * (PATHS + p));
    return exp(-0.02) * total / double(PATHS);
}

// x: A, row by row; c: the start.
template <class T> T row_f1(const T* __restrict__ x, const double* __restrict__ c) {
    const int d = 64;
    ARRAY(T, v, d)
    ARRAY(T, next, d)
    for (int i = 0; i < d; i++) v[i] = c[i];
    double change = 1.0;
    while (change > 1e-12) {
        T square = 0.0;
        for (int i = 0; i < d; i++) {
            T sum = 0.0;
            for (int j = 0; j < d; j++) sum += x[d * i + j] * v[j];
            next[i] = sum;
            square += sum * sum;
        }
        T norm = sqrt(square);
        double moved = 0.0;
        for (int i = 0; i < d; i++) {
            T now = next[i] / norm;
            double by = number(now) - number(v[i]);
            moved += by * by;
            v[i] = now;
        }
        change = sqrt(moved);
    }
    T total = 0.0;
    for (int i = 0; i < d; i++) {
        T sum = 0.0;
        for (int j = 0; j < d; j++) sum += x[d * i + j] * v[j];
        total += v[i] * sum + sin(double(i)) * v[i];
    }
    DONE(v)
    DONE(next)
    return total;
}

template <class T> T row_f2(const T* x, const double*) {
    T E = x[0];
    double change = 1.0;
    while (change > 1e-14 || change < -1e-14) {
        T next = x[0] + x[1] * sin(E);
        change = number(next) - number(E);
        E = next;
    }
    return E;
}

// x: b, then a.
template <class T> T row_f3(const T* x, const double*) {
    const int n = 32;
    T y[n + 2];
    for (int i = 0; i < n + 2; i++) y[i] = 0.0;
    double change = 1.0;
    while (change > 1e-12) {
        change = 0.0;
        for (int i = 1; i <= n; i++) {
            T next = (x[i - 1] + y[i - 1] + y[i + 1]) / x[n];
            double by = number(next) - number(y[i]);
            by = by < 0 ? -by : by;
            change = by > change ? by : change;
            y[i] = next;
        }
    }
    T total = 0.0;
    for (int i = 0; i < n + 2; i++) total += y[i] * y[i];
    return total;
}

// x: lr, b1, b2; c: A, then y.
template <class T> T row_g(const T* __restrict__ x, const double* __restrict__ c) {
    const int rows = 100, d = 50;
    T at[d], mean[d], var[d], slope[d];
    for (int j = 0; j < d; j++) at[j] = mean[j] = var[j] = 0.0;
    T p1 = 1.0, p2 = 1.0;
    for (int step = 0; step < 1000; step++) {
        for (int j = 0; j < d; j++) slope[j] = 0.0;
        for (int i = 0; i < rows; i++) {
            T r = -c[rows * d + i];
            for (int j = 0; j < d; j++) r += c[d * i + j] * at[j];
            r = r / double(rows);
            for (int j = 0; j < d; j++) slope[j] += c[d * i + j] * r;
        }
        p1 *= x[1];
        p2 *= x[2];
        for (int j = 0; j < d; j++) {
            mean[j] = x[1] * mean[j] + (1.0 - x[1]) * slope[j];
            var[j] = x[2] * var[j] + (1.0 - x[2]) * slope[j] * slope[j];
            at[j] -= x[0] * (mean[j] / (1.0 - p1)) / (sqrt(var[j] / (1.0 - p2)) + 1e-8);
        }
    }
    T total = 0.0;
    for (int i = 0; i < rows; i++) {
        T r = -c[rows * d + i];
        for (int j = 0; j < d; j++) r += c[d * i + j] * at[j];
        total += r * r;
    }
    return total / (2.0 * rows);
}

template <class T> T row_h(const T* x, const double*) {
    const int n = 100000;
    ARRAY(T, y, n)
    T total = x[0];
    for (int i = 0; i < n; i++) y[i] = x[i];
    for (int i = 1; i < n; i++) {
        y[i] = y[i - 1] * y[i] + sin(y[i]);
        total += y[i];
    }
    DONE(y)
    return total;
}
