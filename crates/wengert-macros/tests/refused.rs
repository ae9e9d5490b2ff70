//! What does not compile, as the compiler shows it: misuse of tapes, and functions that `#[differentiable]` refuses.

#[test]
fn what_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/misuse/*.rs");
    cases.compile_fail("tests/refused/*.rs");
}
