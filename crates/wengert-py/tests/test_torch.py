"""Functions of the package in PyTorch programs. Run where PyTorch is installed; see `conftest.ecosystem`."""

import dataclasses
import pickle

import numpy as np
import pytest
from conftest import ecosystem
from programs import both, heat, root, swing

torch = ecosystem("torch")
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap  # noqa: E402

import wengert  # noqa: E402
import wengert.torch  # noqa: E402


def swing_in_torch(angle, length, steps):
    x, v = angle, 0.0
    for step in range(steps):
        v = v - 9.81 / length * torch.sin(x) * 0.01
        x = x + v * 0.01
    return x


def heat_in_torch(u, k, n):
    u = list(u.unbind())
    for step in range(n):
        left = u[0]
        for i in range(1, len(u) - 1):
            here = u[i]
            u[i] = here + k * (left - 2 * here + u[i + 1]) * (1.0 + 0.1 * here)
            left = here
    return torch.stack(u)


def tensor(x, dtype=torch.float64, requires_grad=False):
    return torch.tensor(x, dtype=dtype, requires_grad=requires_grad)


U, K = tensor([1.0, 0.3, 0.5, 0.9]), tensor(0.2)
A, L = tensor(0.5), tensor(1.3)


def near(got, want, tolerance=1e-9):
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for a, b in zip(got, want):
            near(a, b, tolerance)
    else:
        torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance)


def test_the_numbers_of_the_package():
    a, l = tensor(0.5, requires_grad=True), tensor(1.3, requires_grad=True)
    x = wengert.torch.function(swing)(a, l, 50)
    x.backward()
    value, by = wengert.value_and_grad(swing, wrt=("angle", "length"))(0.5, 1.3, 50)
    assert (x.item(), a.grad.item(), l.grad.item()) == (value, *by)
    u = U.clone().requires_grad_()
    heat_of = wengert.torch.function(heat)
    w = torch.arange(4.0, dtype=torch.float64)
    torch.sum(w * heat_of(u, 0.2, 3)).backward()
    _, pull = wengert.vjp(heat, U.numpy(), 0.2, 3, wrt="u")
    assert u.grad.tolist() == pull(w.numpy()).tolist()


def test_checks_of_torch():
    a, l = tensor(0.5, requires_grad=True), tensor(1.3, requires_grad=True)
    u, k = U.clone().requires_grad_(), K.clone().requires_grad_()
    for f, args in (
        (lambda a, l: wengert.torch.function(swing)(a, l, 20), (a, l)),
        (lambda u, k: wengert.torch.function(heat)(u, k, 2), (u, k)),
        (lambda u, k: wengert.torch.function(both)(u, k)[:2], (u, k)),
    ):
        assert gradcheck(f, args, check_forward_ad=True)
        assert gradgradcheck(f, args, check_fwd_over_rev=True, check_rev_over_rev=True)


OF_A_FLOAT = [
    lambda f: grad(f, (0, 1)),
    lambda f: jacrev(f, (0, 1)),
    lambda f: jacfwd(f, (0, 1)),
    lambda f: hessian(f, (0, 1)),
    lambda f: jacrev(jacrev(f, (0, 1)), (0, 1)),
    lambda f: jacfwd(jacfwd(f, (0, 1)), (0, 1)),
    lambda f: jacrev(jacfwd(f, (0, 1)), (0, 1)),
    lambda f: lambda *x: jvp(f, x, tuple(torch.ones_like(y) for y in x)),
    lambda f: lambda *x: vjp(lambda *x: f(*x) * 2.0, *x)[1](torch.ones_like(f(*x))),
]


@pytest.mark.parametrize("of", OF_A_FLOAT)
def test_functional_transforms(of):
    f, g = (lambda a, l: wengert.torch.function(swing)(a, l, 20)), (lambda a, l: swing_in_torch(a, l, 20))
    near(of(f)(A, L), of(g)(A, L))
    f, g = (lambda u, k: wengert.torch.function(heat)(u, k, 2)), (lambda u, k: heat_in_torch(u, k, 2))
    if of is not OF_A_FLOAT[0]:
        near(of(f)(U, K), of(g)(U, K))


