//! The memory that a user allows.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use wengert_core::quantity;

/// How much memory the way back through loops may take, for functions of `#[differentiable]`; with a folder for more states, if
/// there is one.
///
/// ```
/// use wengert::Memory;
///
/// let memory: Memory = "64 MiB".parse()?;
/// assert_eq!(memory, Memory::bytes(64 << 20));
/// # Ok::<(), wengert::MemoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    bytes: u64,
    disk: Option<(PathBuf, u64)>,
}

impl Memory {
    /// So many bytes.
    pub const fn bytes(bytes: u64) -> Memory {
        Memory { bytes, disk: None }
    }

    /// With so many bytes for states in files of a folder beside that. They are gone afterwards. Runs at the same time need
    /// folders of their own.
    pub fn with_disk(self, folder: impl Into<PathBuf>, bytes: u64) -> Memory {
        Memory { disk: Some((folder.into(), bytes)), ..self }
    }

    /// How many bytes it is.
    pub const fn in_bytes(&self) -> u64 {
        self.bytes
    }

    /// The folder and the bytes that files in it may take.
    pub fn disk(&self) -> Option<(&Path, u64)> {
        self.disk.as_ref().map(|(folder, bytes)| (folder.as_path(), *bytes))
    }
}

/// A text that is no size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MemoryError(String);

impl FromStr for Memory {
    type Err = MemoryError;

    fn from_str(text: &str) -> Result<Memory, MemoryError> {
        quantity::bytes(text).map(Memory::bytes).map_err(MemoryError)
    }
}

/// What says how much memory there is: a [`Memory`], a number of bytes, or a text such as `"64 MiB"`.
pub trait IntoMemory {
    /// The memory it says.
    fn into_memory(self) -> Result<Memory, MemoryError>;
}

impl IntoMemory for Memory {
    fn into_memory(self) -> Result<Memory, MemoryError> {
        Ok(self)
    }
}

impl IntoMemory for &Memory {
    fn into_memory(self) -> Result<Memory, MemoryError> {
        Ok(self.clone())
    }
}

impl IntoMemory for &str {
    fn into_memory(self) -> Result<Memory, MemoryError> {
        self.parse()
    }
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl IntoMemory for $ty {
            fn into_memory(self) -> Result<Memory, MemoryError> {
                let bytes = u64::try_from(self);
                let wrong = |_| MemoryError(format!("{self} is not a number of bytes"));
                bytes.map(Memory::bytes).map_err(wrong)
            }
        }
    )*};
}
numbers! { i32 u32 i64 u64 usize }
