//! Packets while they live: a slab whose handles tell whether their packet is still there.

use airfair_schemes::places::{Ecn, Header, PacketClass};

use airfair_transport::{Flags, Segment};

use super::carried::{Cargo, Carried};
use super::hops::HeaderId;
use crate::ids::ConnectionRef;
use crate::measure::trace::Content;

/// No flow.
pub(crate) const NO_FLOW: u32 = u32::MAX;

/// A packet in the network: what it is, not its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    /// When the source made it, ns.
    pub created: u64,
    /// When it entered the queue that it is in, ns; timetables of wires note that themselves.
    pub enqueued: u64,
    /// Its flow, or [`NO_FLOW`].
    pub flow: u32,
    /// The same as schemes see it ([`super::ids`]): each of a flow's connections is a flow of its own.
    pub queue_flow: u32,
    /// Which of the connections for files it belongs to, by the order of their opening, or [`NO_FLOW`].
    pub connection: u32,
    /// Its number within the flow; the kind of an ARP packet.
    pub sequence: u32,
    pub source: u32,
    pub destination: u32,
    /// Payload of the transport.
    pub payload: u32,
    /// Size as an IP packet.
    pub bytes: u32,
    pub hops: u16,
    /// It has not left its source's queue yet; timetables of wires know that themselves. Of TCP only what its sender sends.
    pub at_source: bool,
    /// It carries a segment of TCP.
    pub tcp: bool,
    /// Which header of an explicit-rate scheme it has.
    pub header: HeaderId,
    pub class: PacketClass,
    pub ecn: Ecn,
}

impl Packet {
    /// A packet that no flow has made: ARP's, an agent's message, routing's. It is as long as its payload; senders add headers.
    pub(crate) fn control(source: u32, destination: u32, sequence: u32, payload: u32, now: u64) -> Self {
        Self {
            created: now,
            enqueued: now,
            flow: NO_FLOW,
            queue_flow: NO_FLOW,
            connection: NO_FLOW,
            sequence,
            source,
            destination,
            payload,
            bytes: payload,
            hops: 0,
            at_source: false,
            tcp: false,
            header: HeaderId::NONE,
            class: PacketClass::Control,
            ecn: Ecn::NotEct,
        }
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
        let carries = self.get(handle).is_some_and(|p| p.tcp && p.class == PacketClass::Ack);
        carries && self.cargo.echo(handle as u32 as usize)
    }

    /// What a packet is, in the words of a trace.
    pub(crate) fn content(&self, handle: u64, packet: &Packet) -> Content {
        match (packet.tcp, packet.class) {
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
            flow: 1,
            queue_flow: 1,
            connection: NO_FLOW,
            sequence: 0,
            source: 0,
            destination: 1,
            payload: 10,
            bytes: 38,
            hops: 0,
            at_source: true,
            tcp: false,
            header: HeaderId::NONE,
            class: PacketClass::Data,
            ecn: Ecn::NotEct,
        };
        let mut packets = Packets::default();
        let a = packets.add(packet);
        assert!(packets.get(a).is_some());
        assert!(packets.remove(a).is_some());
        let b = packets.add(Packet { flow: 2, ..packet });
        assert_eq!(a as u32, b as u32, "the slot is used again");
        assert!(packets.get(a).is_none() && packets.remove(a).is_none());
        assert_eq!(packets.get(b).map(|p| p.flow), Some(2));
    }
}
