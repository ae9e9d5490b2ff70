//! Who can share a seed.
//!
//! Columns with no row in common can be computed by one forward run: each row of the result then belongs
//! to one of them. Giving such columns one colour is a colouring (of the graph of columns that share a row),
//! and the number of colours is the number of runs. Rows and reverse runs are the same for the transpose.
//! For a symmetric Hessian less is needed: an entry can be read in its row or, by symmetry, in its column.
//! What makes one of them readable is a *star colouring*: neighbours differ, and no path over four vertices
//! has only two colours.
//!
//! All colourings are greedy, in a given [`Order`]: columns and rows use at most one colour more than a
//! vertex has neighbours, stars at most one more than it has neighbours and neighbours of those.
//! [`columns`], [`rows`] and [`star`] try every order and keep the fewest colours.
//!
//! ```
//! use wengert_core::structure::{colouring, Pattern};
//!
//! let band = Pattern::banded(1000, 1, 1);
//! assert_eq!(colouring::columns(&band).colours(), 3);
//! // An arrow: a dense first row and column, and the diagonal.
//! let arrow = Pattern::new(9, 9, (0..9).flat_map(|i| [(0, i), (i, 0), (i, i)])).unwrap();
//! assert_eq!(colouring::columns(&arrow).colours(), 9);
//! assert_eq!(colouring::star(&arrow).unwrap().colours(), 2);
//! ```

pub use super::order::Order;
use super::order::{Graph, vertices};
use super::pattern::Pattern;

/// Colours of columns or rows. Those without entries need no run and have no colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colouring {
    of: Vec<Option<u32>>,
    colours: usize,
}

impl Colouring {
    /// A colouring given by hand.
    pub fn new(of: Vec<Option<u32>>) -> Self {
        let colours = of.iter().flatten().max().map_or(0, |c| *c as usize + 1);
        Colouring { of, colours }
    }

    /// The number of colours: of runs.
    pub fn colours(&self) -> usize {
        self.colours
    }

    /// The colour of a column or row.
    pub fn of(&self, v: usize) -> Option<usize> {
        self.of.get(v).copied().flatten().map(|c| c as usize)
    }

    /// The number of columns or rows.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// Whether there is no column or row at all.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The seed of a colour: 1 for its columns or rows, 0 for the others.
    pub fn seed(&self, colour: usize) -> Vec<f64> {
        let one = |c: &Option<u32>| if *c == Some(colour as u32) { 1.0 } else { 0.0 };
        self.of.iter().map(one).collect()
    }
}

/// Which runs give a Jacobian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Forward runs, one per colour of columns.
    Forward(Colouring),
    /// Reverse runs, one per colour of rows.
    Reverse(Colouring),
}

impl Direction {
    /// The direction with fewer runs; forward where both have as many.
    pub fn of(pattern: &Pattern) -> Direction {
        let (forward, reverse) = (columns(pattern), rows(pattern));
        if forward.colours() <= reverse.colours() {
            Direction::Forward(forward)
        } else {
            Direction::Reverse(reverse)
        }
    }

    /// The number of runs.
    pub fn runs(&self) -> usize {
        let (Direction::Forward(colouring) | Direction::Reverse(colouring)) = self;
        colouring.colours()
    }
}

/// Colours columns so that two of one colour have no row in common, in the best of all orders.
pub fn columns(pattern: &Pattern) -> Colouring {
    let transposed = pattern.transpose();
    // The columns of one row all differ: no colouring has fewer colours.
    let least = longest_row(pattern);
    best(least, |order| greedy(&mut Intersection::new(pattern, &transposed), order))
}

/// The same in one order.
pub fn columns_in(pattern: &Pattern, order: Order) -> Colouring {
    greedy(&mut Intersection::new(pattern, &pattern.transpose()), order)
}

/// Colours rows so that two of one colour have no column in common, in the best of all orders.
pub fn rows(pattern: &Pattern) -> Colouring {
    columns(&pattern.transpose())
}

/// The same in one order.
pub fn rows_in(pattern: &Pattern, order: Order) -> Colouring {
    columns_in(&pattern.transpose(), order)
}

/// A star colouring of a symmetric pattern, in the best of all orders; nothing for one that is not
/// symmetric.
pub fn star(pattern: &Pattern) -> Option<Colouring> {
    // A vertex without neighbours needs one colour, any other needs two.
    let least = longest_row(pattern).min(2);
    let symmetric = pattern.is_symmetric();
    symmetric.then(|| best(least, |order| greedy_star(&mut Adjacency(pattern), order)))
}

/// The same in one order.
pub fn star_in(pattern: &Pattern, order: Order) -> Option<Colouring> {
    pattern.is_symmetric().then(|| greedy_star(&mut Adjacency(pattern), order))
}

/// Whether no row has two columns of one colour, and every column with entries has one.
pub fn is_valid_for_columns(pattern: &Pattern, colouring: &Colouring) -> bool {
    let mut seen = vec![usize::MAX; colouring.colours()];
    colouring.len() == pattern.cols()
        && pattern.places().all(|(i, j)| match colouring.of(j) {
            Some(c) => std::mem::replace(&mut seen[c], i) != i,
            None => false,
        })
}

/// Whether no column has two rows of one colour, and every row with entries has one.
pub fn is_valid_for_rows(pattern: &Pattern, colouring: &Colouring) -> bool {
    is_valid_for_columns(&pattern.transpose(), colouring)
}

