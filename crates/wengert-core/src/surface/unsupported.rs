//! The catalogue of Python constructs that are refused.

pub(super) use super::construct::Construct;
use super::construct::catalogue;

catalogue! {
    // Modules and functions.
    MODULE_STATEMENT "only imports, functions and constants can stand outside functions"
        => "move this into a function, or under `if __name__ == \"__main__\":`, which is skipped";
    CONSTANT_TARGET "a constant is a name and its value"
        => "write one assignment `name = value` for each constant";
    IMPORT_STAR "`import *` hides which names come from where"
        => "name what is imported: `from math import sin, pi`";
    INNER_IMPORT "an import cannot stand inside a function"
        => "move it to the top of the file";
    CLASS "classes cannot be differentiated"
        => "write functions, and pass the object's fields as separate arguments";
    ASYNC "asynchronous code cannot be differentiated"
        => "write an ordinary function, and await outside of it";
    DECORATOR "this decorator would change what the function means"
        => "remove it; `@differentiable` is the only decorator that is understood";
    TYPE_PARAMETERS "type parameters are not supported"
        => "remove them; types are inferred from the arguments of each call";
    VARARGS "`*args` is not supported"
        => "name each parameter, or pass one array";
    KWARGS "`**kwargs` is not supported"
        => "name each parameter";
    KEYWORD_ONLY "keyword-only parameters are not supported"
        => "remove the `*`; any parameter can be given by name";
    DEFAULT "a default value must be a number or a bool, or arithmetic on numbers and constants above"
        => "write the number itself, or pass the value as an argument";

    // Statements.
    FOR_ELSE "`for ... else` is not supported"
        => "set a bool before the loop, change it before `break`, and test it after the loop";
    WHILE_ELSE "`while ... else` is not supported"
        => "set a bool before the loop, change it before `break`, and test it after the loop";
    RANGE_ARGUMENTS "`range` takes one to three arguments, by position"
        => "write `range(stop)`, `range(start, stop)` or `range(start, stop, step)`";
    PARALLEL_ARGUMENTS "`parallel` takes the range of a `for` loop"
        => "write `for i in wengert.parallel(range(n)):`";
    ENUMERATE_ARGUMENTS "`enumerate` takes what it goes over and, if wanted, a start"
        => "write `enumerate(x)` or `enumerate(x, start)`";
    ZIP_ARGUMENTS "`zip` takes at least one argument, all by position"
        => "write `zip(x, y)`; before it, `assert len(x) == len(y)` where they must be of one length";
    REVERSED_ARGUMENTS "`reversed` takes one argument, by position"
        => "write `reversed(x)`";
    REVERSED_PAIRS "only ranges, arrays, tuples and lists can be reversed"
        => "reverse what is inside: `zip(reversed(x), reversed(y))`; or loop over the index";
    TRY "exceptions cannot be differentiated"
        => "test the condition with `if` before it goes wrong";
    RAISE "`raise` is not supported"
        => "write `assert condition, \"message\"`";
    WITH "`with` is not supported"
        => "do this outside the differentiated function";
    MATCH "`match` is not supported"
        => "write `if`, `elif` and `else`";
    GLOBAL "`global` is not supported: a differentiated function changes no outside variable"
        => "pass the value as an argument, and return the new one";
    NONLOCAL "`nonlocal` is not supported: a differentiated function changes no outside variable"
        => "pass the value as an argument, and return the new one";
    DELETE "`del` is not supported"
        => "remove it; an array is freed when it is no longer used";
    TYPE_ALIAS "type aliases are not supported"
        => "remove it; types are inferred from the arguments of each call";
    UNUSED_VALUE "the value of this expression is not used"
        => "assign it to a name, return it, or remove it";
    ELLIPSIS_STATEMENT "`...` is not supported"
        => "write `pass` where nothing is to be done";
    NOTEBOOK_COMMAND "notebook commands are not Python"
        => "remove it";
    ASSERT_MESSAGE "the message of `assert` must be a plain string"
        => "write the message without values in it: `assert x > 0, \"x is not positive\"`";

    // Assignment targets.
    STARRED_TARGET "`*` in an assignment is not supported"
        => "name each element: `a, b, c = value`";
    ATTRIBUTE_TARGET "a field of an object cannot be assigned"
        => "use a variable, and return it";
    OTHER_TARGET "this cannot be assigned to"
        => "assign to a name, a tuple of names, or an element `x[i]`";
    AUGMENTED_MATMUL "`@=` of elements is not supported"
        => "write the assignment out: `x[i] = x[i] @ y`";

    // Expressions.
    COMPREHENSION "comprehensions are not supported"
        => "allocate the result, `y = np.zeros(n)`, and fill it in a `for` loop; a few elements are a list: `np.array([a, b])`";
    GENERATOR "generator expressions are not supported"
        => "write a `for` loop that accumulates the result; or compute with the whole array: `np.sum(x * x)`";
    YIELD "generators cannot be differentiated"
        => "write the values into an array, and return it";
    AWAIT "`await` is not supported"
        => "await outside the differentiated function, and pass the result";
    WALRUS "`:=` is not supported"
        => "assign in a statement of its own, before this one";
    DICT "dictionaries are not supported"
        => "use one variable for each entry, or an array";
    SET "sets are not supported"
        => "use one variable for each element, or an array";
    FORMATTED_STRING "formatted strings are not supported"
        => "write plain text, without values in it; to see values, return them";
    BYTES "bytes cannot be used in differentiable code"
        => "use an array of numbers";
    COMPLEX "complex numbers are not supported"
        => "use two floats: the real and the imaginary part";
    BIG_INTEGER "this integer does not fit in 64 bits"
        => "write it as a float, such as `1e20`";
    ELLIPSIS "`...` is only supported as an index"
        => "write `x[..., i]`; where nothing is to be done, `pass`";
    SECOND_REST "an index has at most one `...`"
        => "write `:` for each axis that the second stands for";
    SLICE "a slice is only supported as an index"
        => "write `x[start:stop]`";
    EMPTY_INDEX "an index needs at least one place"
        => "write `x[i]`, or `x[...]` for all of it";
    STARRED "`*` before a value is not supported"
        => "write out each value";
    DOUBLE_STARRED "`**` in a call is not supported"
        => "write out each argument: `f(a=a, b=b)`";
    MEMBERSHIP "`in` is not supported"
        => "compare with each value: `x == a or x == b`";
    IDENTITY "`is` is not supported"
        => "compare with `==`";
    CALL_EXPRESSION "what is called must have a name"
        => "name the function first, `h = ...`, and call it by that name: `h(x)`";
    SUBMODULE "this part of the library is not supported"
        => "pass its result in as an argument, computed by the caller";
}
