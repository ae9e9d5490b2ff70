//! What is said on the command line.

use crate::wave::Setup;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
The gradient of a misfit by the speed of sound in every point of a grid, in the memory allowed.

Usage: wave3d [--size 48] [--steps 400] [--memory 16MiB] [--run FOLDER] [--resume]

  --size N       points in each direction [48]
  --steps N      steps in time [400]
  --sponge N     points at each face that swallow waves, 0 for none [a sixth of the size]
  --memory SIZE  for states and records, as in 500000, 64MiB or 2GB [16MiB]
  --run FOLDER   states on disk as well, from which the run can be resumed
  --disk SIZE    what they may take [1GiB]
  --resume       goes on with the run that was left in the folder
  --invert       takes steps back in place of storing states; without a sponge
  --every N      stores a state every so many steps when steps are taken back [the first and the last]
  --check        compares the gradient with that of everything stored on this grid, too, not only on a small one
  --help         prints this
";

/// The smallest grid that has room for a source and receivers, and the largest whose points are counted in 32 bits.
const SIZES: std::ops::RangeInclusive<u64> = 8..=1024;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) setup: Setup,
    pub(crate) memory: u64,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) disk: u64,
    pub(crate) resume: bool,
    pub(crate) invert: bool,
    pub(crate) every: Option<u64>,
    pub(crate) check: bool,
}

impl Options {
    /// Nothing where help was asked for.
    pub(crate) fn parse(
        words: impl IntoIterator<Item = String>,
    ) -> Result<Option<Options>, String> {
        let (mut size, mut steps, mut sponge) = (48, 400, None);
        let (mut memory, mut disk, mut folder) = (16 << 20, None, None);
        let (mut resume, mut invert, mut check, mut every) = (false, false, false, None);
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || match words.next() {
                Some(value) if !value.starts_with("--") => Ok(value),
                _ => Err(format!("`{word}` needs a value; `--help` says which")),
            };
            match word.as_str() {
                "--size" => size = number(&word, &value()?, *SIZES.start(), *SIZES.end())?,
                "--steps" => steps = number(&word, &value()?, 1, u64::MAX)?,
                "--sponge" => sponge = Some(number(&word, &value()?, 0, *SIZES.end())?),
                "--memory" => memory = bytes(&word, &value()?)?,
                "--disk" => disk = Some(bytes(&word, &value()?)?),
                "--run" => folder = Some(PathBuf::from(value()?)),
                "--every" => every = Some(number(&word, &value()?, 1, u64::MAX)?),
                "--resume" => resume = true,
                "--invert" => invert = true,
                "--check" => check = true,
                "--help" | "-h" => return Ok(None),
                _ => return Err(format!("`{word}` is not known; `--help` says what is")),
            }
        }
        let widest = Setup::widest_sponge(size as usize);
        let sponge = match sponge {
            None if invert => 0,
            None => (size as usize / 6).min(widest),
            Some(sponge) if sponge as usize > widest => {
                return Err(format!("a sponge on {size} points is {widest} points wide at most"));
            }
            Some(sponge) => sponge as usize,
        };
        let without = [
            (
                invert && sponge > 0,
                "`--invert` goes with `--sponge 0`: what a sponge has swallowed does not come back",
            ),
            (
                invert && folder.is_some(),
                "`--invert` stores nothing in a folder: leave out `--run`",
            ),
            (every.is_some() && !invert, "`--every` is for `--invert`"),
            (resume && folder.is_none(), "`--resume` needs the folder: `--run FOLDER --resume`"),
            (disk.is_some() && folder.is_none(), "`--disk` is for `--run FOLDER`"),
        ];
        if let Some((_, what)) = without.iter().find(|(is_wrong, _)| *is_wrong) {
            return Err((*what).into());
        }
        let setup = Setup { size: size as usize, steps, sponge };
        let disk = disk.unwrap_or(1 << 30);
        Ok(Some(Options { setup, memory, folder, disk, resume, invert, every, check }))
    }
}

fn number(name: &str, text: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = text.replace('_', "").parse().ok();
    number.filter(|n| (least..=most).contains(n)).ok_or_else(|| match most {
        u64::MAX => format!("`{name} {text}`: it takes a whole number from {least} on"),
        _ => format!("`{name} {text}`: it takes a whole number from {least} to {most}"),
    })
}

const UNITS: [(&str, u64); 7] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("", 1),
];

fn bytes(name: &str, text: &str) -> Result<u64, String> {
    let found = UNITS.iter().find_map(|(unit, factor)| {
        let number = text.strip_suffix(unit)?.trim().replace('_', "");
        number.parse::<u64>().ok()?.checked_mul(*factor)
    });
    found.ok_or_else(|| {
        format!("`{name} {text}`: it takes a size such as `500000`, `64MiB` or `2GB`")
    })
}
