//! Counts of dropped and marked packets, by reason.

use std::collections::BTreeMap;

/// Reasons for drops by the network itself.
pub mod drop_reason {
    /// The MAC gave the packet up at the retry limit.
    pub const RETRY_LIMIT: &str = "retry-limit";
    /// No route to the destination.
    pub const NO_ROUTE: &str = "no-route";
    /// The ARP requests were not answered.
    pub const ARP_FAILED: &str = "arp-failed";
    /// Too many packets waited for an address.
    pub const ARP_QUEUE: &str = "arp-queue";
    /// Lost above the MAC, which had acknowledged it (`packet_loss`).
    pub const PACKET_LOSS: &str = "packet-loss";
    /// Lost on a wired link.
    pub const WIRE_LOSS: &str = "wire-loss";
    /// The hop limit was reached before the destination.
    pub const HOP_LIMIT: &str = "hop-limit";
    /// Too many packets waited for a route.
    pub const ROUTE_QUEUE: &str = "route-queue";
    /// The packet has waited too long for a route.
    pub const ROUTE_WAIT: &str = "route-wait";
    /// The packet was queued for a neighbour when the link to it broke.
    pub const LINK_BREAK: &str = "link-break";
    /// Acknowledged, but taken for a duplicate by its receiver because sequence numbers had wrapped.
    pub const TAKEN_FOR_DUPLICATE: &str = "taken-for-duplicate";

    /// True for every other reason: the interface's queue, AQM or hop has refused or dropped the packet.
    pub(crate) fn is_of_queue(reason: &str) -> bool {
        let others = [
            RETRY_LIMIT,
            NO_ROUTE,
            ARP_FAILED,
            ARP_QUEUE,
            PACKET_LOSS,
            WIRE_LOSS,
            HOP_LIMIT,
            ROUTE_QUEUE,
            ROUTE_WAIT,
            LINK_BREAK,
            TAKEN_FOR_DUPLICATE,
        ];
        !others.contains(&reason)
    }
}

/// Numbers of packets by reason.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    drops: BTreeMap<&'static str, u64>,
    marks: BTreeMap<&'static str, u64>,
}

impl Accounts {
    /// Counts a dropped packet.
    pub fn drop(&mut self, reason: &'static str) {
        *self.drops.entry(reason).or_insert(0) += 1;
    }

    /// Counts a marked packet.
    pub fn mark(&mut self, reason: &'static str) {
        *self.marks.entry(reason).or_insert(0) += 1;
    }

    /// Dropped packets by reason.
    pub fn drops(&self) -> BTreeMap<String, u64> {
        named(&self.drops)
    }

    /// Marked packets by reason.
    pub fn marks(&self) -> BTreeMap<String, u64> {
        named(&self.marks)
    }
}

fn named(counts: &BTreeMap<&'static str, u64>) -> BTreeMap<String, u64> {
    counts.iter().map(|(&reason, &count)| (reason.to_string(), count)).collect()
}
