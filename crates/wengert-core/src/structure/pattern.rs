//! Where the entries of a matrix are: for every row the columns in which it can be other than zero.
//!
//! ```
//! use wengert_core::structure::Pattern;
//!
//! let p = Pattern::banded(6, 1, 1);
//! assert_eq!(p.row(2), [1, 2, 3]);
//! assert_eq!(p.describe(), "banded, 1 below and 1 above");
//! assert_eq!(p.to_string().lines().next(), Some("* * . . . ."));
//! ```

use std::fmt;

/// The places of a matrix that can be other than zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    cols: usize,
    /// Row `i` is `entries[starts[i]..starts[i + 1]]`, sorted.
    starts: Vec<usize>,
    entries: Vec<u32>,
}

impl Pattern {
    /// A pattern with entries at these (row, column) places, in any order; nothing where one of them
    /// lies outside.
    pub fn new(
        rows: usize,
        cols: usize,
        places: impl IntoIterator<Item = (usize, usize)>,
    ) -> Option<Pattern> {
        let mut lists = vec![Vec::new(); rows];
        for (i, j) in places {
            if j >= cols {
                return None;
            }
            lists.get_mut(i)?.push(u32::try_from(j).ok()?);
        }
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
        }
        Some(Pattern::from_sorted(cols, lists.iter().map(|l| l.as_slice())))
    }

    /// From rows that are sorted, without repetition and within `cols`.
    pub(super) fn from_sorted<'a>(
        cols: usize,
        rows: impl IntoIterator<Item = &'a [u32]>,
    ) -> Pattern {
        let mut pattern = Pattern { cols, starts: vec![0], entries: Vec::new() };
        for row in rows {
            pattern.push_row(|entries| entries.extend_from_slice(row));
        }
        pattern
    }

    /// An empty pattern without rows, to append rows to.
    pub(super) fn without_rows(cols: usize) -> Pattern {
        Pattern { cols, starts: vec![0], entries: Vec::new() }
    }

    /// Appends a row; `fill` appends its columns, sorted.
    pub(super) fn push_row(&mut self, fill: impl FnOnce(&mut Vec<u32>)) {
        fill(&mut self.entries);
        self.starts.push(self.entries.len());
    }

    /// No entry at all.
    pub fn empty(rows: usize, cols: usize) -> Pattern {
        Pattern { cols, starts: vec![0; rows + 1], entries: Vec::new() }
    }

    /// Every entry.
    pub fn dense(rows: usize, cols: usize) -> Pattern {
        let row: Vec<u32> = (0..cols as u32).collect();
        Pattern::from_sorted(cols, std::iter::repeat_n(row.as_slice(), rows))
    }

    /// The diagonal of a square matrix.
    pub fn diagonal(n: usize) -> Pattern {
        Pattern::banded(n, 0, 0)
    }

    /// The diagonal of a square matrix with so many diagonals below and above it.
    pub fn banded(n: usize, lower: usize, upper: usize) -> Pattern {
        let mut pattern = Pattern::without_rows(n);
        for i in 0..n {
            let (from, to) = (i.saturating_sub(lower), (i + upper + 1).min(n));
            pattern.push_row(|entries| entries.extend(from as u32..to as u32));
        }
        pattern
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The number of entries.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// The columns of a row, sorted; none for a row that does not exist.
    pub fn row(&self, i: usize) -> &[u32] {
        &self.entries[self.span(i)]
    }

    /// Where the entries of a row stand among all entries, row by row.
    pub(super) fn span(&self, i: usize) -> std::ops::Range<usize> {
        if i < self.rows() { self.starts[i]..self.starts[i + 1] } else { 0..0 }
    }

    /// Every entry as (row, column), row by row.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.rows()).flat_map(|i| self.row(i).iter().map(move |j| (i, *j as usize)))
    }

    /// Whether there is an entry.
    pub fn contains(&self, row: usize, col: usize) -> bool {
        self.position(row, col).is_some()
    }

    /// The number of an entry, counted row by row.
    pub fn position(&self, row: usize, col: usize) -> Option<usize> {
        let at = self.row(row).binary_search(&u32::try_from(col).ok()?).ok()?;
        Some(self.span(row).start + at)
    }

    /// Whether every entry of this pattern is one of the other.
    pub fn is_within(&self, other: &Pattern) -> bool {
        self.rows() == other.rows()
            && self.cols == other.cols
            && self.places().all(|(i, j)| other.contains(i, j))
    }

    /// Rows and columns exchanged.
    pub fn transpose(&self) -> Pattern {
        let mut starts = vec![0; self.cols + 1];
        for j in &self.entries {
            starts[*j as usize + 1] += 1;
        }
        for j in 0..self.cols {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let mut entries = vec![0; self.entries.len()];
        for (i, j) in self.places() {
            entries[next[j]] = i as u32;
            next[j] += 1;
        }
        Pattern { cols: self.rows(), starts, entries }
    }

    /// The pattern and its transpose together: what a symmetric matrix with these entries has. Nothing
    /// for a pattern that is not square.
    pub fn symmetric(&self) -> Option<Pattern> {
        let places = self.places().flat_map(|(i, j)| [(i, j), (j, i)]);
        if self.is_square() { Pattern::new(self.cols, self.cols, places) } else { None }
    }

    /// Whether it is its own transpose.
    pub fn is_symmetric(&self) -> bool {
        self.is_square() && *self == self.transpose()
    }

    /// Whether there are as many rows as columns.
    pub fn is_square(&self) -> bool {
        self.rows() == self.cols
    }

    /// Whether all entries are on the diagonal.
    pub fn is_diagonal(&self) -> bool {
        self.bandwidth() == (0, 0)
    }

    /// Whether no entry is above the diagonal.
    pub fn is_lower_triangular(&self) -> bool {
        self.bandwidth().1 == 0
    }

    /// Whether no entry is below the diagonal.
    pub fn is_upper_triangular(&self) -> bool {
        self.bandwidth().0 == 0
    }

    /// How far the entries reach below and above the diagonal.
    pub fn bandwidth(&self) -> (usize, usize) {
        self.places().fold((0, 0), |(lower, upper), (i, j)| {
            (lower.max(i.saturating_sub(j)), upper.max(j.saturating_sub(i)))
        })
    }

    /// What it looks like, in words.
    pub fn describe(&self) -> String {
        let (n, total) = (self.rows(), self.rows() * self.cols);
        let (lower, upper) = self.bandwidth();
        if self.entries.is_empty() {
            return "zero".into();
        }
        if self.is_square() && (lower, upper) == (0, 0) {
            return "diagonal".into();
        }
        if self.entries.len() == total {
            return "dense".into();
        }
        if self.is_square() {
            let narrow = lower + upper < (n / 2).max(3);
            if narrow && lower + 1 < n && upper + 1 < n {
                return format!("banded, {lower} below and {upper} above");
            }
            if upper == 0 {
                return "lower triangular".into();
            }
            if lower == 0 {
                return "upper triangular".into();
            }
        }
        let percent = 100.0 * self.entries.len() as f64 / total as f64;
        if percent >= 1.0 {
            format!("{percent:.0}% of {total} entries")
        } else {
            format!("{percent:.1e}% of {total} entries")
        }
    }
}

