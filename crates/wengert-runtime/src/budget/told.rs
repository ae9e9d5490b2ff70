//! What is told of a loop that could not be reversed.

use super::Failed;
use wengert_checkpoint::Error;
use wengert_core::fault::FaultKind;

/// Why it could not be, and whether its memory was too small.
pub(super) fn told(why: &Failed) -> (FaultKind, bool) {
    let (words, too_small) = (why.to_string().into(), matches!(why, Error::TooSmall { .. }));
    let kind = match why {
        Error::Disk(_) => FaultKind::Folder(words),
        _ => FaultKind::Budget { why: words, too_small },
    };
    (kind, too_small)
}
