//! The floating-point control word.
//!
//! Compiled code must round to nearest and keep subnormals whatever the caller's thread has set, or
//! the bits would depend on it. The caller's setting comes back when the guard is dropped.

/// The default setting, until dropped.
#[derive(Debug)]
pub(crate) struct DefaultFloats {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    saved: arch::Word,
}

impl DefaultFloats {
    /// Sets the default: round to nearest, subnormals kept, exceptions masked.
    pub(crate) fn set() -> Self {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        {
            let saved = arch::read();
            if saved != arch::DEFAULT {
                arch::write(arch::DEFAULT);
            }
            DefaultFloats { saved }
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        DefaultFloats {}
    }
}

impl Drop for DefaultFloats {
    fn drop(&mut self) {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if self.saved != arch::DEFAULT {
            arch::write(self.saved);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod arch {
    use std::arch::asm;

    /// MXCSR.
    pub(super) type Word = u32;
    /// Every exception masked, nearest, neither flush-to-zero nor denormals-are-zero.
    pub(super) const DEFAULT: Word = 0x1f80;
    /// The sticky exception flags, which mean nothing to us.
    const FLAGS: Word = 0x3f;

    pub(super) fn read() -> Word {
        let mut word: Word = 0;
        // SAFETY: stores MXCSR to a local of the right size and changes nothing else.
        unsafe { asm!("stmxcsr [{}]", in(reg) &mut word, options(nostack, preserves_flags)) };
        word & !FLAGS
    }

    pub(super) fn write(word: Word) {
        // SAFETY: `word` is the default or was read from this register, so no reserved bit is set.
        // Rust code running under another setting than the default is what the guard prevents; what
        // it restores is what the caller already ran with.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &word, options(nostack, preserves_flags, readonly)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod arch {
    use std::arch::asm;

    /// FPCR.
    pub(super) type Word = u64;
    /// Nearest, no flushing, no default NaN, exceptions untrapped.
    pub(super) const DEFAULT: Word = 0;

    pub(super) fn read() -> Word {
        let word: Word;
        // SAFETY: reads a register.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nostack, nomem, preserves_flags)) };
        word
    }

    pub(super) fn write(word: Word) {
        // SAFETY: `word` is the default or was read from this register.
        unsafe { asm!("msr fpcr, {}", in(reg) word, options(nostack, nomem, preserves_flags)) };
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;

    #[test]
    fn the_callers_setting_comes_back() {
        let before = arch::read();
        // Round towards zero.
        let other = if cfg!(target_arch = "x86_64") { before | 0x6000 } else { before | 0xc0_0000 };
        arch::write(other);
        let guard = DefaultFloats::set();
        let inside = arch::read();
        drop(guard);
        let after = arch::read();
        arch::write(before);
        assert_eq!((inside, after), (arch::DEFAULT, other));
    }
}
