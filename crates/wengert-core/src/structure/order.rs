//! In which order a greedy colouring goes through the vertices of a graph.

/// The order of a greedy colouring: the same every time for the same pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they are numbered: best for bands.
    Natural,
    /// Most neighbours first.
    LargestFirst,
    /// Last the one with fewest neighbours, before it the one with fewest among the rest, and so on.
    SmallestLast,
    /// Next always the one with most neighbours that have had their turn.
    IncidenceDegree,
}

impl Order {
    /// Every order.
    pub const ALL: [Order; 4] =
        [Order::Natural, Order::LargestFirst, Order::SmallestLast, Order::IncidenceDegree];
}

/// A graph that lists the neighbours of a vertex: each once, without the vertex itself.
pub(super) trait Graph {
    fn vertices(&self) -> usize;
    fn neighbours(&mut self, v: usize, out: &mut Vec<u32>);
}

/// The vertices in this order.
pub(super) fn vertices(graph: &mut impl Graph, order: Order) -> Vec<usize> {
    let n = graph.vertices();
    if order == Order::Natural {
        return (0..n).collect();
    }
    let mut near = Vec::new();
    let mut degrees = Vec::with_capacity(n);
    for v in 0..n {
        graph.neighbours(v, &mut near);
        degrees.push(near.len());
    }
    let mut all: Vec<usize> = (0..n).collect();
    match order {
        Order::Natural => {}
        Order::LargestFirst => all.sort_by_key(|v| std::cmp::Reverse(degrees[*v])),
        Order::SmallestLast => {
            all = one_by_one(graph, degrees, |queue| queue.lowest());
            all.reverse();
        }
        Order::IncidenceDegree => all = one_by_one(graph, vec![0; n], |queue| queue.highest()),
    }
    all
}

/// Takes vertices from a queue; each taken moves its neighbours by one place, down where the queue starts
/// with degrees and up where it starts with zeros.
fn one_by_one(
    graph: &mut impl Graph,
    degrees: Vec<usize>,
    next: impl Fn(&mut Queue) -> Option<usize>,
) -> Vec<usize> {
    let down = degrees.iter().any(|d| *d > 0);
    let mut queue = Queue::new(degrees);
    let (mut near, mut order) = (Vec::new(), Vec::new());
    while let Some(v) = next(&mut queue) {
        queue.remove(v);
        order.push(v);
        graph.neighbours(v, &mut near);
        for w in near.iter().map(|w| *w as usize) {
            if queue.holds(w) {
                let key = queue.key[w];
                queue.remove(w);
                queue.insert(w, if down { key.saturating_sub(1) } else { key + 1 });
            }
        }
    }
    order
}

const NONE: usize = usize::MAX;

/// Vertices by a small number: lists in buckets, so that a vertex moves in constant time.
struct Queue {
    key: Vec<usize>,
    next: Vec<usize>,
    last: Vec<usize>,
    /// The first vertex of each bucket.
    heads: Vec<usize>,
    held: Vec<bool>,
    low: usize,
    high: usize,
}

impl Queue {
    fn new(keys: Vec<usize>) -> Queue {
        let n = keys.len();
        let mut queue = Queue {
            key: vec![0; n],
            next: vec![NONE; n],
            last: vec![NONE; n],
            heads: vec![NONE; n + 1],
            held: vec![false; n],
            low: 0,
            high: 0,
        };
        // Backwards, so that the lower number comes first.
        for (v, key) in keys.into_iter().enumerate().rev() {
            queue.insert(v, key);
        }
        queue
    }

    fn holds(&self, v: usize) -> bool {
        self.held[v]
    }

    fn insert(&mut self, v: usize, key: usize) {
        let head = self.heads[key];
        if head != NONE {
            self.last[head] = v;
        }
        (self.next[v], self.last[v]) = (head, NONE);
        (self.heads[key], self.key[v], self.held[v]) = (v, key, true);
        self.low = self.low.min(key);
        self.high = self.high.max(key);
    }

    fn remove(&mut self, v: usize) {
        let (before, after) = (self.last[v], self.next[v]);
        match before {
            NONE => self.heads[self.key[v]] = after,
            _ => self.next[before] = after,
        }
        if after != NONE {
            self.last[after] = before;
        }
        self.held[v] = false;
    }

    fn lowest(&mut self) -> Option<usize> {
        while self.heads.get(self.low) == Some(&NONE) {
            self.low += 1;
        }
        self.heads.get(self.low).copied()
    }

    fn highest(&mut self) -> Option<usize> {
        while self.high > 0 && self.heads[self.high] == NONE {
            self.high -= 1;
        }
        self.heads.get(self.high).copied().filter(|v| *v != NONE)
    }
}