OF_MEMBERS = [
    lambda f: vmap(f),
    lambda f: lambda us, ks: vmap(f, (0, None))(us, ks[0]),
    lambda f: lambda us, ks: vmap(f, (1, None), 1)(us.T, ks[0]),
    lambda f: lambda us, ks: vmap(vmap(f, (None, 0)), (0, None))(us, ks),
    lambda f: lambda us, ks: vmap(vmap(f, (0, None)), (0, 0))(torch.stack([us, us, 2 * us]), ks),
    lambda f: vmap(grad(lambda *x: torch.sum(f(*x) ** 2), (0, 1))),
    lambda f: lambda us, ks: vmap(grad(lambda *x: torch.sum(f(*x) ** 2), (0, 1)), (0, None))(us, ks[1]),
    lambda f: grad(lambda us, ks: torch.sum(vmap(f)(us, ks) ** 2), (0, 1)),
    lambda f: grad(lambda us, ks: torch.sum(vmap(f, (0, None))(us, ks[1]) ** 2), (0, 1)),
    lambda f: vmap(jacfwd(f, (0, 1))),
    lambda f: vmap(jacrev(f, (0, 1))),
    lambda f: vmap(hessian(lambda *x: torch.sum(f(*x) ** 2), (0, 1))),
    lambda f: lambda us, ks: hessian(lambda k: torch.sum(vmap(f, (0, None))(us, k) ** 3))(ks[0]),
    lambda f: lambda us, ks: jacfwd(jacfwd(lambda k: vmap(f, (0, None))(us, k)))(ks[0]),
]


@pytest.mark.parametrize("of", OF_MEMBERS)
def test_members(of):
    f, g = (lambda u, k: wengert.torch.function(heat)(u, k, 2)), (lambda u, k: heat_in_torch(u, k, 2))
    us, ks = torch.stack([U, 2 * U, U - 0.1]), tensor([0.1, 0.2, 0.3])
    near(of(f)(us, ks), of(g)(us, ks))


def test_members_of_a_float():
    f, g = (lambda a, l: wengert.torch.function(swing)(a, l, 20)), (lambda a, l: swing_in_torch(a, l, 20))
    a = torch.linspace(0.1, 1.0, 4, dtype=torch.float64)
    for wrap in (lambda f: f, lambda f: grad(f, (0, 1)), lambda f: hessian(f, (0, 1))):
        near(vmap(wrap(f), (0, None))(a, L), vmap(wrap(g), (0, None))(a, L))
    loss = lambda f: lambda l: torch.sum(vmap(f, (0, None))(a, l) ** 2)
    near(grad(loss(f))(L), grad(loss(g))(L))
    near(hessian(loss(f))(L), hessian(loss(g))(L))


def test_members_run_as_one_batch(monkeypatch):
    from wengert import _parts

    seen = []
    before = _parts.batch
    monkeypatch.setattr(_parts, "batch", lambda f, over: seen.append(list(over)) or before(f, over))
    f = wengert.torch.function(root)
    a = torch.linspace(1.0, 9.0, 30, dtype=torch.float64)
    assert vmap(f, (0, None))(a, tensor(1.0)).tolist() == wengert.batch(root, over="a")(a.numpy(), 1.0).tolist()
    got = vmap(grad(f), (0, None))(a, tensor(1.0))
    assert got.tolist() == wengert.grad(wengert.batch(root, over="a"), wrt="a")(a.numpy(), 1.0).tolist()
    assert seen and all(over == ["a"] for over in seen)


def test_derivatives_of_derivatives():
    u = U.clone().requires_grad_()
    f, g = wengert.torch.function(heat), heat_in_torch
    found = []
    for h in (f, g):
        (first,) = torch.autograd.grad(torch.sum(torch.tanh(h(u, K, 2))), u, create_graph=True)
        (second,) = torch.autograd.grad(torch.sum(first**2), u)
        found.append((first, second))
    near(found[0], found[1])
    a = tensor(2.0, requires_grad=True)
    (first,) = torch.autograd.grad(wengert.torch.function(root)(a, 1.0, 1e-12), a, create_graph=True)
    (second,) = torch.autograd.grad(first, a, create_graph=True)
    np.testing.assert_allclose([first.item(), second.item()], [0.5 / 2**0.5, -0.25 / 2**1.5], rtol=1e-9)
    with pytest.raises(wengert.ArgumentError, match="third derivatives"):
        torch.autograd.grad(second, a)


def test_elements_keep_their_kind():
    f = wengert.torch.function(heat)
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        u = U.clone().to(dtype).requires_grad_()
        y = f(u, 0.2, 2)
        torch.sum(y).backward()
        assert u.grad.dtype == dtype
        assert y.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    total, squares, count = wengert.torch.function(both)(U.float(), tensor(2.0, torch.float32))
    assert squares.dtype == torch.float32 and not count.is_floating_point() and count.item() == 4
    x = U.clone().requires_grad_()
    total, squares, count = wengert.torch.function(both)(x, 2.0)
    assert total.requires_grad and squares.requires_grad and not count.requires_grad
    assert wengert.torch.function(lambda x, n: x[n])(U, torch.tensor(1)).item() == 0.3


