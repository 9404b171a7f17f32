//! What a packet is, for those who look at it on its way: captures and the table of frames.

use airfair_schemes::places::Ecn;
use airfair_transport::Segment;

use super::{Behind, Net};
use crate::ids::{CopyRef, FlowIx, PacketRef};
use crate::packet::{Copy, NO_FLOW, Payload};
use crate::record::Content;
use crate::route::Datagram;
use crate::spec::HeaderSpec;

/// A packet as it leaves a node.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    /// Its flow; none for ARP and for packets from outside.
    pub flow: Option<u32>,
    /// The nodes that it goes from and to; of ARP's packets, who asks or answers and who is meant.
    pub source: u32,
    pub destination: u32,
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

impl Net {
    /// What a packet is where it has come farthest, while it lives.
    pub(crate) fn describe_packet(&self, packet: PacketRef) -> Option<Described> {
        self.describe(self.packets.latest(packet)?)
    }

    /// What a packet is, while it lives.
    pub(crate) fn describe(&self, copy: CopyRef) -> Option<Described> {
        let (packet, at) = self.packets.both(copy)?;
        let body = match packet.payload {
            Payload::Routing { slot } => Body::Routing(self.routes.datagram(slot)?),
            Payload::Message { .. } => Body::Message(self.agents.start_of(packet)),
            Payload::Arp { request } => Body::Arp { request },
            Payload::Tcp { flow, opening } => self.describe_segment(copy, at, flow, opening)?,
            Payload::Foreign { .. } => Body::Foreign,
            Payload::Udp { .. } => Body::Udp,
        };
        Some(Described {
            flow: packet.flow().map(|flow| flow.0),
            source: packet.source,
            destination: packet.destination,
            payload: packet.length,
            ttl: self.hop_limit.saturating_sub(at.hops) as u8,
            ecn: at.ecn,
            content: self.packets.content(packet, at),
            sequence: self.packets.sequence(packet, at),
            body,
        })
    }

    fn describe_segment(&self, copy: CopyRef, at: &Copy, flow: FlowIx, opening: u32) -> Option<Body> {
        let carried = self.packets.carried(at)?;
        let config = &self.flows[flow.ix()].tcp.as_ref()?.config;
        // Without a handshake nobody told the shift: none, unless the window needs it.
        let needed = config.handshake || carried.segment.window > 65_535;
        let shift = if needed && !carried.segment.flags.syn { config.window_scale } else { 0 };
        let connection = (opening != NO_FLOW).then_some(opening);
        let header = self.header_bytes(copy, at.header);
        Some(Body::Tcp { segment: carried.segment, forward: carried.forward, shift, connection, header })
    }

    /// Node and what is behind each port, in the order of [`Net::queue_names`].
    pub(crate) fn ports(&self) -> impl Iterator<Item = (u32, Behind)> + '_ {
        self.ports.iter().map(|port| (port.node, port.behind))
    }

    /// The port of a station.
    pub(crate) fn port_of_station(&self, station: u32) -> u32 {
        self.port_of_station[station as usize]
    }

    /// Bytes that each layer is said to add.
    pub(crate) fn headers(&self) -> &HeaderSpec {
        &self.headers
    }
}
