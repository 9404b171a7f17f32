//! What a scheme may know of a packet.

use airfair_units::Time;

/// A node: a number made of its name, so that it says nothing of the scenario file, nor of what other nodes there are.
/// No two nodes of a world have the same. Host and scheme hand it to each other; its order means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A flow: a number made of its name, as [`NodeId`] is; each connection of a flow that sends files has one of its own.
/// What belongs to no flow has `u32::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// The host's handle of a packet; a scheme stores it and hands it back, nothing more. No decision may depend on its value, nor on
/// which of two is the greater: a packet elsewhere in the world changes both.
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
