//! The division of a node's time among its flows.

use alloc::vec::Vec;

use super::Share;

/// A flow that competes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// The most that it takes, bytes/s.
    pub rate: f64,
    /// The bandwidth to its next hop, bytes/s.
    pub bandwidth: f64,
}

/// The rate, bytes/s, of a flow that takes all it gets, with this bandwidth, beside others: max-min fair shares of `time` (a part of one
/// second in each), either as equal parts of the time or as equal rates.
#[must_use]
pub fn level(share: Share, time: f64, bandwidth: f64, others: &[Demand]) -> f64 {
    // In units of the quantity that is equal: the most that each of the others takes, and the time that a unit costs.
    let mut others: Vec<(f64, f64)> = others
        .iter()
        .map(|other| match share {
            Share::Time => (other.rate / other.bandwidth, 1.0),
            Share::Rate => (other.rate, 1.0 / other.bandwidth),
        })
        .collect();
    others.sort_by(|one, other| one.0.total_cmp(&other.0));
    let unit = |bandwidth: f64| match share {
        Share::Time => 1.0,
        Share::Rate => 1.0 / bandwidth,
    };
    let (mut left, mut cost) = (time, unit(bandwidth) + others.iter().map(|other| other.1).sum::<f64>());
    for (most, unit) in others {
        if most * cost >= left {
            break;
        }
        left -= most * unit;
        cost -= unit;
    }
    let level = left / cost;
    match share {
        Share::Time => level * bandwidth,
        Share::Rate => level,
    }
}
