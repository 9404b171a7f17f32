//! Positions of the nodes that `[nodes]` generates: chains, grids, connected random placements, and buildings.

use std::collections::BTreeMap;

use airfair_units::random::{Purpose, Stream};

use crate::generate::building;
use crate::keys::network::{ChainTable, GridTable, NodesTable, RandomTable};

/// Most placements that are tried.
const TRIES: u64 = 1000;
/// Most nodes that are placed in all tries together; this bounds the time.
const PLACED: u64 = 10_000_000;

/// The properties of the radios that a generator reads.
pub(crate) struct Air {
    /// Distance within which a hop works, m; `None` if hops do not depend on distance.
    pub range_m: Option<f64>,
}

/// How many nodes a generator makes.
pub(crate) fn count(table: &NodesTable) -> u64 {
    match table {
        NodesTable::Chain(t) => u64::from(t.count),
        NodesTable::Grid(t) => u64::from(t.rows) * u64::from(t.columns),
        NodesTable::Random(t) => u64::from(t.count),
        NodesTable::Building(t) => building::count(t),
    }
}

/// The names and positions (m) of the nodes.
///
/// # Errors
/// A message if no connected placement was found.
pub(crate) fn place_nodes(table: &NodesTable, air: &Air) -> Result<Vec<(String, [f64; 3])>, String> {
    let (prefix, positions) = match table {
        NodesTable::Chain(t) => (&t.prefix, chain(t)),
        NodesTable::Grid(t) => (&t.prefix, grid(t)),
        NodesTable::Random(t) => (&t.prefix, random(t, air)?),
        NodesTable::Building(t) => (&t.prefix, building::positions(t)),
    };
    Ok(positions.into_iter().enumerate().map(|(i, p)| (format!("{prefix}{i}"), p)).collect())
}

fn chain(t: &ChainTable) -> Vec<[f64; 3]> {
    (0..t.count).map(|i| [f64::from(i) * t.spacing.0, 0.0, 0.0]).collect()
}

fn grid(t: &GridTable) -> Vec<[f64; 3]> {
    let row =
        |y: u32| (0..t.columns).map(move |x| [f64::from(x) * t.spacing.0, f64::from(y) * t.spacing.0, 0.0]);
    (0..t.rows).flat_map(row).collect()
}

fn random(t: &RandomTable, air: &Air) -> Result<Vec<[f64; 3]>, String> {
    let mut stream = Stream::new(t.seed, "nodes", Purpose::Placement);
    let tries = TRIES.min(PLACED / u64::from(t.count.max(1))).max(1);
    for _ in 0..tries {
        let [width, height] = t.area;
        let positions: Vec<[f64; 3]> = (0..t.count)
            .map(|_| {
                let x = stream.uniform() * width.0;
                [x, stream.uniform() * height.0, 0.0]
            })
            .collect();
        if air.range_m.is_none_or(|range| connected(&positions, range)) {
            return Ok(positions);
        }
    }
    let range = air.range_m.unwrap_or(f64::INFINITY);
    Err(format!(
        "in {tries} placements of {} nodes in {} by {}, some node was always out of reach of the others; expected a \
         smaller area, more nodes or a longer range (now {:.1} m)",
        t.count, t.area[0], t.area[1], range
    ))
}

/// True if every node reaches every other over hops of at most `range`.
fn connected(positions: &[[f64; 3]], range: f64) -> bool {
    let cell = |p: &[f64; 3]| ((p[0] / range) as i64, (p[1] / range) as i64);
    let mut waiting: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
    for (i, p) in positions.iter().enumerate().skip(1) {
        waiting.entry(cell(p)).or_default().push(i);
    }
    let mut reached = 1;
    let mut front = vec![0];
    while let Some(here) = front.pop() {
        let Some(p) = positions.get(here) else { break };
        let (x, y) = cell(p);
        for near in (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| (x, y))) {
            let Some(others) = waiting.get_mut(&near) else { continue };
            others.retain(|&other| {
                let q = positions[other];
                let squared = (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]);
                let out_of_reach = squared > range * range;
                if !out_of_reach {
                    front.push(other);
                    reached += 1;
                }
                out_of_reach
            });
        }
    }
    reached >= positions.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_is_by_hops_within_range() {
        let row: Vec<[f64; 3]> = [0.0, 100.0, 200.0, 300.0].iter().map(|&x| [x, 0.0, 0.0]).collect();
        assert!(connected(&row, 100.0));
        assert!(!connected(&row, 99.0));
        assert!(connected(&row[..1], 1.0));
        assert!(connected(&[], 1.0));
        let apart = [[0.0, 0.0, 0.0], [70.0, 70.0, 0.0], [500.0, 0.0, 0.0], [570.0, 0.0, 0.0]];
        assert!(!connected(&apart, 100.0));
    }
}
