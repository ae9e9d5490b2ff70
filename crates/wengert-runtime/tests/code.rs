//! The generated code itself: what a loop must not contain.
//!
//! Run with `--nocapture` to read it.
#![cfg(target_arch = "x86_64")]

use wengert_core::ir::parse;
use wengert_runtime::disassemble;

const TEXT: &str = "
    func @affine(%w: f64, %b: f64, %h0: f64, %n: i64) -> f64 {
      %hn = for %i in 0..%n carry (%h = %h0) {
        %t = fma %w, %h, %b
        yield %t
      }
      return %hn
    }
    func @record(%w: f64, %b: f64, %h0: f64, %n: i64, %t: tape) -> (f64, tape) {
      %hn, %t2 = for %i in 0..%n carry (%h = %h0, %s = %t) {
        %s1 = push %s, %h
        %a = fma %w, %h, %b
        yield %a, %s1
      }
      return %hn, %t2
    }
    func @reverse(%w: f64, %d0: f64, %n: i64, %t: tape) -> (f64, f64, f64, tape) {
      %dh, %dw, %db, %t2 = for %i in 0..%n carry (%d = %d0, %gw = 0.0, %gb = 0.0, %s = %t) {
        %s1, %h = pop %s : tape, f64
        %gw1 = fma %d, %h, %gw
        %gb1 = add %gb, %d
        %d1 = mul %d, %w
        %d2 = flush %d1
        yield %d2, %gw1, %gb1, %s1
      }
      return %dh, %dw, %db, %t2
    }
    func @scale(%x: [f64], %c: f64) -> [f64] {
      %n = len %x
      %y = for %i in 0..%n carry (%a = %x) {
        %v = load %a, %i
        %u = mul %v, %c
        %a1 = store %a, %i, %u
        yield %a1
      }
      return %y
    }
    func @newton(%a: f64) -> (f64, i64) {
      %xn, %kn = while %i carry (%x = %a, %k = 0) {
        %s = mul %x, %x
        %d = sub %s, %a
        %e = abs %d
        %c = lt %e, 1e-12
        exit_if %c { yield %x, %i }
        %y = div %d, %x
        %z = mul %y, 0.5
        %n = sub %x, %z
        yield %n, %k
      }
      return %xn, %kn
    }";

/// The instructions of a function's loop: from its header to the jump back.
fn inner_loop(listing: &str, name: &str) -> Vec<String> {
    let start = listing.find(&format!("// @{name}\n")).unwrap();
    let text = &listing[start..];
    // The listing gives Cranelift's IR first, then the instructions, which end at the next function.
    let code = &text[text.find("\n}\n").unwrap()..];
    let code = &code[..code.find("\n// @").unwrap_or(code.len())];
    println!("@{name}{code}");
    let lines: Vec<&str> = code.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let header = |label: &str| {
        let block = format!("block{}:", label.trim_start_matches("label"));
        lines.iter().position(|l| *l == block)
    };
    // A jump to an earlier place closes a loop; blocks that only jump on are removed by the linker.
    for (at, line) in lines.iter().enumerate() {
        let Some(target) = line.strip_prefix("jmp").map(str::trim) else { continue };
        if let Some(from) = header(target).filter(|from| *from < at) {
            let body = lines[from..at]
                .iter()
                .filter(|l| !l.starts_with("block") && !l.starts_with("uninit"));
            return body.map(|l| l.to_string()).collect();
        }
    }
    panic!("@{name} has no loop")
}

#[test]
fn loops_hold_the_program_and_nothing_else() {
    let module = parse::module(TEXT).unwrap();
    let names: Vec<&str> = module.funcs.iter().map(|f| &*f.name).collect();
    let listing = disassemble(&module, &names).unwrap();
    if !listing.contains("vfmadd") {
        return; // a machine without fused multiply-add: other instructions
    }
    let most = [("affine", 4), ("record", 8), ("reverse", 18), ("scale", 5), ("newton", 17)];
    for (name, most) in most {
        let code = inner_loop(&listing, name);
        assert!(code.len() <= most, "@{name}: {} instructions\n{}", code.len(), code.join("\n"));
        // The context is not touched in a loop: its first fields are read before it.
        assert!(!code.iter().any(|l| l.contains("call")), "@{name} calls\n{}", code.join("\n"));
    }
    // One check for the tape, none for an index that is the counter.
    let jumps = |name| inner_loop(&listing, name).iter().filter(|l| l.starts_with('j')).count();
    assert_eq!([jumps("affine"), jumps("record"), jumps("scale")], [1, 2, 1]);
}
