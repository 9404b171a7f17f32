//! What a scheme may know of a packet.

use airfair_units::Time;

/// A node, by its index in the world that hosts the scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A flow, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// The host's handle of a packet; a scheme stores it and hands it back, nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(pub u32);

/// The two ECN bits of the IP header (RFC 3168 section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecn {
    /// The transport does not speak ECN: a mark becomes a drop.
    NotEct,
    /// The packet may be marked.
    Ect,
    /// It is marked: congestion experienced.
    Ce,
}

/// What a packet is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketClass {
    /// Bytes of an application.
    Data,
    /// A transport's acknowledgement without data.
    Ack,
    /// A message of a scheme, of routing or of ARP.
    Control,
}

/// A packet as a queue sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// The host's handle.
    pub id: PacketId,
    /// Its flow.
    pub flow: FlowId,
    /// The node where it ends.
    pub destination: NodeId,
    /// The neighbour it goes to next.
    pub next_hop: NodeId,
    /// Its size as an IP packet.
    pub bytes: u32,
    /// What it is for.
    pub class: PacketClass,
    /// Whether it may be marked.
    pub ecn: Ecn,
    /// When it reached the queue.
    pub enqueued: Time,
}
