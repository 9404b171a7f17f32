//! Path of a moving node: its position at any time, and the time of the next refresh.

use super::hearers::distance;
use crate::spec::{MovementSpec, PathSpec};

/// A corner of a path.
#[derive(Debug, Clone, Copy)]
struct Corner {
    /// Time at which the node is there, ns.
    at: u64,
    position: [f64; 3],
    /// Length of the path up to it, m.
    travelled: f64,
}

/// The repeating part of a path.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// Index of the round's first corner.
    first: usize,
    /// Duration of a round, ns.
    length: u64,
    /// Length of a round, m.
    metres: f64,
}

/// The path of a node.
#[derive(Debug)]
pub(crate) struct Path {
    /// Corners in order of time; never empty.
    corners: Vec<Corner>,
    round: Option<Round>,
    /// See [`MovementSpec`]; the interval in ns.
    interval: u64,
    distance: f64,
}

impl Path {
    /// Creates the path of a specification.
    ///
    /// # Errors
    /// Names the corners that contradict each other.
    pub fn new(path: &PathSpec, movement: &MovementSpec) -> Result<Self, String> {
        let mut corners: Vec<Corner> = Vec::with_capacity(path.knots.len());
        for knot in path.knots.iter() {
            let (at, position) = (knot.at.as_nanos(), knot.position);
            let travelled = match corners.last() {
                None => 0.0,
                Some(last) => {
                    let way = distance(last.position, position);
                    if at < last.at || at == last.at && way > 0.0 {
                        return Err("is in two places at once, or goes back in time".to_string());
                    }
                    last.travelled + way
                }
            };
            if !travelled.is_finite() {
                return Err("has a corner that is nowhere".to_string());
            }
            corners.push(Corner { at, position, travelled });
        }
        let Some(last) = corners.last().copied() else { return Err("has no corner".to_string()) };
        let round = match path.repeat_from {
            None => None,
            Some(first) => {
                let from = corners.get(first).ok_or("repeats from a corner that it has not")?;
                if from.at >= last.at || from.position != last.position {
                    return Err(
                        "repeats a round that takes no time, or does not end where it began".to_string()
                    );
                }
                Some(Round { first, length: last.at - from.at, metres: last.travelled - from.travelled })
            }
        };
        let interval = movement.interval.as_nanos().max(1);
        Ok(Self { corners, round, interval, distance: movement.distance_m.max(0.0) })
    }

    fn last(&self) -> Corner {
        self.corners[self.corners.len() - 1]
    }

    /// Splits a time into the time within the corners, the number of completed rounds, and their duration, ns.
    fn fold(&self, at: u64) -> (u64, u64, u64) {
        match self.round {
            Some(round) if at >= self.last().at => {
                let from = self.corners[round.first].at;
                let rounds = (at - from) / round.length;
                (at - rounds * round.length, rounds, rounds * round.length)
            }
            _ => (at, 0, 0),
        }
    }

    /// The segment of the path at a time within the corners: its two corners.
    fn segment(&self, at: u64) -> (Corner, Corner) {
        let next = self.corners.partition_point(|c| c.at <= at);
        let to = self.corners.get(next).copied().unwrap_or(self.last());
        (if next == 0 { to } else { self.corners[next - 1] }, to)
    }

    /// Position at a time, m.
    pub fn position(&self, at: u64) -> [f64; 3] {
        let at = self.fold(at).0;
        let (a, b) = self.segment(at);
        if at <= a.at || b.at <= a.at {
            return a.position;
        }
        let share = (at - a.at) as f64 / (b.at - a.at) as f64;
        [0, 1, 2].map(|i| a.position[i] + (b.position[i] - a.position[i]) * share)
    }

    /// Length of the path travelled up to a time, m.
    fn distance_at(&self, at: u64) -> f64 {
        let (at, rounds, _) = self.fold(at);
        let (a, b) = self.segment(at);
        let share = if at <= a.at || b.at <= a.at { 0.0 } else { (at - a.at) as f64 / (b.at - a.at) as f64 };
        let metres = self.round.map_or(0.0, |r| r.metres);
        a.travelled + (b.travelled - a.travelled) * share + rounds as f64 * metres
    }

