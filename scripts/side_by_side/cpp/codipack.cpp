// CoDiPack: `gradient` records a row on its tape and evaluates it. Compiled for one row: -DROW=row_a, and -DPATHWISE for e, -DSECOND for
// second derivatives.
#include <cmath>
#include <codi.hpp>

using std::exp, std::log, std::sin, std::sqrt, std::tanh;

template <class T> double number(const T& x) {
    return codi::RealTraits::getPassiveValue(x);
}

#define ARRAY(T, name, n) T* name = new T[n];
#define DONE(name) delete[] name;

#include "loops.hpp"

#ifndef SECOND
using Real = codi::RealReverse;

extern "C" double gradient(const double* x, int count, const double* c, double* g) {
    Real* in = new Real[count];
    auto& tape = Real::getTape();
    double value = 0.0;
    for (int i = 0; i < count; i++) g[i] = 0.0;
#ifdef PATHWISE
    // Path by path, so that the tape stays in the cache.
    const double scale = exp(-0.02) / PATHS;
    for (int p = 0; p < PATHS; p++) {
#else
    const double scale = 1.0;
#endif
        tape.setActive();
        for (int i = 0; i < count; i++) {
            in[i] = x[i];
            tape.registerInput(in[i]);
        }
#ifdef PATHWISE
        Real out = heston_path<Real>(in, c + DAYS * p, c + DAYS * (PATHS + p));
#else
        Real out = ROW<Real>(in, c);
#endif
        tape.registerOutput(out);
        tape.setPassive();
        out.setGradient(scale);
        tape.evaluate();
        value += scale * out.getValue();
        for (int i = 0; i < count; i++) g[i] += in[i].getGradient();
        tape.reset();
#ifdef PATHWISE
    }
#endif
    delete[] in;
    return value;
}
#else
using Inner = codi::RealForward;
using Real = codi::RealReverseGen<Inner>;

// The Hessian times a direction: forward mode over the tape.
extern "C" double gradient(const double* x, int count, const double* c, double* g, const double* along) {
    Real* in = new Real[count];
    auto& tape = Real::getTape();
    tape.setActive();
    for (int i = 0; i < count; i++) {
        in[i] = x[i];
        in[i].value().gradient() = along[i];
        tape.registerInput(in[i]);
    }
    Real out = ROW<Real>(in, c);
    tape.registerOutput(out);
    tape.setPassive();
    out.gradient() = 1.0;
    tape.evaluate();
    double value = out.getValue().getValue();
    for (int i = 0; i < count; i++) g[i] = in[i].getGradient().getGradient();
    tape.reset();
    delete[] in;
    return value;
}
#endif
