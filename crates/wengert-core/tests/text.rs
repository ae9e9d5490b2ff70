//! The text form: everything printed reads back, and nothing anyone can write makes the parser panic.

use std::path::Path;
use wengert_core::check::Random;
use wengert_core::ir::{Block, Builder, Module, Numbering, Op, Type, parse, verify};
use wengert_core::ops::{Elem, Prim, Scalar};

/// The programs of the file tests.
fn programs() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests");
    let folders = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path());
    let mut paths: Vec<_> = folders
        .filter(|p| p.is_dir())
        .flat_map(|p| std::fs::read_dir(p).unwrap().map(|e| e.unwrap().path()))
        .collect();
    paths.sort();
    let read = |p: &std::path::PathBuf| std::fs::read_to_string(p).unwrap();
    let program = |text: String| text.split("// expect:").next().unwrap_or_default().to_string();
    paths.iter().map(read).map(program).collect()
}

fn round_trip(module: &Module) {
    let text = module.to_string();
    let again = parse::module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify::module(&again).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again.to_string(), text);
}

#[test]
fn every_row_at_every_type() {
    for prim in Prim::ALL {
        for (float, rank) in [(Elem::F64, 0), (Elem::F32, 0), (Elem::F64, 1), (Elem::F32, 8)] {
            let inputs = prim.signature().split('>').next().unwrap_or_default();
            let of = |letter: char| match letter {
                'f' | '*' => Type::of(float, rank),
                'd' => Type::of(Elem::F64, rank),
                's' => Type::of(Elem::F32, rank),
                'i' => Type::of(Elem::I64, rank),
                _ => Type::of(Elem::Bool, rank),
            };
            let params: Vec<_> = inputs.chars().map(|c| (of(c), None)).collect();
            let (mut b, args) = Builder::new("f", &params);
            let y = b.prim(*prim, &args);
            round_trip(&Module::of(b.finish(vec![y])));
        }
    }
}

#[test]
fn constants_keep_their_bits() {
    let mut random = Random(3);
    let mut scalars = Vec::new();
    let special =
        [0, 1, 1 << 63, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, 0xf_ffff_ffff_ffff, 1 << 52];
    for k in 0..2000 {
        let bits = if k < special.len() { special[k] } else { random.bits() };
        scalars.push(Scalar::F64(f64::from_bits(bits)));
        scalars.push(Scalar::F32(f32::from_bits((bits >> 32) as u32)));
        scalars.push(Scalar::F32(f32::from_bits(bits as u32 >> 9)));
        scalars.push(Scalar::I64(bits as i64));
    }
    for scalar in scalars {
        let (mut b, _) = Builder::new("f", &[]);
        let v = b.constant(scalar);
        let text = Module::of(b.finish(vec![v])).to_string();
        let func = parse::module(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).funcs.remove(0);
        let back = func.as_const(func.body.yields[0]).unwrap();
        assert_eq!(back.key(), scalar.key(), "{text}");
    }
}

/// The places of instructions and of ends are theirs.
fn check_places(source: &str, block: &Block, end: &str) {
    let at = |span: wengert_core::span::Span| &source[span.start as usize..span.end as usize];
    for inst in &block.insts {
        let text = at(inst.span);
        let first = if inst.results.is_empty() { text } else { text.split_once('=').unwrap().1 };
        let word = match &inst.op {
            Op::Prim(prim) => prim.name(),
            Op::Array(op) => op.name(),
            Op::Store => "store",
            Op::Push => "push",
            Op::If => "if",
            Op::For if inst.blocks[0].parallel => "parallel for",
            Op::For if inst.blocks[0].numbering == Numbering::ByCounter => "counted for",
            Op::For if inst.blocks[0].numbering == Numbering::Hidden => "hidden for",
            Op::For => "for",
            Op::While => "while",
            Op::ExitIf => "exit_if",
            _ => "",
        };
        assert!(first.trim_start().starts_with(word), "{:?} at {text}", inst.op);
        inst.blocks.iter().for_each(|b| check_places(source, b, "yield"));
    }
    assert!(at(block.end).starts_with(end), "`{}` ends a block", at(block.end));
}

#[test]
fn places_are_kept() {
    for program in programs() {
        let Ok(module) = parse::module(&program) else { continue };
        module.funcs.iter().for_each(|f| check_places(&program, &f.body, "return"));
    }
}

#[test]
fn no_text_makes_the_parser_panic() {
    let mut random = Random(5);
    let pieces = [
        "%x", "@f", "1", "-", "[", "]", "{", "}", "(", ")", ",", "=", "..", "yield", "\"", "if",
        "λ",
    ];
    for program in programs() {
        let cuts: Vec<usize> = program.char_indices().map(|(at, _)| at).collect();
        for _ in 0..60 {
            let at = cuts[random.below(cuts.len() as u64) as usize];
            let to = cuts[random.below(cuts.len() as u64) as usize].max(at);
            let piece = pieces[random.below(pieces.len() as u64) as usize];
            let to = if random.below(2) == 0 { at } else { to.min(at + 8) };
            let to = (to..=program.len()).find(|at| program.is_char_boundary(*at)).unwrap_or(at);
            let changed = match random.below(3) {
                0 => program[..at].to_string(),
                _ => format!("{}{piece}{}", &program[..at], &program[to..]),
            };
            match parse::module(&changed) {
                Ok(module) => drop(verify::module(&module)),
                Err(e) => {
                    let (span, _) = &e.labels[0];
                    assert!(span.end as usize <= changed.len() && span.start <= span.end, "{e}");
                }
            }
        }
    }
}
