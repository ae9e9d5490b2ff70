"""Functions of the package in JAX programs. Run where JAX is installed; see `conftest.ecosystem`."""

import dataclasses
import pickle

import numpy as np
import pytest
from conftest import ecosystem
from programs import both, heat, root, swing

jax = ecosystem("jax")
import jax.numpy as jnp  # noqa: E402

import wengert  # noqa: E402
import wengert.jax  # noqa: E402


@pytest.fixture(params=[True, False], ids=["x64", "x32"])
def tolerance(request):
    """Both of JAX's precisions, and how near results come to each other."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", request.param)
    yield 1e-10 if request.param else 2e-4
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def double():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def swing_in_jax(angle, length, steps):
    def body(_, state):
        x, v = state
        v = v - 9.81 / length * jnp.sin(x) * 0.01
        return x + v * 0.01, v

    return jax.lax.fori_loop(0, steps, body, (angle, jnp.zeros_like(angle)))[0]


def heat_in_jax(u, k, n):
    for step in range(n):
        left = u[0]
        for i in range(1, len(u) - 1):
            here = u[i]
            u = u.at[i].set(here + k * (left - 2 * here + u[i + 1]) * (1.0 + 0.1 * here))
            left = here
    return u


def both_in_jax(x, k):
    return jnp.sum(k * x * x * jnp.sin(x)), k * x * x, len(x)


U = np.array([1.0, 0.3, 0.5, 0.9])


def near(got, want, tolerance):
    got, want = jax.tree.leaves(got), jax.tree.leaves(want)
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert jnp.shape(a) == jnp.shape(b) and jnp.asarray(a).dtype == jnp.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("jit", [True, False], ids=["jit", "eager"])
def test_a_float(tolerance, jit):
    # Within `f`, the number of steps is one of Python's.
    f = lambda a, l: wengert.jax.function(swing)(a, l, 50)
    g = lambda a, l: swing_in_jax(a, l, 50)
    a, l = jnp.asarray(0.5), jnp.asarray(1.3)
    for of in (
        lambda f: f,
        jax.grad,
        lambda f: jax.value_and_grad(f, (0, 1)),
        lambda f: lambda *x: jax.jvp(f, x, (jnp.ones(()), 2 * jnp.ones(()))),
        lambda f: jax.hessian(f, (0, 1)),
        lambda f: jax.jacfwd(jax.jacfwd(f, (0, 1)), (0, 1)),
        lambda f: jax.jacrev(jax.jacfwd(f, (0, 1)), (0, 1)),
        lambda f: jax.grad(lambda *x: sum(jax.grad(f, (0, 1))(*x))),
        lambda f: lambda *x: jax.vjp(f, *x)[1](jnp.asarray(3.0)),
    ):
        h = jax.jit(of(f)) if jit else of(f)
        near(h(a, l), of(g)(a, l), 20 * tolerance)


def test_the_value_is_that_of_the_package(double):
    f = wengert.jax.function(swing)
    assert float(f(0.5, 1.3, 50)) == swing(0.5, 1.3, 50)
    assert float(jax.jit(f)(0.5, 1.3, 50)) == swing(0.5, 1.3, 50)
    got = jax.jit(jax.grad(f, (0, 1)))(0.5, 1.3, 50)
    assert tuple(map(float, got)) == wengert.grad(swing, wrt=("angle", "length"))(0.5, 1.3, 50)


@pytest.mark.parametrize("jit", [True, False], ids=["jit", "eager"])
def test_an_array(tolerance, jit):
    f = lambda u, k: wengert.jax.function(heat)(u, k, 2)
    g = lambda u, k: heat_in_jax(u, k, 2)
    u, k, w = jnp.asarray(U), jnp.asarray(0.2), jnp.arange(4.0)
    weighed = lambda f: lambda *x: jnp.sum(w * jnp.tanh(f(*x)))
    for of in (
        lambda f: f,
        lambda f: jax.jacrev(f, (0, 1)),
        lambda f: jax.jacfwd(f, (0, 1)),
        lambda f: lambda *x: jax.jvp(f, x, (w, jnp.asarray(0.3))),
        lambda f: jax.hessian(f, (0, 1)),
        lambda f: jax.jacrev(jax.jacrev(f, (0, 1)), (0, 1)),
        lambda f: jax.jacfwd(jax.jacfwd(f, (0, 1)), (0, 1)),
        lambda f: jax.jacrev(jax.jacfwd(f, (0, 1)), (0, 1)),
        lambda f: jax.value_and_grad(weighed(f), (0, 1)),
        lambda f: jax.hessian(weighed(f), (0, 1)),
        lambda f: lambda u, k: jax.grad(lambda w: jnp.sum(jax.vjp(f, u, k)[1](w)[0] ** 2))(w),
        lambda f: lambda u, k: jax.grad(lambda w: jnp.sum(jax.jvp(f, (u, k), (w, k))[1] ** 2))(w),
        lambda f: lambda u, k: jax.jvp(lambda w, u: jax.jvp(f, (u, k), (w, k))[1], (w, u), (u, w)),
        lambda f: lambda u, k: jax.jvp(lambda w, u: jax.vjp(f, u, k)[1](w), (w, u), (u, w)),
    ):
        h = jax.jit(of(f)) if jit else of(f)
        near(h(u, k), of(g)(u, k), 20 * tolerance)


def test_several_results_of_which_one_is_whole(tolerance):
    f, g = wengert.jax.function(both), both_in_jax
    x, k = jnp.asarray(U), jnp.asarray(2.0)
    near(jax.jit(f)(x, k)[:2], g(x, k)[:2], tolerance)
    assert f(x, k)[2] == 4 and jnp.issubdtype(f(x, k)[2].dtype, jnp.integer)
    floats = lambda f: lambda x, k: f(x, k)[:2]
    for of in (lambda f: jax.jacrev(floats(f), (0, 1)), lambda f: jax.jacfwd(floats(f), (0, 1)), lambda f: jax.hessian(floats(f))):
        near(jax.jit(of(f))(x, k), of(g)(x, k), 20 * tolerance)


@pytest.mark.parametrize("jit", [True, False], ids=["jit", "eager"])
def test_members(tolerance, jit):
    maybe = jax.jit if jit else lambda f: f
    f, g = (lambda u, k: wengert.jax.function(heat)(u, k, 2)), (lambda u, k: heat_in_jax(u, k, 2))
    us, ks = jnp.stack([jnp.asarray(U), jnp.asarray(U) * 2, jnp.asarray(U) - 0.1]), jnp.asarray([0.1, 0.2, 0.3])
    loss = lambda f: lambda u, k: jnp.sum(f(u, k) ** 2)
    for of in (
        lambda f: jax.vmap(f),
        lambda f: lambda us, ks: jax.vmap(f, (0, None))(us, ks[0]),
        lambda f: lambda us, ks: jax.vmap(f, (1, None), 1)(us.T, ks[0]),
        lambda f: lambda us, ks: jax.vmap(jax.vmap(f, (None, 0)), (0, None))(us, ks),
        lambda f: lambda us, ks: jax.vmap(jax.vmap(f, (0, None)), (0, 0))(jnp.stack([us, us, 2 * us]), ks),
        lambda f: jax.vmap(jax.grad(loss(f), (0, 1))),
        lambda f: lambda us, ks: jax.vmap(jax.grad(loss(f), (0, 1)), (0, None))(us, ks[1]),
        lambda f: jax.grad(lambda us, ks: jnp.sum(jax.vmap(f)(us, ks) ** 2), (0, 1)),
        lambda f: jax.grad(lambda us, ks: jnp.sum(jax.vmap(f, (0, None))(us, ks[1]) ** 2), (0, 1)),
        lambda f: jax.vmap(jax.jacfwd(f, (0, 1))),
        lambda f: jax.vmap(jax.jacrev(f, (0, 1))),
        lambda f: jax.vmap(jax.hessian(loss(f), (0, 1))),
        lambda f: lambda us, ks: jax.hessian(lambda k: jnp.sum(jax.vmap(f, (0, None))(us, k) ** 3))(ks[0]),
        lambda f: lambda us, ks: jax.jacfwd(jax.jacfwd(lambda k: jax.vmap(f, (0, None))(us, k)))(ks[0]),
        lambda f: lambda us, ks: jax.jvp(lambda k: jax.vmap(f, (0, None))(us, k), (ks[0],), (ks[1],)),
    ):
        near(maybe(of(f))(us, ks), of(g)(us, ks), 40 * tolerance)


def test_members_of_a_float(tolerance):
    f, g = (lambda a, l: wengert.jax.function(swing)(a, l, 20)), (lambda a, l: swing_in_jax(a, l, 20))
    a, l = jnp.linspace(0.1, 1.0, 4), jnp.asarray(1.3)
    for of in (
        lambda f: jax.vmap(f, (0, None)),
        lambda f: jax.vmap(jax.value_and_grad(f, (0, 1)), (0, None)),
        lambda f: lambda a, l: jax.value_and_grad(lambda l: jnp.sum(jax.vmap(f, (0, None))(a, l)))(l),
        lambda f: jax.vmap(jax.hessian(f, (0, 1)), (0, None)),
        lambda f: lambda a, l: jax.hessian(lambda l: jnp.sum(jax.vmap(f, (0, None))(a, l)))(l),
    ):
        near(jax.jit(of(f))(a, l), of(g)(a, l), 20 * tolerance)


def test_members_run_as_one_batch(double, monkeypatch):
    from wengert import _parts

    seen = []
    before = _parts.batch
    monkeypatch.setattr(_parts, "batch", lambda f, over: seen.append(list(over)) or before(f, over))
    f = wengert.jax.function(root)
    a = jnp.linspace(1.0, 9.0, 30)
    assert jax.jit(jax.vmap(f, (0, None)))(a, 1.0).tolist() == wengert.batch(root, over="a")(np.asarray(a), 1.0).tolist()
    got = jax.vmap(jax.grad(f), (0, None))(a, 1.0)
    assert got.tolist() == wengert.grad(wengert.batch(root, over="a"), wrt="a")(np.asarray(a), 1.0).tolist()
    assert seen == [["a"], ["a"]]


def test_how_often_a_loop_runs_may_be_traced(double):
    f = jax.jit(wengert.jax.function(swing))
    # One compilation for all numbers of steps, and reverse mode through them, which JAX's own loops do not have.
    assert [float(f(0.5, 1.3, n)) for n in (1, 7, 20)] == [swing(0.5, 1.3, n) for n in (1, 7, 20)]
    assert f._cache_size() == 1
    slope = jax.jit(jax.grad(wengert.jax.function(swing)))
    assert float(slope(0.5, 1.3, 9)) == wengert.grad(swing, wrt="angle")(0.5, 1.3, 9)
    steps = jnp.asarray([1, 5, 9])
    got = jax.vmap(jax.grad(wengert.jax.function(swing)), (None, None, 0))(0.5, 1.3, steps)
    assert got.tolist() == [wengert.grad(swing, wrt="angle")(0.5, 1.3, n) for n in (1, 5, 9)]


def test_single_precision_and_double():
    f = wengert.jax.function(swing)
    x = f(0.5, 1.3, 50)
    assert x.dtype == jnp.float32
    assert x == np.float32(swing(np.float32(0.5), np.float32(1.3), 50))
    exact = wengert.jax.function(swing, double=True)(0.5, 1.3, 50)
    assert exact.dtype == jnp.float32
    assert exact == np.float32(swing(0.5, float(np.float32(1.3)), 50))
    slope = jax.grad(wengert.jax.function(swing, double=True))(0.5, 1.3, 50)
    assert slope == np.float32(wengert.grad(swing, wrt="angle")(0.5, float(np.float32(1.3)), 50))
    half = jnp.asarray(U, jnp.bfloat16)
    assert jax.grad(lambda u: jnp.sum(wengert.jax.function(heat)(u, 0.1, 2)))(half).dtype == jnp.bfloat16


@dataclasses.dataclass
class Spring:
    stiffness: float
    damping: float


jax.tree_util.register_dataclass(Spring, ["stiffness", "damping"], [])


def test_trees(tolerance):
    @wengert.differentiable
    def stretch(p, x):
        v = 0.0
        for i in range(p["steps"]):
            v -= 0.01 * (p["spring"].stiffness * x[0] + p["spring"].damping * v)
            x[0] += 0.01 * v
        return x[0] * x[1]

    f = wengert.jax.function(stretch)
    of = lambda spring, x: f({"spring": spring, "steps": 30}, x)
    spring, x = Spring(jnp.asarray(2.0), jnp.asarray(0.1)), jnp.asarray([1.0, 3.0])
    got = jax.jit(jax.grad(of, (0, 1)))(spring, x)
    want = wengert.grad(stretch)({"spring": Spring(2.0, 0.1), "steps": 30}, np.array([1.0, 3.0]))
    assert isinstance(got[0], Spring)
    near(got[0].damping, jnp.asarray(want["p"]["spring"].damping), tolerance)
    near(got[1], jnp.asarray(want["x"]), tolerance)


def test_shapes_of_results(double):
    @wengert.differentiable
    def powers(x, n):
        out = np.zeros(n)
        for i in range(n):
            assert x < 0.9
            out[i] = x**i
        return out

    f = wengert.jax.function(powers)
    assert f(0.5, 3).tolist() == [1.0, 0.5, 0.25]
    with pytest.raises(wengert.ArgumentError, match="does not run on ones"):
        jax.jit(lambda x: f(x, 4))(0.5)
    g = wengert.jax.function(powers, result=lambda x, n: jax.ShapeDtypeStruct((n,), float))
    assert jax.jit(lambda x: g(x, 3))(0.5).tolist() == [1.0, 0.5, 0.25]
    assert jax.jit(jax.jacfwd(lambda x: g(x, 3)))(0.5).tolist() == [0.0, 1.0, 1.0]
    wrong = wengert.jax.function(powers, result=np.zeros(7))
    with pytest.raises(wengert.ArgumentError, match=r"shape \(3,\), where \(7,\) was expected"):
        wrong(0.5, 3)
    with pytest.raises(Exception, match=r"shape \(3,\), where \(7,\) was expected"):
        jax.block_until_ready(jax.jit(wrong)(0.5, 3))
    with pytest.raises(wengert.ArgumentError, match="axes"):
        wengert.jax.function(powers, result=np.zeros((2, 2)))(0.5, 3)


def test_errors(double):
    f = wengert.jax.function(root, max_iterations=100)
    with pytest.raises(wengert.RunError, match="did not end") as caught:
        jax.grad(f)(-2.0, 1.0)
    assert caught.value.line is not None
    with pytest.raises(Exception, match="did not end within the limit of 100 iterations"):
        jax.block_until_ready(jax.jit(f)(-2.0, 1.0))
    with pytest.raises(wengert.ArgumentError, match="third derivatives"):
        jax.grad(jax.grad(jax.grad(wengert.jax.function(lambda x: x**4))))(1.0)
    with pytest.raises(wengert.ArgumentError, match="complex"):
        f(1j, 1.0)
    with pytest.raises(wengert.ArgumentError, match="nothing JAX knows"):
        f("two", 1.0)
    with pytest.raises(wengert.ArgumentError, match="wengert.jax.function"):
        jax.jit(root)(2.0, 1.0)


def test_arrays_of_jax_are_arguments_and_are_not_copied(double, monkeypatch):
    x = jnp.linspace(0.0, 1.0, 1000).reshape(10, 100)
    assert wengert._wengert.address(x) == x.unsafe_buffer_pointer()
    assert wengert.differentiable(lambda x: np.sum(x))(x) == pytest.approx(500.0)
    from wengert import _parts

    seen = []
    before = _parts.Parts.gradient
    monkeypatch.setattr(_parts.Parts, "gradient", lambda s, by, args, *m: seen.extend(args) or before(s, by, args, *m))
    f = wengert.jax.function(lambda x: np.sum(x * x))
    jax.grad(f)(x)
    assert seen.pop().ctypes.data == x.unsafe_buffer_pointer()


def test_large_arrays_within_jit(double):
    total = wengert.jax.function(lambda x, y: np.sum(x * y))
    x = jnp.linspace(0.0, 1.0, 3_000_000)
    step = jax.jit(jax.value_and_grad(lambda x: total(jnp.sin(x), jnp.cos(x)) + jnp.sum(x)))
    for _ in range(5):
        value, by = step(x)
    np.testing.assert_allclose(by, jnp.cos(2 * x) + 1.0, rtol=1e-10)


def test_within_loops_of_jax(double):
    f = wengert.jax.function(swing)
    got = jax.jit(lambda a: jax.lax.fori_loop(0, 3, lambda _, a: f(a, 1.3, 5), a))(0.5)
    want = 0.5
    for _ in range(3):
        want = swing(want, 1.3, 5)
    assert float(got) == want
    by = jax.grad(lambda a: jax.lax.scan(lambda a, _: (f(a, 1.3, 5), None), a, None, length=3)[0])(0.5)
    near(by, jnp.asarray(wengert.grad(swing, wrt="angle")(0.5, 1.3, 5)), 0.1)


def test_arguments_by_name_and_pickling():
    f = pickle.loads(pickle.dumps(wengert.jax.function(swing, memory="1kB")))
    assert f(0.5, steps=3, length=1.0) == wengert.jax.function(swing)(0.5, 1.0, 3)
    assert f.function.options == {"memory": "1kB"} and f.__name__ == "swing"


@wengert.jax.function
def decorated(x, n):
    for i in range(n):
        x = x * x
    return x


def test_decorators():
    @wengert.jax.function(max_iterations=5)
    def f(x, n):
        for i in range(n):
            x = x * x
        return x

    assert float(jax.grad(f)(2.0, 3)) == 8 * 2.0**7
    assert float(jax.grad(decorated)(2.0, 3)) == 8 * 2.0**7
    assert float(pickle.loads(pickle.dumps(decorated))(2.0, 3)) == 256.0
    assert f.function.options == {"max_iterations": 5}
    for made in (wengert.grad(f.function), wengert.batch(f.function, over="x")):
        with pytest.raises(wengert.ArgumentError, match="give the function itself: JAX makes"):
            wengert.jax.function(made)
