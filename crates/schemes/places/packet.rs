//! The properties of a packet that a scheme may use.

use airfair_units::Time;
use airfair_wire::{five_tuple, ipv4};

/// A node: a number derived from its name, so that it does not depend on the order of the scenario file nor on other nodes.
/// No two nodes of a world have the same number; the order of numbers has no meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A flow: a number derived from its name, as [`NodeId`] is; each connection of a flow that sends files has one of its own.
/// Packets of no flow have `u32::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

impl FlowId {
    /// The number of packets that belong to no flow.
    pub const NONE: Self = Self(u32::MAX);
}

/// The host's handle of a packet; a scheme stores it and returns it, no more. No decision may depend on its value or on the order
/// of two values: a packet elsewhere in the world changes both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(pub u32);

/// The two ECN bits of the IP header (RFC 3168 section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecn {
    /// The transport does not support ECN: a mark becomes a drop.
    NotEct,
    /// The packet can be marked.
    Ect,
    /// The packet is marked: congestion experienced.
    Ce,
}

/// Both codepoints of a transport that supports ECN are one.
impl From<ipv4::Ecn> for Ecn {
    fn from(field: ipv4::Ecn) -> Self {
        match field {
            ipv4::Ecn::NotEct => Self::NotEct,
            ipv4::Ecn::Ect0 | ipv4::Ecn::Ect1 => Self::Ect,
            ipv4::Ecn::Ce => Self::Ce,
        }
    }
}

/// The class of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketClass {
    /// Data of an application.
    Data,
    /// A transport's acknowledgement without data.
    Ack,
    /// A message of a scheme, of routing or of ARP.
    Control,
}

impl From<five_tuple::Class> for PacketClass {
    fn from(class: five_tuple::Class) -> Self {
        match class {
            five_tuple::Class::Data => Self::Data,
            five_tuple::Class::Acknowledgement => Self::Ack,
        }
    }
}

/// A packet as a queue sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// The host's handle.
    pub id: PacketId,
    /// The packet's flow.
    pub flow: FlowId,
    /// The packet's destination.
    pub destination: NodeId,
    /// The next hop.
    pub next_hop: NodeId,
    /// The size as an IP packet.
    pub bytes: u32,
    /// The packet's class.
    pub class: PacketClass,
    /// The packet's ECN bits.
    pub ecn: Ecn,
    /// True if it carries a header of the queue's kind ([`LabelledQueue::header`](super::LabelledQueue::header)).
    pub labelled: bool,
    /// True if this node has made it; false: the node passes it on.
    pub own: bool,
    /// The time at which it arrived at the queue.
    pub enqueued: Time,
}
