//! Maximum flow and minimum cut: Dinic's algorithm (1970), iterative, on integer capacities.

/// An edge that no cut may cross.
pub(super) const INFINITE: u64 = u64::MAX / 4;

/// A flow network.
#[derive(Debug, Default)]
pub(super) struct Network {
    /// Per node: indices into `edges`.
    out: Vec<Vec<u32>>,
    /// Target and remaining capacity; edge `k ^ 1` is the reverse of edge `k`.
    edges: Vec<(u32, u64)>,
}

impl Network {
    pub(super) fn node(&mut self) -> usize {
        self.out.push(Vec::new());
        self.out.len() - 1
    }

    pub(super) fn edge(&mut self, from: usize, to: usize, capacity: u64) {
        self.out[from].push(self.edges.len() as u32);
        self.edges.push((to as u32, capacity));
        self.out[to].push(self.edges.len() as u32);
        self.edges.push((from as u32, 0));
    }

    /// The value of a minimum cut, and for each node whether it lies on the source's side.
    pub(super) fn min_cut(mut self, source: usize, sink: usize) -> (u64, Vec<bool>) {
        let mut total = 0u64;
        loop {
            let level = self.levels(source);
            if level[sink] == u32::MAX {
                let side = level.iter().map(|l| *l != u32::MAX).collect();
                return (total, side);
            }
            let mut next = vec![0usize; self.out.len()];
            while let Some(pushed) = self.augment(source, sink, &level, &mut next) {
                total = total.saturating_add(pushed);
            }
        }
    }

    fn levels(&self, source: usize) -> Vec<u32> {
        let mut level = vec![u32::MAX; self.out.len()];
        let mut queue = std::collections::VecDeque::from([source]);
        level[source] = 0;
        while let Some(node) = queue.pop_front() {
            for e in &self.out[node] {
                let (to, capacity) = self.edges[*e as usize];
                if capacity > 0 && level[to as usize] == u32::MAX {
                    level[to as usize] = level[node] + 1;
                    queue.push_back(to as usize);
                }
            }
        }
        level
    }

    /// One path along increasing levels, found by a walk with backtracking.
    fn augment(
        &mut self,
        source: usize,
        sink: usize,
        level: &[u32],
        next: &mut [usize],
    ) -> Option<u64> {
        let mut path: Vec<u32> = Vec::new();
        let mut node = source;
        while node != sink {
            match self.out[node].get(next[node]).copied() {
                Some(e) => {
                    let (to, capacity) = self.edges[e as usize];
                    if capacity > 0 && level[to as usize] == level[node] + 1 {
                        path.push(e);
                        node = to as usize;
                    } else {
                        next[node] += 1;
                    }
                }
                None => {
                    let e = path.pop()?;
                    node = self.edges[(e ^ 1) as usize].0 as usize;
                    next[node] += 1;
                }
            }
        }
        let pushed = path.iter().map(|e| self.edges[*e as usize].1).min()?;
        for e in path {
            self.edges[e as usize].1 -= pushed;
            self.edges[(e ^ 1) as usize].1 += pushed;
        }
        Some(pushed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_is_the_bottleneck() {
        let mut net = Network::default();
        let n: Vec<usize> = (0..6).map(|_| net.node()).collect();
        for (from, to, capacity) in [
            (0, 1, 16),
            (0, 2, 13),
            (1, 3, 12),
            (2, 1, 4),
            (2, 4, 14),
            (3, 2, 9),
            (3, 5, 20),
            (4, 3, 7),
            (4, 5, 4),
        ] {
            net.edge(n[from], n[to], capacity);
        }
        let (value, side) = net.min_cut(0, 5);
        assert_eq!(value, 23);
        assert_eq!(side, [true, true, true, false, true, false]);
    }

    #[test]
    fn a_sink_out_of_reach_costs_nothing() {
        let mut net = Network::default();
        let (s, t) = (net.node(), net.node());
        net.edge(t, s, 5);
        assert_eq!(net.min_cut(s, t), (0, vec![true, false]));
    }
}
