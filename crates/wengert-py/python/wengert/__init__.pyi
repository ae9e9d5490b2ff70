from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Generic, Literal, ParamSpec, TypeAlias, TypedDict, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")

Value: TypeAlias = float | int | bool | np.generic | NDArray[Any]
Wrt: TypeAlias = str | int | Sequence[str | int] | None
Bytes: TypeAlias = int | float | str

class Options(TypedDict, total=False):
    memory: Bytes | None
    disk: str | tuple[str | PathLike[str], Bytes] | None
    resume: str | PathLike[str] | None
    fsync: bool
    threads: int | None
    backend: Literal["auto", "jit", "cc", "interp"] | None
    progress: bool
    max_iterations: int | None
    tape_limit: Bytes | None
    precision: Literal["exact", "f32", "bf16"] | None
    invert: bool | int | Mapping[str, Any] | None

__version__: str

class Error(Exception):
    text: str
    code: str
    message: str
    help: str | None
    file: str | None
    line: int | None
    column: int | None
    iterations: list[tuple[int, int]]

class CompileError(Error): ...
class ArgumentError(Error, TypeError): ...
class BackendError(Error, RuntimeError): ...
class RunError(Error, RuntimeError): ...

class Differentiable(Generic[P, R]):
    python: Callable[P, R]
    options: dict[str, Any]
    __name__: str
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def __get__(self, instance: object, owner: type | None = None) -> Any: ...

class Batch:
    over: list[str]
    options: dict[str, Any]
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Plan:
    loops: list[dict[str, Any]]
    memory: int | None

class AdjointNorms:
    name: str
    line: int
    iterations: NDArray[np.int64]
    norms: dict[str, NDArray[Any]]
    left_out: list[str]

class Report:
    passes: bool
    text: str
    def __bool__(self) -> bool: ...

class Sparse(tuple[Any, ...]):
    shape: tuple[int, int]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]
    data: NDArray[np.float64]
    def toarray(self) -> NDArray[np.float64]: ...

@overload
def differentiable(function: Callable[P, R], /, **options: Unpack[Options]) -> Differentiable[P, R]: ...
@overload
def differentiable(
    function: None = None, /, **options: Unpack[Options]
) -> Callable[[Callable[P, R]], Differentiable[P, R]]: ...
def from_source(
    text: str, name: str | None = None, filename: str = "<source>", **options: Unpack[Options]
) -> Differentiable[..., Any]: ...
def grad(f: Callable[P, Any] | Batch, wrt: Wrt = None, **options: Unpack[Options]) -> Callable[P, Any]: ...
def value_and_grad(
    f: Callable[P, R] | Batch, wrt: Wrt = None, **options: Unpack[Options]
) -> Callable[P, tuple[R, Any]]: ...
def jvp(
    f: Callable[..., R],
    args: Iterable[Any],
    tangents: Sequence[Value | None] | Mapping[str, Value] | Value,
    **options: Unpack[Options],
) -> tuple[R, Any]: ...
def vjp(f: Callable[..., R], /, *args: Any, wrt: Wrt = None, **kwargs: Any) -> tuple[R, Callable[[Any], Any]]: ...
def jacobian(
    f: Callable[P, Any], wrt: Wrt = None, mode: Literal["forward", "reverse"] | None = None, **options: Unpack[Options]
) -> Callable[P, Any]: ...
def hessian(f: Callable[P, Any], wrt: Wrt = None, **options: Unpack[Options]) -> Callable[P, Any]: ...
def hvp(f: Callable[..., Any], wrt: Wrt = None, **options: Unpack[Options]) -> Callable[..., Any]: ...
def sparse_jacobian(f: Callable[P, Any], wrt: Wrt = None, **options: Unpack[Options]) -> Callable[P, Any]: ...
def sparse_hessian(f: Callable[P, Any], wrt: Wrt = None, **options: Unpack[Options]) -> Callable[P, Any]: ...
def linearize(f: Callable[..., Any], /, *args: Any, wrt: str | int | None = None, **kwargs: Any) -> Any: ...
def batch(f: Callable[..., Any], over: str | int | Sequence[str | int], **options: Unpack[Options]) -> Batch: ...
def check(
    f: Callable[..., Any], /, *args: Any, wrt: Wrt = None, directions: int = 10, order: int = 1, **kwargs: Any
) -> Report: ...
def plan(f: Callable[..., Any], /, *args: Any, wrt: Wrt = None, **kwargs: Any) -> Plan: ...
def adjoint_norms(
    f: Callable[..., Any], /, *args: Any, line: int | None = None, most: int = 500, **kwargs: Any
) -> AdjointNorms: ...
def show(f: Callable[..., Any], /, *args: Any, stage: str = "ssa", wrt: Wrt = None, **kwargs: Any) -> str: ...
def stages() -> dict[str, str]: ...
def explain(code: str) -> str: ...
def doctor() -> Any: ...

T = TypeVar("T")

def parallel(iterations: T) -> T: ...
def stop_gradient(x: T) -> T: ...
def sigmoid(x: Any) -> Any: ...
def softplus(x: Any) -> Any: ...
def relu(x: Any) -> Any: ...
def softmax(x: Any, axis: int | None = None) -> Any: ...
def logsumexp(x: Any, axis: int | None = None, keepdims: bool = False) -> Any: ...
