//! Packets while they live: a slab whose handles tell whether their packet is still there.
//!
//! | file | contents |
//! |---|---|
//! | `cargo` | segments that packets of TCP carry |

mod cargo;

use airfair_host::{HeaderId, HeaderRef};
use airfair_schemes::places::{Ecn, Header, PacketClass};

use airfair_transport::{Flags, Segment};

use cargo::Cargo;
pub(crate) use cargo::Carried;

use crate::ids::{ConnectionRef, FlowIx};
use crate::record::Content;

/// No flow.
pub(crate) const NO_FLOW: u32 = u32::MAX;

/// What a packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    /// A datagram of a flow.
    Udp {
        flow: FlowIx,
        /// Which of the flow's datagrams, from 0.
        number: u32,
    },
    /// A segment of TCP, which [`Packets::carried`] tells.
    Tcp {
        flow: FlowIx,
        /// Which of the connections for files the segment belongs to, by the order of their opening, or [`NO_FLOW`].
        opening: u32,
    },
    /// A request or reply of ARP.
    Arp { request: bool },
    /// A message of an agent, by its place among those that are under way.
    Message { slot: u32 },
    /// A message of a routing protocol, by its place among those that are under way.
    Routing { slot: u32 },
    /// A packet from outside, with the number that the caller has given to it.
    Foreign { tag: u32 },
}

/// A packet in the network: what it is, not its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    /// When the source made it, ns.
    pub created: u64,
    /// When it entered the queue that it is in, ns; wires with queues of their own note that themselves.
    pub enqueued: u64,
    /// What the packet carries, and for whom.
    pub payload: Payload,
    /// The flow as schemes know it: each of a flow's connections is a flow of its own. [`NO_FLOW`] for packets of no flow.
    pub scheme_flow: u32,
    pub source: u32,
    pub destination: u32,
    /// Length of the transport's payload, bytes.
    pub length: u32,
    /// Size as an IP packet.
    pub bytes: u32,
    pub hops: u16,
    /// It has not left its source's queue yet; wires with queues of their own know that themselves. Of TCP only what its sender sends.
    pub at_source: bool,
    /// Which header of an explicit-rate scheme it has.
    pub header: HeaderId,
    pub class: PacketClass,
    pub ecn: Ecn,
}

impl Packet {
    /// A packet that no flow has made: ARP's, an agent's message, routing's. It is as long as its payload; senders add headers.
    pub(crate) fn control(source: u32, destination: u32, payload: Payload, length: u32, now: u64) -> Self {
        Self {
            created: now,
            enqueued: now,
            payload,
            scheme_flow: NO_FLOW,
            source,
            destination,
            length,
            bytes: length,
            hops: 0,
            at_source: false,
            header: HeaderId::NONE,
            class: PacketClass::Control,
            ecn: Ecn::NotEct,
        }
    }

    /// The flow that has made it.
    #[inline(always)]
    pub(crate) fn flow(&self) -> Option<FlowIx> {
        match self.payload {
            Payload::Udp { flow, .. } | Payload::Tcp { flow, .. } => Some(flow),
            _ => None,
        }
    }

    /// Whether it carries a segment of TCP.
    #[inline(always)]
    pub(crate) fn is_tcp(&self) -> bool {
        matches!(self.payload, Payload::Tcp { .. })
    }

    /// The place of a message among those of its sort that are under way.
    pub(crate) fn slot(&self) -> usize {
        match self.payload {
            Payload::Message { slot } | Payload::Routing { slot } => slot as usize,
            _ => usize::MAX,
        }
    }

    /// Whether it is a message of a scheme's agent.
    pub(crate) fn is_message(&self) -> bool {
        matches!(self.payload, Payload::Message { .. })
    }

    /// Whether it is a message of a routing protocol.
    pub(crate) fn is_routing(&self) -> bool {
        matches!(self.payload, Payload::Routing { .. })
    }
}

/// A cache line: it is all that a hop has to touch.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Slot {
    packet: Packet,
    generation: u32,
    alive: bool,
}

/// All packets that live.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// What packets of TCP carry, by the same index.
    cargo: Cargo,
    /// The schemes' headers of packets that have one, by the same index.
    headers: Vec<Header>,
}

impl Packets {
    /// Adds a packet that carries a segment.
    #[inline]
    pub(crate) fn add_carrying(
        &mut self,
        packet: Packet,
        segment: &Segment,
        connection: ConnectionRef,
        forward: bool,
    ) -> u64 {
        let handle = self.add(packet);
        self.cargo.load(handle as u32 as usize, segment, connection, forward);
        handle
    }

    /// The header of a scheme that a packet has or has just had; [`Packet::header`] tells whether it counts.
    #[inline]
    pub(crate) fn header_mut(&mut self, handle: u64) -> Option<&mut Header> {
        self.headers.get_mut(handle as u32 as usize)
    }

