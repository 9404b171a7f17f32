//! State of the network for `explain`; unused otherwise.

use std::collections::BTreeMap;

use airfair_transport::Limit;
use airfair_units::Time;

use crate::ids::{ConnectionRef, CopyRef, FlowIx, LinkRef, PacketRef, PortIx};
use crate::node::Network;
use crate::node::endpoints::tcp;

/// Owner of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// A flow; true on its way forward.
    Flow(FlowIx, bool),
    /// A packet of no flow (ARP, agents, routing, injected), or one that has ended.
    Other,
}

/// State of a connection at a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionView {
    pub limit: Limit,
    /// True if data or a SYN is sent and not acknowledged.
    pub outstanding: bool,
    /// The sender waits for room in its node's queue.
    pub blocked: bool,
    /// The sender's packets in its node have reached the limit.
    pub held: bool,
    /// The receiver delays an acknowledgement.
    pub acknowledgement_due: bool,
    /// Numbers of time-outs, losses indicated by acknowledgements, and marks.
    pub reasons: [u64; 3],
    /// SYNs that the sender has sent.
    pub syns: u64,
    /// Expiry of the retransmission timer, and its expiries since the last acknowledgement of new data.
    pub timer: Option<(Time, u32)>,
    /// Doublings of that timer.
    pub doublings: u32,
}

/// Owner of a packet; none after its end.
pub(super) fn owner(network: &Network, packet: PacketRef) -> Option<Owner> {
    let packet = network.plane.packets.packet(packet)?;
    let Some(flow) = packet.flow() else { return Some(Owner::Other) };
    Some(Owner::Flow(flow, packet.destination == network.endpoints.flows[flow].to))
}

/// Owner of a copy.
pub(super) fn owner_of_copy(network: &Network, copy: CopyRef) -> Owner {
    let of = network.plane.packets.copy(copy).map(|copy| copy.of);
    of.and_then(|packet| owner(network, packet)).unwrap_or(Owner::Other)
}

/// The port of a link; with access categories the one whose queue serves a flow's packets.
pub(super) fn port(network: &Network, link: LinkRef, flow: FlowIx) -> PortIx {
    match link {
        LinkRef::Station(station) => {
            let port = network.plane.interfaces.of_station(station).1;
            network
                .plane
                .interfaces
                .port_of(port, network.plane.interfaces.category(port, network.endpoints.flows[flow].dscp))
        }
        LinkRef::Wire(wire) => network.plane.links.port(wire),
    }
}

/// The category in whose queue a flow's packets wait for a link, 0 with the DCF; none if one queue serves several categories.
pub(super) fn category_of_queue(network: &Network, link: LinkRef, flow: FlowIx) -> Option<u8> {
    let LinkRef::Station(station) = link else { return None };
    let port = network.plane.interfaces.of_station(station).1;
    let one_queue = network.plane.interfaces.categories(port).is_some_and(|of| of.ports.is_empty());
    (!one_queue).then(|| network.plane.interfaces.category(port, network.endpoints.flows[flow].dscp))
}

/// Numbers of packets in the queue of a flow's packets for a link, by owner; without the control packets ahead of the queue and the
/// packets in the MAC.
pub(super) fn waiting_by_owner(
    network: &Network,
    link: LinkRef,
    flow: FlowIx,
    now: Time,
) -> BTreeMap<Owner, u64> {
    let mut by = BTreeMap::new();
    let mut add = |copy: CopyRef| *by.entry(owner_of_copy(network, copy)).or_default() += 1;
    network
        .plane
        .interfaces
        .pipeline(port(network, link, flow))
        .for_each_packet(&mut |packet| add(network.plane.packets.at(packet.id.0)));
    if let LinkRef::Wire(wire) = link {
        network.plane.links.waiting(wire, now).for_each(add);
    }
    by
}

/// Number of hops of a packet so far; none after its end.
pub(super) fn hops_so_far(network: &Network, packet: PacketRef) -> Option<usize> {
    let latest = network.plane.packets.latest(packet)?;
    network.plane.packets.copy(latest).map(|copy| usize::from(copy.hops))
}

/// State of a connection; none after its end.
pub(super) fn connection(network: &Network, id: ConnectionRef, now: Time) -> Option<ConnectionView> {
    let connection = network.endpoints.tcp.get(id)?;
    let (blocked, held) = network.endpoints.backpressure.state(id);
    let sender = &connection.sender.machine;
    let limit = sender.limit(now);
    Some(ConnectionView {
        limit,
        outstanding: sender.next_sequence() > sender.unacknowledged() || limit == Limit::Handshake,
        blocked,
        held,
        acknowledgement_due: connection.receiver.holds_acknowledgement(),
        reasons: tcp::reasons(sender),
        syns: sender.stats().syns,
        timer: sender.retransmission_timer(),
        doublings: sender.round_trips().doublings,
    })
}
