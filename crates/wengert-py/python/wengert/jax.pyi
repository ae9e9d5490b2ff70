from collections.abc import Callable
from typing import Any, Generic, ParamSpec, Unpack, overload

from . import Options

P = ParamSpec("P")

class Function(Generic[P]):
    function: Any
    __name__: str
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...

@overload
def function(f: Callable[P, Any], result: Any = None, double: bool = False, **options: Unpack[Options]) -> Function[P]: ...
@overload
def function(f: None = None, result: Any = None, double: bool = False, **options: Unpack[Options]) -> Callable[[Callable[P, Any]], Function[P]]: ...