    /// End of the present segment, and true if the node moves on it; none if the node rests for good.
    fn segment_end(&self, at: u64) -> Option<(u64, bool)> {
        let (folded, _, passed) = self.fold(at);
        let (a, b) = self.segment(folded);
        (b.at > folded).then(|| (b.at + passed, b.travelled > a.travelled))
    }

    /// The first time at which the node has travelled `metres`, rounded up; `u64::MAX` if it never does.
    fn time_at_distance(&self, metres: f64) -> u64 {
        let last = self.last();
        let (metres, later) = match self.round {
            Some(round) if metres > last.travelled && round.metres > 0.0 => {
                let rounds = ((metres - last.travelled) / round.metres).ceil();
                (metres - rounds * round.metres, (rounds as u64).saturating_mul(round.length))
            }
            _ if metres > last.travelled => return u64::MAX,
            _ => (metres, 0),
        };
        let next = self.corners.partition_point(|c| c.travelled < metres);
        let b = self.corners.get(next).copied().unwrap_or(last);
        let within = match next.checked_sub(1).map(|i| self.corners[i]) {
            Some(a) if b.travelled > a.travelled => {
                let share = (metres - a.travelled) / (b.travelled - a.travelled);
                a.at + ((share * (b.at - a.at) as f64).ceil() as u64).min(b.at - a.at)
            }
            _ => b.at,
        };
        within.saturating_add(later)
    }

