//! Estimate of the memory of the lists of hearers before they are built.

use airfair_units::Bytes;

use super::StationSpec;
use super::hearers::{Cells, entry_by_distance};
use super::phy::PhyKind;
use crate::spec::{GainSpec, Propagation};

/// Upper bound of the memory of a pair of transmitter and hearer, in the lists of the air and while routes are computed. Measured peaks
/// above the scenario's own memory: 72, 68, 67 bytes a pair for 500, 1000, 2000 nodes that are all neighbours, 84 with AODV (1000 nodes),
/// 28 where most pairs are too far apart to be neighbours (4000 nodes).
const BYTES_PER_PAIR: u64 = 90;
/// Bytes that fading adds for each pair: an entry of the list of mean powers, and its last sequence number.
const BYTES_OF_FADING: u64 = 30;
/// Largest number of pairs examined for the estimate.
const EXAMINED_PAIRS: usize = 3_000_000;

/// Number of ordered pairs of stations of which one hears the other: an upper bound if that is below `most`, else an estimate from a sample
/// of stations that is even over the area and, within a cell, in the order of their names.
fn pairs(stations: &[StationSpec], kinds: &[PhyKind], most: u64) -> u64 {
    let cells = Cells::new(stations);
    let mut senders: Vec<usize> =
        (0..stations.len()).filter(|&i| stations[i].propagation != Propagation::Matrix).collect();
    let candidates: u64 = senders.iter().map(|&i| cells.count_near(&stations[i]) - 1).sum();
    if candidates <= most {
        return candidates;
    }
    senders.sort_by_key(|&i| (cells.of(&stations[i]), &stations[i].name));
    // The mean, not the sum: a few crowded cells among many empty ones do not multiply the pairs to examine.
    let looks = (candidates / senders.len() as u64).max(1);
    let step = senders.len().div_ceil((EXAMINED_PAIRS / looks as usize).max(16));
    let sample: Vec<usize> = senders.iter().copied().step_by(step).collect();
    let heard = |&i: &usize| {
        cells.near(&stations[i]).filter(|&j| entry_by_distance(stations, kinds, i, j).is_some()).count()
    };
    let found: usize = sample.iter().map(heard).sum();
    (found as f64 / sample.len() as f64 * senders.len() as f64) as u64
}

/// The memory of all pairs of stations. Refuses a world whose pairs need more than `limit`.
///
/// # Errors
/// States the number of pairs, their memory, and what would reduce it.
pub(crate) fn check(
    stations: &[StationSpec],
    kinds: &[PhyKind],
    gains: &[GainSpec],
    limit: Bytes,
) -> Result<Bytes, String> {
    let fades = stations.iter().any(|s| s.fading.is_some());
    let bytes_per_pair = BYTES_PER_PAIR + if fades { BYTES_OF_FADING } else { 0 };
    let most = limit.0 / bytes_per_pair;
    let pairs = pairs(stations, kinds, most).saturating_add(gains.len() as u64);
    if pairs <= most {
        return Ok(Bytes(pairs * bytes_per_pair));
    }
    let count = |x: u64| match x {
        0..1_000_000 => x.to_string(),
        _ => format!("{} million", (x as f64 / 1e6).ceil()),
    };
    let bytes = |x: u64| match x {
        0..1_000_000 => format!("{x} B"),
        _ => format!("{} MB", (x as f64 / 1e6).ceil()),
    };
    Err(format!(
        "{} radios hear each other in some {} pairs, which take about {} of memory; expected at most {} \
         (memory_limit): a higher radio.cutoff, less tx_power, more distance or fewer nodes make fewer pairs",
        stations.len(),
        count(pairs),
        bytes(pairs.saturating_mul(bytes_per_pair)),
        bytes(limit.0),
    ))
}
