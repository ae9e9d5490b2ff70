//! What must not compile, and what the compiler says to it.

#[test]
fn what_must_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/misuse/*.rs");
}
