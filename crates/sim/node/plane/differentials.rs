//! Counts of packets that have left queues which compare themselves with those of next hops (DiffQ): with what differences, at which
//! levels.

use airfair_schemes::places::NodeId;

use crate::ids::PortIx;

/// Packets that have left a port's queue for one next hop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HopDifferential {
    pub next_hop: NodeId,
    pub packets: u64,
    /// Sum of their differences, packets.
    pub sum: i64,
    /// Packets by the access category that the queue has given them; empty if it gives none.
    pub levels: Vec<u64>,
}

/// The counts since the end of the warm-up. They take no memory without such a queue.
#[derive(Debug, Default)]
pub(crate) struct Differentials {
    by_port: Vec<Vec<HopDifferential>>,
}

impl Differentials {
    /// Counts a packet.
    pub fn count(&mut self, port: PortIx, next_hop: NodeId, differential: i64) {
        if self.by_port.len() <= port.ix() {
            self.by_port.resize(port.ix() + 1, Vec::new());
        }
        let hops = &mut self.by_port[port.ix()];
        let at = hops.iter().position(|hop| hop.next_hop == next_hop).unwrap_or_else(|| {
            hops.push(HopDifferential { next_hop, packets: 0, sum: 0, levels: Vec::new() });
            hops.len() - 1
        });
        hops[at].packets += 1;
        hops[at].sum += differential;
    }

    /// Counts the level of a packet that was counted before.
    pub fn count_level(&mut self, port: PortIx, next_hop: NodeId, level: u8) {
        let hops = self.by_port.get_mut(port.ix()).into_iter().flatten();
        for hop in hops.filter(|hop| hop.next_hop == next_hop) {
            let level = usize::from(level);
            hop.levels.resize(hop.levels.len().max(level + 1), 0);
            hop.levels[level] += 1;
        }
    }

    /// The next hops of a port's queue.
    pub fn of(&self, port: PortIx) -> &[HopDifferential] {
        self.by_port.get(port.ix()).map_or(&[], Vec::as_slice)
    }

    /// Forgets what was counted during the warm-up.
    pub fn warmed_up(&mut self) {
        self.by_port.clear();
    }
}
