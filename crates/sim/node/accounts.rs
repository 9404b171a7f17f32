//! Why packets were dropped or marked, and how often.

use std::collections::BTreeMap;

/// Reasons for drops that are the network's own.
pub mod drop_reason {
    /// The MAC gave up.
    pub const RETRY_LIMIT: &str = "retry-limit";
    /// No route to the destination.
    pub const NO_ROUTE: &str = "no-route";
    /// ARP was not answered.
    pub const ARP_FAILED: &str = "arp-failed";
    /// Too many packets waited for ARP.
    pub const ARP_QUEUE: &str = "arp-queue";
    /// Lost above the MAC that had acknowledged it.
    pub const PACKET_LOSS: &str = "packet-loss";
    /// Lost on a wired link.
    pub const WIRE_LOSS: &str = "wire-loss";
    /// After as many hops as IP's time to live it was not there.
    pub const HOP_LIMIT: &str = "hop-limit";
    /// Too many packets waited for routes.
    pub const ROUTE_QUEUE: &str = "route-queue";
    /// It has waited too long for a route.
    pub const ROUTE_WAIT: &str = "route-wait";
    /// It queued for a neighbour when the link to it broke.
    pub const LINK_BREAK: &str = "link-break";
    /// Acknowledged, but its receiver took it for one that it had already: the sequence numbers had wrapped round.
    pub const TAKEN_FOR_DUPLICATE: &str = "taken-for-duplicate";

    /// Whether it is none of these: an interface's queue, or what stands beside it, did not take the packet or threw it away.
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

/// Packets by reason.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    drops: BTreeMap<&'static str, u64>,
    marks: BTreeMap<&'static str, u64>,
}

impl Accounts {
    /// A packet is dropped.
    pub fn drop(&mut self, reason: &'static str) {
        *self.drops.entry(reason).or_insert(0) += 1;
    }

    /// A packet is marked.
    pub fn mark(&mut self, reason: &'static str) {
        *self.marks.entry(reason).or_insert(0) += 1;
    }

    /// Packets dropped.
    pub fn drops(&self) -> BTreeMap<String, u64> {
        named(&self.drops)
    }

    /// Packets marked.
    pub fn marks(&self) -> BTreeMap<String, u64> {
        named(&self.marks)
    }
}

fn named(counts: &BTreeMap<&'static str, u64>) -> BTreeMap<String, u64> {
    counts.iter().map(|(&reason, &count)| (reason.to_string(), count)).collect()
}
