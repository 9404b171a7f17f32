//! Batch maps: for each packet the lowest rank of those that are known to hold it.
//!
//! A node never loses a packet of a batch, so the lower rank is always the newer news, and maps can be merged in any order.

use airfair_wire::exor::BatchMap;

/// Takes what another map knows better. True if anything was. A map of another length says nothing.
pub fn merge(map: &mut BatchMap, other: &[u8]) -> bool {
    if map.ranks().len() != other.len() {
        return false;
    }
    let mut news = false;
    for (rank, &told) in map.ranks_mut().iter_mut().zip(other) {
        news |= told < *rank;
        *rank = told.min(*rank);
    }
    news
}

/// A node of this rank holds a packet. True if no better one was known to.
pub fn hold(map: &mut BatchMap, packet: u8, rank: u8) -> bool {
    match map.ranks_mut().get_mut(usize::from(packet)) {
        Some(known) if rank < *known => {
            *known = rank;
            true
        }
        _ => false,
    }
}

/// The packets that a node of this rank has to forward, if it holds what the map says: no better one is known to hold them.
pub fn left_to(map: &BatchMap, rank: u8) -> impl Iterator<Item = u8> + '_ {
    (0..).zip(map.ranks()).filter(move |&(_, &known)| known == rank).map(|(packet, _)| packet)
}

/// Number of packets at the destination.
#[must_use]
pub fn delivered(map: &BatchMap) -> usize {
    map.ranks().iter().filter(|&&rank| rank == 0).count()
}
