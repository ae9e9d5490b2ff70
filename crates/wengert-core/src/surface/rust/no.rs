//! The catalogue of Rust constructs that are refused.

use crate::surface::construct::{Construct, catalogue};

catalogue! {
    // Items.
    STATIC_MUT "a `static mut` changes behind the function's back"
        => "pass it as a `&mut` parameter";
    ENUM "enums are not supported"
        => "use an integer, and `match` on it";
    UNION "unions are not supported"
        => "pass the fields as parameters";
    IMPL "methods of this type cannot be differentiated"
        => "write an `impl` of a struct that stands beside it, or has `#[derive(Differentiable)]`";
    TRAIT "traits are not supported"
        => "write functions of numbers and slices";
    MOD "modules inside the text are not supported"
        => "put the functions beside the one that calls them";
    MACRO_ITEM "macros of your own are not supported"
        => "write what the macro would expand to";
    FOREIGN "code from elsewhere cannot be differentiated"
        => "write the function in Rust, beside the one that calls it";
    OTHER_ITEM "only functions and constants can stand here"
        => "remove it, or put it elsewhere";
    ASYNC "asynchronous code cannot be differentiated"
        => "write an ordinary function, and await outside of it";
    UNSAFE "`unsafe` code cannot be differentiated"
        => "write it with slices and indices";
    VARIADIC "a function with any number of arguments is not supported"
        => "pass a slice";
    EXTERN "functions of another language cannot be differentiated"
        => "remove `extern`, and write the body in Rust";
    GENERICS "type parameters are not supported"
        => "write the types out, such as `f64` and `&[f64]`; lengths can be parameters: `const N: usize`";
    CONSTANT_PARAMETER "constant parameters are supported for lengths"
        => "write `const N: usize`, and pass other values as parameters";
    SELF "this stands in no `impl`"
        => "put `#[differentiable]` before the `impl`, instead of before its functions";
    ATTRIBUTE "this attribute may change what the function means"
        => "remove it";
    NONDIFF_PLACE "`#[nondiff]` stands before a parameter"
        => "mark what needs no derivative: `#[nondiff] x: f64`";
    NONDIFF_OPTIONS "`#[nondiff]` has no options"
        => "write `#[nondiff]` alone";
    CONSTANT "the value of a constant must be one expression"
        => "write the value out, or compute it in the function";

    // Types.
    REFERENCE_RESULT "a reference cannot be returned"
        => "return the value itself, such as a `Vec<f64>`, or write it into a `&mut` parameter";
    REFERENCE_TO_TUPLE "references to tuples are not supported"
        => "pass the tuple by value, or its elements as parameters";
    REFERENCE_IN_DATA "references inside other types are not supported"
        => "pass each of them as a parameter";
    BARE_SLICE "a slice has to be behind a reference"
        => "write `&[f64]` or `&mut [f64]`";
    NEVER_TYPE "a function that never returns has no derivative"
        => "return the value to differentiate";
    BOXED_CLOSURE "closures behind a pointer are not supported"
        => "write `let f = |x: f64| ...;`, and call it by its name";
    TRAIT_TYPE "types behind traits are not supported"
        => "write the type itself; call functions by their names";
    POINTER "pointers and shared ownership are not supported"
        => "use references to slices, and indices";
    FUNCTION_TYPE "functions cannot be parameters"
        => "call the function by its name";
    INFERRED_TYPE "this type is not evident"
        => "write it out, such as `f64` or `Vec<f64>`";
    OTHER_TYPE "this type is not supported"
        => "use `f64`, `f32`, integers, `bool`, slices, arrays, `Vec` and tuples of them";
    WIDE_INTEGER "integers of 128 bits are not supported"
        => "use `i64`, or `f64`";
    TEXT_TYPE "text cannot be differentiated"
        => "pass numbers instead";
    OPTION_TYPE "`Option` and `Result` are not supported"
        => "pass a number and a `bool`, or use NaN for what is missing";
    COLLECTION "this collection is not supported"
        => "use slices, arrays and `Vec`";
    STRUCT_TYPE "what this type is made of is not known here"
        => "put the struct into one module with the function, with the attribute before it, or `#[derive(Differentiable)]` before the struct";
    GENERIC_STRUCT "structs with parameters are not supported"
        => "write the types out, such as `f64` and `[f64; 3]`";
    NDARRAY_RANK "the number of axes is not evident from this type"
        => "write a type that says it, such as `ArrayView2<f64>`: there are those of 1 to 6 axes";
    NDARRAY_ITEM "arrays of crate `ndarray` hold numbers here"
        => "write `f64`, `f32`, an integer or `bool` as their elements, such as `Array2<f64>`";
    VIEW_REFERENCE "a view is a reference itself"
        => "pass the view by value: `ArrayView2<f64>`, and `ArrayViewMut2<f64>` where it is written to";
    VIEW_IN_DATA "a view can only be a parameter by itself"
        => "pass each view as a parameter; return arrays: `Array2<f64>`";
    ARRAY_OF_NDARRAYS "arrays of arrays of crate `ndarray` are not supported"
        => "use one array with an axis more: `Array3<f64>`";
    NDARRAY_ELEMENTS "the elements of several axes cannot be written through an iterator"
        => "write loops over the indices, `a[[i, j]]`, or over `outer_iter_mut()`";
    NDARRAY_INDEX "this index does not fit the number of axes"
        => "write one index for each axis: `a[[i, j]]`";
    ARRAY_OF_STRUCTS "arrays of arrays of structs are not supported"
        => "use one array, and `i * columns + j` as its index";
    STRUCTS_OF_VECTORS "structs in an array cannot hold a `Vec`"
        => "use arrays of a length that is known, such as `[f64; 3]`";
    EMPTY_STRUCTS "structs in an array must have fields"
        => "remove the array";
    STRUCTS_METHOD "this is not supported for arrays of structs"
        => "write a loop over the indices, or `for p in ps.iter_mut()`";
    ARRAY_OF_TUPLES "arrays of tuples are not supported"
        => "use one array for each element of the tuple, or arrays of arrays";
    ARRAY_LENGTH "the length of an array must be a number or a constant"
        => "write the number, or put the `const` into a module with the function, with the attribute before that; use a slice for any other length";
    RAGGED "rows of a `Vec` may differ in length"
        => "use rows of one length, such as `&[[f64; 3]]`, or one flat slice and `i * columns + j`";

    // Patterns.
    AT_PATTERN "`@` is not supported here"
        => "bind the name alone";
    REFUTABLE "this pattern is not supported"
        => "use names, tuples, numbers, ranges, `|` and `_`";
    REST_PATTERN "`..` is only supported where the length is known"
        => "name each element, or index the slice";
    UNSET_PATTERN "what is declared without a value must be one name"
        => "declare each name in a `let` of its own";
    LET_ELSE "`let ... else` is not supported"
        => "test the value with `if`";
    LET_CONDITION "`if let` and `while let` are not supported"
        => "test with `if`, or `match` on numbers and truth values";
    NOT_EXHAUSTIVE "this `match` may have no arm that fits"
        => "end it with `_ => ...`";
    GUARD "this guard needs statements of its own"
        => "compute it before the `match`, and test the variable";

    // Places.
    TARGET "this cannot be assigned to"
        => "assign to a variable, an element `x[i]`, a part `x[a..b]`, or `*r`";
    TUPLE_PLACE "a reference to a tuple is not supported"
        => "refer to its elements: `&mut t.0`";
    STRUCT_PLACE "a number or an array is needed here"
        => "refer to a field: `s.x`";
    REBOUND "a `&mut` cannot be made to refer to something else"
        => "name the new reference by a `let` of its own";

    // Expressions.
    BIG_INTEGER "this integer does not fit in 64 bits"
        => "write it as a float, such as `1e20`";
    WIDE_BITS "`!` of a 64-bit unsigned integer does not fit"
        => "use `i64`, or a narrower type";
    CLOSURE_VALUE "a closure can only be called"
        => "call it here, or write a function";
    CHOSEN_REFERENCE "which number a `&mut` refers to cannot be chosen as the program runs"
        => "put the numbers into an array, and choose the index";
    EXCHANGED_REFERENCE "references to arrays cannot be exchanged as the program runs"
        => "exchange the arrays themselves, by their own names: `std::mem::swap(&mut x, &mut y)`";
    CONST_BLOCK "`const` blocks are not supported"
        => "use a `const` item";
    FIELD "this is no struct, and has no fields"
        => "call a method with parentheses: `x.sin()`";
    STRUCT_OPERATOR "operators of structs are not supported"
        => "write a method that does it, or work on the fields";
    RANGE "a range is only supported in a loop and as an index"
        => "write `for i in a..b`, or keep both ends in variables";
    ITERATOR "an iterator cannot be kept"
        => "use it in a `for` loop, or sum, fold or collect it here";
    TRY "`?` is not supported"
        => "test the value with `if` before it goes wrong";
    AWAIT "`await` is not supported"
        => "await outside the differentiated function, and pass the result";
    YIELD "generators cannot be differentiated"
        => "write the values into an array, and return it";
    UNDERSCORE "`_` is not a value"
        => "write the value";
    QUALIFIED "paths with `<T as Trait>` are not supported"
        => "call the method on the value: `x.sin()`";
    TEXT "text cannot be used in differentiable code"
        => "use numbers; text can stand in `assert!` and `panic!`";
    OTHER_EXPRESSION "this expression is not supported"
        => "write it with arithmetic, calls, `if`, `match` and loops";
    CALLED "what is called must be a function, a closure, or a method"
        => "name the closure first: `let f = |x| ...;`";
    CAST "this cast is not supported"
        => "cast between numbers, or from `bool` to an integer";
    FOREVER "this loop has no end"
        => "leave it with `break`, or give the range an end";
    OPTIONS "`Option` is not supported"
        => "test the length first, and index: `x[0]`, `x[x.len() - 1]`";
    ORDERING "an `Ordering` is not supported"
        => "compare with `<`, `>` and `==`";
    SEARCH "what a search finds is an `Option`, which is not supported"
        => "search in a `for` loop, or `fold` with `f64::max` or `f64::min`";
    FUNCTION_VALUE "a function can only be called"
        => "write a closure that calls it: `|x| x.sin()`";
    GROWING "a `Vec` cannot grow or shrink here"
        => "make it as long as it becomes, `vec![0.0; n]`, and assign its elements";
    EMPTY_ARRAY "the type of this array is not evident"
        => "say what its elements are: `let x: [f64; 0] = [];`";
    SORT "sorting is not supported"
        => "sort before, and pass the sorted numbers";
    BITS "the bits of a float cannot be differentiated"
        => "use comparisons and arithmetic";
    WRAPPING "arithmetic that wraps is only supported for integers of up to 32 bits"
        => "use `u32`, or draw random numbers outside and pass them as a slice";
    CHECKED "checked arithmetic gives an `Option`, which is not supported"
        => "use plain arithmetic, which stops at an overflow, or compare first";
    UNEVEN_SEQUENCE "how many items are left is known only when it runs"
        => "loop over all of them, and skip some with `continue`";
    COLLECTED "only numbers and arrays of a known length can be collected"
        => "make the result first, `vec![0.0; n]`, and fill it in a `for` loop";
    SUM_TYPE "the type of this sum is not evident"
        => "say what it is: `.sum::<f64>()`";

    // Macros.
    PRINT "nothing can be printed from here"
        => "return the value, and print it outside";
    FORMAT "text cannot be made here"
        => "return the numbers, and make the text outside";
    MACRO "this macro is not supported"
        => "use `vec!`, `assert!`, `assert_eq!` and `panic!`; write the others out";
}

#[cfg(test)]
mod tests {
    /// Messages are sentences without an end, and differ.
    #[test]
    fn messages_read_alike() {
        let mut seen = rustc_hash::FxHashSet::default();
        for construct in super::ALL {
            let (message, help) = (construct.message, construct.help);
            assert!(!message.ends_with('.') && !help.ends_with('.'), "{message}: {help}");
            assert!(!help.starts_with(char::is_uppercase), "{message}: {help}");
            assert!(seen.insert((message, help)), "twice: {message}");
        }
    }
}
