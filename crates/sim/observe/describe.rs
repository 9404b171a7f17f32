//! Descriptions of packets on their way, for captures and the table of frames.

use airfair_schemes::places::Ecn;
use airfair_transport::Segment;
use airfair_transport::rate::time_stamp;
use airfair_wire::rate::Data;

use crate::ids::{CopyRef, FlowIx, NodeIx, PacketRef};
use crate::node::Network;
use crate::node::plane::outside::PacketBytes;
use crate::packet::{NO_FLOW, Packet, PacketCopy, Payload};
use crate::record::{Announced, Content};
use crate::route::Datagram;

/// Description of a packet as it leaves a node.
#[derive(Debug, Clone)]
pub(crate) struct PacketDescription {
    /// Flow of the packet; none for ARP and for packets from outside.
    pub flow: Option<FlowIx>,
    /// Source and destination; of ARP packets, the requesting or replying node and the requested one.
    pub source: NodeIx,
    pub destination: NodeIx,
    /// Transport payload, bytes.
    pub payload: u32,
    /// Time to live in the IP header as the packet leaves this node.
    pub ttl: u8,
    pub ecn: Ecn,
    pub content: Content,
    /// Number of the packet within the flow; for TCP its first byte, or the byte that it acknowledges.
    pub sequence: u32,
    /// Size of the destination's queue that its sender announces in the packet's header, packets.
    pub announced: Option<u32>,
    pub body: Body,
}

/// Number of bytes of a message that are shown; zeros follow.
pub(crate) const MESSAGE: usize = 32;

/// Number of bytes of a scheme's header that are shown.
const LONGEST_HEADER: usize = 32;

/// A scheme's header as bytes; empty for a packet without one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SchemeHeader {
    bytes: [u8; LONGEST_HEADER],
    len: usize,
    /// It stands at the end of the packet.
    trailer: bool,
}

impl SchemeHeader {
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes between IP and the transport's header, and bytes at the end of the packet.
    pub(crate) fn parts(&self) -> (&[u8], &[u8]) {
        let bytes = &self.bytes[..self.len];
        if self.trailer { (&[], bytes) } else { (bytes, &[]) }
    }
}

/// Content of a packet with its headers.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    Arp {
        request: bool,
    },
    Udp {
        /// Scheme's header of the packet.
        header: SchemeHeader,
        /// Header of the transport with a rate, in front of the payload.
        data: Option<Data>,
    },
    /// A report of a flow's receiver: its bytes.
    Report(Vec<u8>),
    Tcp {
        segment: Segment,
        /// True from the end that sends data to the one that receives.
        forward: bool,
        /// Window scale of the window field.
        shift: u8,
        /// Number of the connection within a flow that has many.
        connection: Option<u32>,
        /// Scheme's header of the packet.
        header: SchemeHeader,
    },
    /// An agent's message by its first bytes: `payload` bytes over UDP.
    Message([u8; MESSAGE]),
    /// A routing message over UDP.
    Routing(Datagram),
    /// A broadcast of a forwarder: its header; `payload` bytes with what follows the header.
    Forwarded(Vec<u8>),
    /// A packet from outside: `payload` bytes including headers, and the bytes themselves if they are known.
    Foreign(Option<PacketBytes>),
}

/// Describes a packet by its copy that has travelled farthest; none after its end.
pub(crate) fn packet(network: &Network, packet: PacketRef) -> Option<PacketDescription> {
    copy(network, network.plane.packets.latest(packet)?)
}