/// Most characters a picture is wide or high.
const PICTURE: usize = 40;

/// A picture: `*` for an entry, `.` for none. Of a large pattern every character is a square of places:
/// `*` where all of them are entries, `+` where some are.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = self.rows().max(self.cols).div_ceil(PICTURE).max(1);
        let (high, wide) = (self.rows().div_ceil(scale), self.cols.div_ceil(scale));
        let mut counts = vec![0usize; high * wide];
        for (i, j) in self.places() {
            counts[i / scale * wide + j / scale] += 1;
        }
        let side = |at: usize, all: usize| scale.min(all - at * scale);
        for y in 0..high {
            if y > 0 {
                writeln!(f)?;
            }
            for x in 0..wide {
                let all = side(y, self.rows()) * side(x, self.cols);
                let mark = match counts[y * wide + x] {
                    0 => '.',
                    n if n == all => '*',
                    _ => '+',
                };
                write!(f, "{}{mark}", if x > 0 { " " } else { "" })?;
            }
        }
        if scale > 1 {
            let (rows, cols) = (self.rows(), self.cols);
            write!(f, "\n{rows} x {cols}, {scale} x {scale} places to a mark")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(Pattern::diagonal(5).describe(), "diagonal");
        assert_eq!(Pattern::diagonal(1).describe(), "diagonal");
        assert_eq!(Pattern::empty(3, 2).describe(), "zero");
        assert_eq!(Pattern::dense(3, 2).describe(), "dense");
        assert_eq!(Pattern::banded(3, 1, 1).describe(), "banded, 1 below and 1 above");
        assert_eq!(Pattern::banded(100, 1, 0).describe(), "banded, 1 below and 0 above");
        assert_eq!(Pattern::banded(4, 3, 0).describe(), "lower triangular");
        assert_eq!(Pattern::banded(4, 0, 3).describe(), "upper triangular");
        let corners = Pattern::new(100, 100, (0..500).map(|k| (k % 100, (k * 37) % 100 / 10 * 10)));
        assert!(corners.unwrap().describe().ends_with("% of 10000 entries"));
        let one = Pattern::new(100, 100, [(0, 99)]).unwrap();
        assert_eq!(one.describe(), "upper triangular");
        let two = Pattern::new(100, 100, [(0, 99), (99, 0)]).unwrap();
        assert_eq!(two.describe(), "2.0e-2% of 10000 entries");
    }

    #[test]
    fn places_outside_are_refused() {
        assert!(Pattern::new(2, 2, [(0, 2)]).is_none());
        assert!(Pattern::new(2, 2, [(2, 0)]).is_none());
        assert!(Pattern::empty(2, 2).row(7).is_empty());
    }

    #[test]
    fn transposing_twice_changes_nothing() {
        let p = Pattern::new(3, 5, [(0, 4), (2, 1), (0, 1), (1, 0), (0, 4)]).unwrap();
        assert_eq!(p.count(), 4);
        assert_eq!(p.row(0), [1, 4]);
        assert_eq!(p.transpose().row(1), [0, 2]);
        assert_eq!(p.transpose().transpose(), p);
        assert_eq!(p.position(2, 1), Some(3));
        assert!(!p.is_symmetric() && Pattern::banded(9, 2, 2).is_symmetric());
        assert_eq!(Pattern::banded(9, 2, 0).symmetric(), Some(Pattern::banded(9, 2, 2)));
        assert_eq!(p.symmetric(), None);
    }

    #[test]
    fn pictures() {
        assert_eq!(Pattern::banded(3, 1, 0).to_string(), "* . .\n* * .\n. * *");
        let large = Pattern::banded(10_000, 1, 1).to_string();
        assert_eq!(large.lines().next().map(|l| &l[..5]), Some("+ + ."));
        assert!(large.ends_with("10000 x 10000, 250 x 250 places to a mark"));
        assert_eq!(Pattern::dense(81, 81).to_string().matches('+').count(), 0);
    }
}
