//! What a packet is, for those who look at it on its way: captures and the table of frames.

use airfair_schemes::places::Ecn;
use airfair_transport::Segment;

use crate::ids::{CopyRef, FlowIx, NodeIx, PacketRef};
use crate::node::Network;
use crate::packet::{Copy, NO_FLOW, Payload};
use crate::record::Content;
use crate::route::Datagram;

/// A packet as it leaves a node.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    /// Its flow; none for ARP and for packets from outside.
    pub flow: Option<FlowIx>,
    /// The nodes that it goes from and to; of ARP's packets, who asks or answers and who is meant.
    pub source: NodeIx,
    pub destination: NodeIx,
    /// Bytes of its transport's payload.
    pub payload: u32,
    /// IP's time to live as it leaves this node.
    pub ttl: u8,
    pub ecn: Ecn,
    pub content: Content,
    /// Its number within the flow, or the byte that it begins with or acknowledges.
    pub sequence: u32,
    pub body: Body,
}

/// So many bytes of a message are shown as they are; zeros follow.
pub(crate) const MESSAGE: usize = 32;

/// An explicit-rate scheme's header is shown up to so many bytes.
pub(crate) const LONGEST_HEADER: usize = 32;

/// What a packet carries.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    Arp {
        request: bool,
    },
    Udp,
    Tcp {
        segment: Segment,
        /// From the end that sends data to the one that receives.
        forward: bool,
        /// Shift of the window field.
        shift: u8,
        /// Of the connections of a flow that has many, which one.
        connection: Option<u32>,
        /// The bytes of an explicit-rate scheme's header in front of it, and how many there are.
        header: ([u8; LONGEST_HEADER], usize),
    },
    /// A message of an agent, by its first bytes: `payload` bytes over UDP.
    Message([u8; MESSAGE]),
    /// A message of the routing protocol.
    Routing(Datagram),
    /// A packet from outside: `payload` bytes in all.
    Foreign,
}

/// What a packet is where it has come farthest, while it lives.
pub(crate) fn packet(network: &Network, packet: PacketRef) -> Option<Described> {
    copy(network, network.packets.latest(packet)?)
}

/// What a copy is, while it lives.
pub(crate) fn copy(network: &Network, copy: CopyRef) -> Option<Described> {
    let (packet, at) = network.packets.both(copy)?;
    let body = match packet.payload {
        Payload::Routing(message) => Body::Routing(network.routes.datagram(message)?),
        Payload::Message(message) => Body::Message(network.agents.start_of(message)),
        Payload::Arp { request } => Body::Arp { request },
        Payload::Tcp { flow, opening } => segment(network, copy, at, (flow, opening))?,
        Payload::Foreign { .. } => Body::Foreign,
        Payload::Udp { .. } => Body::Udp,
    };
    Some(Described {
        flow: packet.flow(),
        source: packet.source,
        destination: packet.destination,
        payload: packet.length,
        ttl: network.rules.hop_limit.saturating_sub(at.hops) as u8,
        ecn: at.ecn,
        content: network.packets.content(packet, at),
        sequence: network.packets.sequence(packet, at),
        body,
    })
}

fn segment(network: &Network, copy: CopyRef, at: &Copy, (flow, opening): (FlowIx, u32)) -> Option<Body> {
    let carried = network.packets.carried(at)?;
    let config = network.tcp.config(flow)?;
    // Without a handshake nobody told the shift: none, unless the window needs it.
    let needed = config.handshake || carried.segment.window > 65_535;
    let shift = if needed && !carried.segment.flags.syn { config.window_scale } else { 0 };
    let connection = (opening != NO_FLOW).then_some(opening);
    // What has no bytes shows as zeros.
    let mut bytes = [0; LONGEST_HEADER];
    let header = network.packets.header(copy);
    let length =
        header.map_or(0, |header| network.interfaces.headers().encode(at.header, header, &mut bytes));
    let (segment, forward) = (carried.segment, carried.forward);
    Some(Body::Tcp { segment, forward, shift, connection, header: (bytes, length) })
}