    /// Time of the refresh after that at `last`; none if the node moves no more.
    pub fn next(&self, last: u64) -> Option<u64> {
        // Rests may be adjacent, also the last of a round and the first of the next.
        let mut start = last;
        let mut rests_left = 2 * self.corners.len();
        while let (end, false) = self.segment_end(start)? {
            start = end;
            rests_left = rests_left.checked_sub(1)?;
        }
        let far = self.time_at_distance(self.distance_at(last) + self.distance).max(start);
        let mut rests = start;
        for _ in 0..=2 * self.corners.len() {
            match self.segment_end(rests) {
                Some((end, true)) if rests < far => rests = end,
                _ => break,
            }
        }
        Some(far.min(rests).max(last.saturating_add(self.interval)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Knot;
    use airfair_units::Time;
    use std::sync::Arc;

    const S: u64 = 1_000_000_000;

    /// Knots as (seconds, x).
    fn path(knots: &[(f64, f64)], repeat_from: Option<usize>) -> Result<Path, String> {
        let knots: Arc<[Knot]> = knots
            .iter()
            .map(|&(at, x)| Knot { at: Time((at * 1e9) as u64), position: [x, 5.0, 0.0] })
            .collect();
        Path::new(&PathSpec { node: 0, knots, repeat_from }, &MovementSpec::default())
    }

    /// Times of all refreshes before `end` s, in seconds, with the positions then.
    fn refreshes(path: &Path, end: u64) -> Vec<(f64, f64)> {
        let mut all = Vec::new();
        let mut at = 0;
        while let Some(next) = path.next(at).filter(|&next| next < end * S) {
            assert!(next > at);
            all.push((next as f64 / 1e9, path.position(next)[0]));
            at = next;
        }
        all
    }

    #[test]
    fn a_node_walks_in_straight_lines_and_rests() {
        // Leaves at 2 s with 10 m/s, rests from 3 to 5 s, goes back with 20 m/s.
        let path = path(&[(2.0, 100.0), (3.0, 110.0), (5.0, 110.0), (5.5, 100.0)], None).unwrap();
        let at = |s: f64| path.position((s * 1e9) as u64)[0];
        let positions = [0.0, 2.0, 2.25, 3.0, 4.9, 5.0, 5.25, 5.5, 99.0].map(at);
        assert_eq!(positions, [100.0, 100.0, 102.5, 110.0, 110.0, 110.0, 105.0, 100.0, 100.0]);
        assert_eq!(path.position(0)[1], 5.0);
        // Each metre takes 0.1 s. On the way back a metre takes 0.05 s, so 0.1 s are two metres; the node is at rest when the last 0.1 s
        // are over.
        let refreshes = refreshes(&path, 100);
        let back = [109.0, 107.0, 105.0, 103.0, 101.0, 100.0].into_iter().enumerate();
        let expected: Vec<(f64, f64)> = (1..=10)
            .map(|i| (2.0 + 0.1 * f64::from(i), 100.0 + f64::from(i)))
            .chain(back.map(|(i, x)| (5.05 + 0.1 * i as f64, x)))
            .collect();
        assert_eq!(refreshes.len(), expected.len(), "{refreshes:?}");
        for (found, wanted) in refreshes.iter().zip(&expected) {
            assert!(
                (found.0 - wanted.0).abs() < 1e-6 && (found.1 - wanted.1).abs() < 1e-5,
                "{found:?} {wanted:?}"
            );
        }
    }

    #[test]
    fn the_position_of_a_slow_node_is_refreshed_every_metre_and_where_it_stops() {
        // 2.5 m at 0.5 m/s.
        let optional = path(&[(1.0, 0.0), (6.0, 2.5)], None).unwrap();
        assert_eq!(refreshes(&optional, 100), [(3.0, 1.0), (5.0, 2.0), (6.0, 2.5)]);
        // 0.1 m and back, faster than the interval: only one refresh sees it.
        let twitch = path(&[(1.0, 0.0), (1.01, 0.1), (1.02, 0.0)], None).unwrap();
        assert_eq!(refreshes(&twitch, 100), [(1.02, 0.0)]);
    }

    #[test]
    fn a_round_is_repeated() {
        // To 30 m in 3 s, rests 2 s, back in 3 s, rests 2 s: a round of 10 s that begins at 5 s.
        let path = path(&[(5.0, 0.0), (8.0, 30.0), (10.0, 30.0), (13.0, 0.0), (15.0, 0.0)], Some(0)).unwrap();
        let at = |s: f64| path.position((s * 1e9) as u64)[0];
        assert_eq!([4.0, 6.0, 9.0, 12.0, 14.0].map(at), [0.0, 10.0, 30.0, 10.0, 0.0]);
        assert_eq!([15.0, 16.0, 59.0, 1_000_006.0].map(at), [0.0, 10.0, 30.0, 10.0]);
        // 60 refreshes a round: 60 m at 10 m/s.
        let refreshes = refreshes(&path, 105);
        assert_eq!(refreshes.len(), 600, "{:?}", &refreshes[..4]);
        assert!(refreshes.iter().all(|&(s, x)| (at(s) - x).abs() < 1e-3));
    }

    #[test]
    fn the_position_of_a_node_at_rest_is_not_refreshed() {
        assert_eq!(path(&[(3.0, 1.0)], None).unwrap().next(0), None);
        assert_eq!(path(&[(3.0, 1.0), (4.0, 1.0), (9.0, 1.0)], Some(1)).unwrap().next(0), None);
        assert_eq!(path(&[(3.0, 1.0), (4.0, 2.0)], None).unwrap().next(4 * S), None);
    }

    #[test]
    fn contradictory_paths_are_refused() {
        for (knots, repeat) in [
            (&[][..], None),
            (&[(1.0, 0.0), (0.5, 1.0)], None),
            (&[(1.0, 0.0), (1.0, 1.0)], None),
            (&[(1.0, f64::NAN), (2.0, 1.0)], None),
            (&[(1.0, 0.0), (2.0, 1.0)], Some(0)),
            (&[(1.0, 0.0), (2.0, 0.0)], Some(1)),
            (&[(1.0, 0.0), (2.0, 0.0)], Some(7)),
        ] {
            assert!(path(knots, repeat).is_err(), "{knots:?} {repeat:?}");
        }
    }
}
