//! What programs run with on this machine.

use wengert_runtime::cc::cache::{Cache, LIMIT};
use wengert_runtime::cc::toolchain::{Toolchain, cpu_features};

/// What [`Backend::Auto`](crate::Backend) and [`Backend::Cc`](crate::Backend) find on this machine.
///
/// ```
/// let found = wengert::Doctor::look();
/// assert!(!found.architecture.is_empty());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Doctor {
    /// The kind of processor.
    pub architecture: &'static str,
    /// Its features that matter here.
    pub features: Vec<&'static str>,
    /// Whether Cranelift generates code for it; otherwise why not.
    pub cranelift: Result<(), String>,
    /// The C compiler: where it lies, and what it says of itself.
    pub compiler: Option<(String, String)>,
    /// Whether a program that it has compiled runs; otherwise what went wrong.
    pub compiles: Option<Result<(), String>>,
    /// The folder of compiled code; otherwise why there is none.
    pub cache: Result<CacheState, String>,
}

/// A folder of compiled code.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CacheState {
    /// Where it is.
    pub folder: String,
    /// How many libraries are in it.
    pub entries: usize,
    /// How many bytes they take.
    pub bytes: u64,
    /// How many they may take before the least recently used go.
    pub limit: u64,
}

impl Doctor {
    /// Looks. A small program is compiled to see that the compilers work.
    pub fn look() -> Doctor {
        let compiler = Toolchain::get();
        let cache = Cache::of_user();
        Doctor {
            architecture: std::env::consts::ARCH,
            features: cpu_features(),
            cranelift: try_out(crate::Backend::Jit),
            compiler: compiler
                .map(|c| (c.program().display().to_string(), c.version().to_string())),
            compiles: compiler.map(|_| try_out(crate::Backend::Cc)),
            cache: cache.map(|cache| {
                let (entries, bytes) = cache.size();
                let folder = cache.folder().display().to_string();
                CacheState { folder, entries, bytes, limit: LIMIT }
            }),
        }
    }
}

/// A program that every backend must run.
fn try_out(backend: crate::Backend) -> Result<(), String> {
    let text = "def f(x, n):\n    for i in range(n):\n        x = x * 0.5 + 1.0\n    return x\n";
    let run = || {
        let f = crate::Function::from_source(text, "f")?;
        f.with_options(crate::Options { backend, ..Default::default() }).call((8.0, 3))
    };
    match run() {
        Ok(ran) if ran.values == [crate::Value::Float(2.75)] => Ok(()),
        Ok(ran) => Err(format!("a program that gives 2.75 gave {:?}", ran.values)),
        Err(error) => Err(error.to_string()),
    }
}