/// Describes a copy; none after its end.
pub(crate) fn copy(network: &Network, copy: CopyRef) -> Option<PacketDescription> {
    let (packet, at) = network.plane.packets.packet_and_copy(copy)?;
    let body = match packet.payload {
        Payload::Routing(message) => Body::Routing(network.plane.routes.datagram(message)?),
        Payload::Message(message) => Body::Message(network.plane.messages.start_of(message)),
        Payload::Forwarded(message) => Body::Forwarded(
            network.plane.messages.get(message).map_or_else(Vec::new, |header| header.bytes.to_vec()),
        ),
        Payload::Arp { request } => Body::Arp { request },
        Payload::Tcp { flow, opening } => segment(network, copy, at, (flow, opening))?,
        Payload::Foreign { at: foreign, .. } => Body::Foreign(network.plane.outside.bytes(foreign).cloned()),
        Payload::Udp { flow, number } => {
            let carries = network.endpoints.udp.transport_header(flow) > 0;
            let data = carries.then(|| Data { number, sent: time_stamp(packet.created) });
            Body::Udp { header: scheme_header(network, copy, at), data }
        }
        Payload::Routed { .. } => Body::Udp { header: scheme_header(network, copy, at), data: None },
        Payload::Report { .. } => Body::Report(network.plane.packets.report(at.of).to_vec()),
    };
    Some(PacketDescription {
        flow: packet.flow().or_else(|| forwarded(network, packet).map(|(flow, _)| flow)),
        source: packet.source,
        destination: packet.destination,
        payload: packet.length,
        ttl: network.plane.rules.hop_limit.saturating_sub(at.hops) as u8,
        ecn: at.ecn,
        content: content(network, packet, at),
        sequence: forwarded(network, packet)
            .map_or_else(|| network.plane.packets.sequence(packet, at), |(_, batch)| batch),
        announced: announced(network, copy).map(|announced| announced.queue),
        body,
    })
}

/// Flow and batch of the broadcast of a forwarder that a frame carries, while its packet exists.
pub(crate) fn batch(network: &Network, packet: PacketRef) -> Option<(FlowIx, u32)> {
    forwarded(network, network.plane.packets.packet(packet)?)
}

/// Flow and batch of a broadcast that a forwarder has made.
fn forwarded(network: &Network, packet: &Packet) -> Option<(FlowIx, u32)> {
    match packet.payload {
        Payload::Forwarded(message) => network.plane.messages.get(message).and_then(|header| header.batch),
        _ => None,
    }
}

/// Content of a packet, as traces and tables name it.
pub(crate) fn content(network: &Network, packet: &Packet, at: &PacketCopy) -> Content {
    let named = match packet.payload {
        Payload::Routing(message) => {
            network.plane.routes.content(message, packet.destination == NodeIx::EVERYONE)
        }
        Payload::Message(message) => network.hosts.frames.kind(&network.plane.messages.start_of(message)),
        _ => None,
    };
    named.map_or_else(|| network.plane.packets.content(packet, at), Content::Messages)
}

/// Name of the messages of routing or of a scheme that a frame carries, while its packet exists.
pub(crate) fn messages(network: &Network, packet: PacketRef) -> Option<&'static str> {
    let (packet, at) = network.plane.packets.packet_and_copy(network.plane.packets.latest(packet)?)?;
    match content(network, packet, at) {
        Content::Messages(name) => Some(name),
        _ => None,
    }
}

fn segment(
    network: &Network,
    copy: CopyRef,
    at: &PacketCopy,
    (flow, opening): (FlowIx, u32),
) -> Option<Body> {
    let carried = network.plane.packets.carried(at)?;
    let config = network.endpoints.tcp.config(flow)?;
    // Without a handshake no window scale was negotiated: it is 0 unless the window needs more.
    let needed = config.handshake || carried.segment.window > 65_535;
    let shift = if needed && !carried.segment.flags.syn { config.window_scale } else { 0 };
    let connection = (opening != NO_FLOW).then_some(opening);
    let (segment, forward) = (carried.segment, carried.forward);
    Some(Body::Tcp { segment, forward, shift, connection, header: scheme_header(network, copy, at) })
}

/// The scheme's header that a copy carries. One without an encoding is shown as zeros.
fn scheme_header(network: &Network, copy: CopyRef, at: &PacketCopy) -> SchemeHeader {
    let mut bytes = [0; LONGEST_HEADER];
    let (kinds, header) = (&network.plane.headers, network.plane.packets.header(copy));
    let len = header.map_or(0, |header| kinds.encode(at.header, header, &mut bytes));
    SchemeHeader { bytes, len, trailer: kinds.of(at.header).is_some_and(|kind| kind.trailer) }
}

/// The announcement of a copy's sender in the header; none if its queue has written none.
pub(crate) fn announced(network: &Network, copy: CopyRef) -> Option<Announced> {
    let (kind, header, destination) = network.plane.packets.heard(copy)?;
    let queue = network.plane.headers.of(kind)?.queue?;
    Some(Announced { queue: queue(header), destination })
}