    /// The header that a packet carries, if it carries one, with its kind.
    #[inline]
    pub(crate) fn carried_header(&mut self, handle: u64) -> HeaderRef<'_> {
        match self.get(handle).map_or(HeaderId::NONE, |packet| packet.header) {
            HeaderId::NONE => (HeaderId::NONE, None),
            id => (id, self.header_mut(handle)),
        }
    }

    /// The same, to look at.
    pub(crate) fn header(&self, handle: u64) -> Option<&Header> {
        self.headers.get(handle as u32 as usize)
    }

    /// A packet has a header of a scheme from now on, which is to be filled.
    #[inline]
    pub(crate) fn new_header(&mut self, handle: u64) -> &mut Header {
        let at = handle as u32 as usize;
        if at >= self.headers.len() {
            self.headers.resize(at + 1, Header::default());
        }
        &mut self.headers[at]
    }

    /// The connection whose segment a packet of TCP carries or has just carried.
    #[inline]
    pub(crate) fn connection(&self, handle: u64) -> ConnectionRef {
        self.cargo.connection(handle as u32 as usize).unwrap_or(ConnectionRef::NONE)
    }

    /// What a packet of TCP carries or has just carried.
    #[inline]
    pub(crate) fn carried(&self, handle: u64, packet: &Packet) -> Option<Carried> {
        self.cargo.get(handle as u32 as usize, packet.ecn)
    }

    /// Sets ECN-Echo in the acknowledgement that a packet carries; whether it carries one without it.
    pub(crate) fn echo(&mut self, handle: u64) -> bool {
        let carries = self.get(handle).is_some_and(|p| p.is_tcp() && p.class == PacketClass::Ack);
        carries && self.cargo.echo(handle as u32 as usize)
    }

    /// What a packet is, in the words of a trace.
    pub(crate) fn content(&self, handle: u64, packet: &Packet) -> Content {
        match (packet.is_tcp(), packet.class) {
            (false, _) => Content::Packet,
            (true, PacketClass::Data) => Content::Data,
            (true, _) => match self.carried(handle, packet).map(|carried| carried.segment.flags) {
                Some(Flags { syn: true, ack: false, .. }) => Content::Syn,
                Some(Flags { syn: true, .. }) => Content::SynAck,
                Some(Flags { fin: true, .. }) => Content::Fin,
                _ => Content::Ack,
            },
        }
    }

    /// The number of a packet in the words of a trace: of a datagram its number within the flow, of a segment the byte that it begins
    /// with or, without data, acknowledges, of ARP the operation, of a message its place.
    pub(crate) fn sequence(&self, handle: u64, packet: &Packet) -> u32 {
        match packet.payload {
            Payload::Udp { number, .. } => number,
            Payload::Tcp { .. } => self.cargo.sequence(handle as u32 as usize),
            Payload::Foreign { tag } => tag,
            Payload::Arp { request } => 2 - u32::from(request),
            Payload::Message { slot } | Payload::Routing { slot } => slot,
        }
    }

    pub(crate) fn add(&mut self, packet: Packet) -> u64 {
        let at = match self.free.pop() {
            Some(at) => {
                let slot = &mut self.slots[at as usize];
                *slot = Slot { packet, generation: slot.generation, alive: true };
                at
            }
            None => {
                self.slots.push(Slot { packet, generation: 0, alive: true });
                (self.slots.len() - 1) as u32
            }
        };
        (u64::from(self.slots[at as usize].generation) << 32) | u64::from(at)
    }

    /// The packet, if it still lives.
    #[inline]
    pub(crate) fn get(&self, handle: u64) -> Option<&Packet> {
        let slot = self.slots.get(handle as u32 as usize)?;
        (slot.alive && u64::from(slot.generation) == handle >> 32).then_some(&slot.packet)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, handle: u64) -> Option<&mut Packet> {
        let slot = self.slots.get_mut(handle as u32 as usize)?;
        (slot.alive && u64::from(slot.generation) == handle >> 32).then_some(&mut slot.packet)
    }

    /// Ends a packet; its handles are stale from now on.
    pub(crate) fn remove(&mut self, handle: u64) -> Option<Packet> {
        let packet = *self.get(handle)?;
        let slot = &mut self.slots[handle as u32 as usize];
        slot.alive = false;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(handle as u32);
        Some(packet)
    }

    /// The handle of the packet that lives at an index.
    #[inline]
    pub(crate) fn handle(&self, at: u32) -> u64 {
        (u64::from(self.slots[at as usize].generation) << 32) | u64::from(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_takes_a_line() {
        assert_eq!(size_of::<Slot>(), 64);
    }

    #[test]
    fn a_handle_outlives_its_packet_but_finds_nothing() {
        let packet = Packet {
            created: 0,
            enqueued: 0,
            payload: Payload::Udp { flow: FlowIx(1), number: 0 },
            scheme_flow: 1,
            source: 0,
            destination: 1,
            length: 10,
            bytes: 38,
            hops: 0,
            at_source: true,
            header: HeaderId::NONE,
            class: PacketClass::Data,
            ecn: Ecn::NotEct,
        };
        let mut packets = Packets::default();
        let a = packets.add(packet);
        assert!(packets.get(a).is_some());
        assert!(packets.remove(a).is_some());
        let b = packets.add(Packet { payload: Payload::Udp { flow: FlowIx(2), number: 0 }, ..packet });
        assert_eq!(a as u32, b as u32, "the slot is used again");
        assert!(packets.get(a).is_none() && packets.remove(a).is_none());
        assert_eq!(packets.get(b).and_then(Packet::flow), Some(FlowIx(2)));
    }
}