/// Whether it is a star colouring: neighbours differ in colour, every path over four vertices has at least
/// three colours, and every vertex with entries has one.
pub fn is_valid_star(pattern: &Pattern, colouring: &Colouring) -> bool {
    if !pattern.is_symmetric() || colouring.len() != pattern.cols() {
        return false;
    }
    // Another neighbour of `at` with the colour of `like`.
    let another = |at: usize, like: usize| {
        let near = pattern.row(at).iter().map(|w| *w as usize);
        near.filter(|w| *w != like && *w != at).any(|w| colouring.of(w) == colouring.of(like))
    };
    pattern.places().all(|(i, j)| {
        let coloured = colouring.of(i).is_some() && colouring.of(j).is_some();
        let differ = i == j || colouring.of(i) != colouring.of(j);
        coloured && differ && (i == j || !(another(i, j) && another(j, i)))
    })
}

fn longest_row(pattern: &Pattern) -> usize {
    (0..pattern.rows()).map(|i| pattern.row(i).len()).max().unwrap_or(0)
}

/// The colouring with fewest colours over all orders; the first that has no more than `least` ends the
/// search.
fn best(least: usize, mut colour: impl FnMut(Order) -> Colouring) -> Colouring {
    let mut best = colour(Order::Natural);
    for order in &Order::ALL[1..] {
        if best.colours() <= least {
            break;
        }
        let other = colour(*order);
        if other.colours() < best.colours() {
            best = other;
        }
    }
    best
}

/// Columns, neighbours where they share a row.
struct Intersection<'p> {
    rows: &'p Pattern,
    cols: &'p Pattern,
    seen: Vec<u32>,
    round: u32,
}

impl<'p> Intersection<'p> {
    fn new(rows: &'p Pattern, cols: &'p Pattern) -> Self {
        Intersection { rows, cols, seen: vec![0; rows.cols()], round: 0 }
    }
}

impl Graph for Intersection<'_> {
    fn vertices(&self) -> usize {
        self.rows.cols()
    }

    fn neighbours(&mut self, v: usize, out: &mut Vec<u32>) {
        out.clear();
        self.round += 1;
        self.seen[v] = self.round;
        for i in self.cols.row(v) {
            for w in self.rows.row(*i as usize) {
                if std::mem::replace(&mut self.seen[*w as usize], self.round) != self.round {
                    out.push(*w);
                }
            }
        }
    }
}

/// The graph a symmetric pattern is.
struct Adjacency<'p>(&'p Pattern);

impl Graph for Adjacency<'_> {
    fn vertices(&self) -> usize {
        self.0.cols()
    }

    fn neighbours(&mut self, v: usize, out: &mut Vec<u32>) {
        out.clear();
        out.extend(self.0.row(v).iter().filter(|w| **w as usize != v));
    }
}

/// The first colour that is not forbidden to `v`, a new one if need be; `forbidden[c] == v` says that it is.
fn first_free(forbidden: &mut Vec<usize>, v: usize) -> u32 {
    let free = forbidden.iter().position(|f| *f != v).unwrap_or(forbidden.len());
    if free == forbidden.len() {
        forbidden.push(usize::MAX);
    }
    free as u32
}

/// Every vertex in turn takes the first colour no neighbour has.
fn greedy(graph: &mut Intersection<'_>, order: Order) -> Colouring {
    let n = graph.vertices();
    let mut of: Vec<Option<u32>> = vec![None; n];
    let mut forbidden: Vec<usize> = Vec::new();
    for v in vertices(graph, order) {
        if graph.cols.row(v).is_empty() {
            continue;
        }
        for i in graph.cols.row(v) {
            for w in graph.rows.row(*i as usize) {
                if let Some(c) = of[*w as usize] {
                    forbidden[c as usize] = v;
                }
            }
        }
        of[v] = Some(first_free(&mut forbidden, v));
    }
    Colouring::new(of)
}

/// Every vertex in turn takes the first colour that makes no path of two colours over four vertices
/// (the greedy star colouring of Gebremedhin, Manne, Pothen 2005). Neighbours of a vertex that
/// has no colour yet get different ones, so that no such path can close later with it in the middle.
fn greedy_star(graph: &mut Adjacency<'_>, order: Order) -> Colouring {
    let pattern = graph.0;
    let mut of: Vec<Option<u32>> = vec![None; pattern.cols()];
    let mut forbidden: Vec<usize> = Vec::new();
    let near = |v: usize| pattern.row(v).iter().map(|w| *w as usize).filter(move |w| *w != v);
    for v in vertices(graph, order) {
        if pattern.row(v).is_empty() {
            continue;
        }
        for w in near(v) {
            if let Some(c) = of[w] {
                forbidden[c as usize] = v;
            }
            for x in near(w).filter(|x| *x != v) {
                let Some(c) = of[x] else { continue };
                // `v - w - x - y` with `y` coloured as `w`: `v` must not be coloured as `x`.
                let closes = |c: u32| near(x).any(|y| y != w && of[y] == Some(c));
                if forbidden[c as usize] != v && of[w].is_none_or(closes) {
                    forbidden[c as usize] = v;
                }
            }
        }
        of[v] = Some(first_free(&mut forbidden, v));
    }
    Colouring::new(of)
}
