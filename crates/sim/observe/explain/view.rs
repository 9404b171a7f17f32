//! The network as one that explains a run sees it. Nothing here is called unless somebody explains.

use std::collections::BTreeMap;

use airfair_transport::Limit;
use airfair_units::Time;

use crate::ids::{ConnectionRef, CopyRef, FlowIx, LinkRef, PacketRef, PortIx};
use crate::node::{Network, tcp};

/// Whose packet something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// A flow's, on its way forward or back.
    Flow(FlowIx, bool),
    /// ARP's, or injected.
    Other,
}

/// A connection at a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionView {
    pub limit: Limit,
    /// Sent and not acknowledged, SYN included.
    pub outstanding: bool,
    /// It waits for room in its node's queue.
    pub blocked: bool,
    /// It has as much in its node as it may have.
    pub held: bool,
    /// The receiver has an acknowledgement to send, later.
    pub acknowledgement_due: bool,
    /// Time-outs, losses told by acknowledgements, and marks so far.
    pub reasons: [u64; 3],
}

/// Whose a packet is that lives.
pub(super) fn owner(network: &Network, packet: PacketRef) -> Option<Owner> {
    let packet = network.packets.packet(packet)?;
    let Some(flow) = packet.flow() else { return Some(Owner::Other) };
    Some(Owner::Flow(flow, packet.destination == network.flows[flow].to))
}

/// Whose a copy is.
pub(super) fn owner_of_copy(network: &Network, copy: CopyRef) -> Owner {
    let of = network.packets.copy(copy).map(|copy| copy.of);
    of.and_then(|packet| owner(network, packet)).unwrap_or(Owner::Other)
}

/// The port that a link is behind.
pub(super) fn port(network: &Network, link: LinkRef) -> PortIx {
    match link {
        LinkRef::Station(station) => network.interfaces.of_station(station).1,
        LinkRef::Wire(wire) => network.links.port(wire),
    }
}

/// Whose packets wait for a link, and how many of each.
pub(super) fn waiting_by_owner(network: &Network, link: LinkRef, now: Time) -> BTreeMap<Owner, u64> {
    let mut by = BTreeMap::new();
    let mut add = |copy: CopyRef| *by.entry(owner_of_copy(network, copy)).or_default() += 1;
    network.interfaces.show(port(network, link), &mut |packet| add(network.packets.at(packet.id.0)));
    if let LinkRef::Wire(wire) = link {
        network.links.waiting(wire, now).for_each(add);
    }
    by
}

/// How many hops a packet has gone, if it lives.
pub(super) fn hops_gone(network: &Network, packet: PacketRef) -> Option<usize> {
    let latest = network.packets.latest(packet)?;
    network.packets.copy(latest).map(|copy| usize::from(copy.hops))
}

/// A connection, if it lives.
pub(super) fn connection(network: &Network, id: ConnectionRef, now: Time) -> Option<ConnectionView> {
    let connection = network.tcp.get(id)?;
    let (blocked, held) = network.backpressure.state(id);
    let sender = &connection.sender.machine;
    let limit = sender.limit(now);
    Some(ConnectionView {
        limit,
        outstanding: sender.next_sequence() > sender.unacknowledged() || limit == Limit::Handshake,
        blocked,
        held,
        acknowledgement_due: connection.receiver.holds_acknowledgement(),
        reasons: tcp::reasons(sender),
    })
}