def test_nothing_is_copied(monkeypatch):
    from wengert import _parts

    seen = []
    before = _parts.Parts.gradient
    monkeypatch.setattr(_parts.Parts, "gradient", lambda s, by, args, *m: seen.extend(args) or before(s, by, args, *m))
    f = wengert.torch.function(lambda x: np.sum(x * x))
    for dtype in (torch.float32, torch.float64):
        x = torch.ones((3, 4), dtype=dtype, requires_grad=True)
        f(x)
        assert seen.pop().ctypes.data == x.data_ptr()
        assert wengert._wengert.address(x.detach()) == x.data_ptr()
    assert wengert._wengert.address(x.detach().T) != x.data_ptr()
    # A result that a program made goes to torch as it is, and to others through DLPack.
    y = wengert.differentiable(lambda x: x * 2.0)(x.detach())
    assert torch.from_dlpack(y).data_ptr() == y.ctypes.data


def test_tensors_are_arguments_of_plain_functions():
    assert swing(tensor(0.5), 1.3, 10) == swing(0.5, 1.3, 10)
    assert wengert.grad(lambda x: np.sum(x**2))(U).tolist() == (2 * U).tolist()
    with pytest.raises(wengert.ArgumentError, match="wengert.torch.function"):
        swing(tensor(0.5, requires_grad=True), 1.3, 10)
    with pytest.raises(wengert.ArgumentError, match="in the memory of `meta`"):
        swing(torch.ones(3, device="meta"), 1.3, 10)


@dataclasses.dataclass
class Spring:
    stiffness: torch.Tensor
    damping: torch.Tensor


def test_trees():
    @wengert.differentiable
    def stretch(p, x):
        v = 0.0
        for i in range(p["steps"]):
            v -= 0.01 * (p["spring"].stiffness * x[0] + p["spring"].damping * v)
            x[0] += 0.01 * v
        return x[0] * x[1]

    spring = Spring(tensor(2.0, requires_grad=True), tensor(0.1, requires_grad=True))
    x = tensor([1.0, 3.0], requires_grad=True)
    wengert.torch.function(stretch)({"spring": spring, "steps": 30}, x).backward()
    want = wengert.grad(stretch)({"spring": Spring(2.0, 0.1), "steps": 30}, np.array([1.0, 3.0]))
    assert spring.damping.grad.item() == want["p"]["spring"].damping
    assert x.grad.tolist() == want["x"].tolist()


def test_a_model_is_trained():
    torch.manual_seed(0)
    net = torch.nn.Linear(1, 1, dtype=torch.float64)
    layer = wengert.torch.function(swing)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(50):
        optimiser.zero_grad()
        loss = (layer(net(tensor([0.5])).squeeze(), 1.3, 30) - 0.25) ** 2
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 1e-3 * losses[0]


def test_compiled_programs_leave_it_as_it_is():
    f = wengert.torch.function(swing)
    of = lambda a: torch.sin(f(torch.cos(a), 1.3, 5))
    found = []
    for g in (of, torch.compile(of, backend="eager")):
        a = tensor(0.3, requires_grad=True)
        g(a).backward()
        found.append(a.grad.item())
    assert found[0] == found[1]


def test_errors():
    f = wengert.torch.function(root, max_iterations=100)
    with pytest.raises(wengert.RunError, match="did not end") as caught:
        f(tensor(-2.0, requires_grad=True), 1.0)
    assert caught.value.line is not None
    with pytest.raises(wengert.ArgumentError, match="on `meta`: programs run on the processor"):
        f(torch.ones((), device="meta"), 1.0)
    with pytest.raises(wengert.ArgumentError, match="sparse"):
        f(torch.eye(2).to_sparse(), 1.0)
    with pytest.raises(wengert.ArgumentError, match="complex"):
        f(torch.ones((), dtype=torch.complex64), 1.0)


def test_within_no_grad_and_pickling():
    f = pickle.loads(pickle.dumps(wengert.torch.function(swing, memory="1kB")))
    with torch.no_grad():
        assert not f(A.clone().requires_grad_(), steps=3, length=1.0).requires_grad
    assert f.function.options == {"memory": "1kB"} and f.__name__ == "swing"


@wengert.torch.function
def decorated(x, n):
    for i in range(n):
        x = x * x
    return x


def test_decorators():
    @wengert.torch.function(max_iterations=5)
    def f(x, n):
        for i in range(n):
            x = x * x
        return x

    assert float(torch.func.grad(f)(tensor(2.0), 3)) == 8 * 2.0**7
    assert float(torch.func.grad(decorated)(tensor(2.0), 3)) == 8 * 2.0**7
    assert float(pickle.loads(pickle.dumps(decorated))(2.0, 3)) == 256.0
    assert f.function.options == {"max_iterations": 5}
    for made in (wengert.grad(f.function), wengert.batch(f.function, over="x")):
        with pytest.raises(wengert.ArgumentError, match="give the function itself: PyTorch makes"):
            wengert.torch.function(made)
