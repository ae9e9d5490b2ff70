//! A fault of GCC's, and how it is kept out.
//!
//! Told not to fuse products with sums (`-ffp-contract=off`), GCC 12 still does where it finds sums and differences of
//! products side by side, and computes them in lanes: `a*b + c` and `d*e - f` become one instruction that adds in one lane
//! and subtracts in the other, and rounds once. No program here asks for that instruction, so whoever finds it in what the
//! compiler has made knows that it did so; the functions it stands in are compiled again without lanes of GCC's making.

use std::collections::BTreeSet;

/// The functions in which products have been fused with sums and differences in turn.
pub(super) fn fused(assembly: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut function = "";
    for line in assembly.lines() {
        if !line.starts_with(char::is_whitespace)
            && let Some((label, _)) = line.split_once(':')
            && !label.starts_with('.')
        {
            // Parts of a function have its name, and behind a dot one of their own.
            function = label.split('.').next().unwrap_or(label);
        } else if line.contains("fmaddsub") || line.contains("fmsubadd") {
            found.insert(function);
        }
    }
    found
}

/// A text in which these functions are compiled without lanes of the compiler's making.
pub(super) fn without_lanes(text: &str, functions: &BTreeSet<&str>) -> String {
    functions.iter().fold(text.to_string(), |text, function| {
        let head = format!("static u32 {function}(");
        text.replace(&head, &format!("__attribute__((optimize(\"no-tree-vectorize\"))) {head}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_what_stands_in_them() {
        let assembly = "f1:\n\t.cfi_startproc\n\tvfmadd132pd\t%xmm1, %xmm2, %xmm3\n.L2:\n\tret\n\
                        f2.part.0:\n.L3:\n\tvfmsubadd132pd\t(%rax), %xmm2, %xmm1\n\tret\n\
                        p0f3:\n\tvfmaddsub213pd\t%zmm0, %zmm1, %zmm2\n";
        assert_eq!(fused(assembly), BTreeSet::from(["f2", "p0f3"]));
        let text = "static u32 f2(u64 v0);\nstatic u32 f22(u64 v0);\n";
        let without = without_lanes(text, &fused(assembly));
        assert_eq!(without.matches("optimize").count(), 1);
        assert!(
            without.contains("__attribute__((optimize(\"no-tree-vectorize\"))) static u32 f2(")
        );
    }
}
