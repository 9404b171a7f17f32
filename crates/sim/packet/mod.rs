//! Packets (what they are) and their copies (where they are), in slabs whose references tell whether the thing is still there.
//!
//! | file | contents |
//! |---|---|
//! | `cargo` | segments that packets of TCP carry |

mod cargo;

use airfair_host::{HeaderId, HeaderRef, MessageIx};
use airfair_schemes::places::{Ecn, FlowId, Header, PacketClass};

use airfair_transport::{Flags, Segment};
use airfair_units::Time;

use cargo::Cargo;
pub(crate) use cargo::Carried;

use crate::ids::{ConnectionRef, CopyRef, FlowIx, NodeIx, PacketRef, RoutingIx};
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
    /// A message of an agent.
    Message(MessageIx),
    /// A message of a routing protocol.
    Routing(RoutingIx),
    /// A packet from outside, with the number that the caller has given to it.
    Foreign { tag: u32 },
}

/// A packet: what it is, wherever it is. Not its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    /// When the source made it.
    pub created: Time,
    /// What the packet carries, and for whom.
    pub payload: Payload,
    /// The flow as schemes know it: each of a flow's connections is a flow of its own. [`NO_FLOW`] for packets of no flow.
    pub scheme_flow: FlowId,
    pub source: NodeIx,
    pub destination: NodeIx,
    /// Length of the transport's payload, bytes.
    pub length: u32,
    /// Size as an IP packet.
    pub bytes: u32,
    pub class: PacketClass,
}

/// A copy of a packet: where it is and what has happened to it there. A station that sends a packet by radio keeps its copy until the
/// packet is acknowledged, while the next hop goes on with a copy of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copy {
    /// Of which packet.
    pub of: PacketRef,
    /// Hops that it has gone.
    pub hops: u16,
    /// It has not left its source's queue yet. Of TCP only what its sender sends.
    pub at_source: bool,
    /// Which header of an explicit-rate scheme it has.
    pub header: HeaderId,
    pub ecn: Ecn,
}

impl Packet {
    /// A packet that no flow has made: ARP's, an agent's message, routing's. It is as long as its payload; senders add headers.
    pub(crate) fn control(
        source: NodeIx,
        destination: NodeIx,
        payload: Payload,
        length: u32,
        now: Time,
    ) -> Self {
        Self {
            created: now,
            payload,
            scheme_flow: FlowId(NO_FLOW),
            source,
            destination,
            length,
            bytes: length,
            class: PacketClass::Control,
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

    /// Whether it is a message of a scheme's agent.
    pub(crate) fn is_message(&self) -> bool {
        matches!(self.payload, Payload::Message(_))
    }

    /// Whether it is a message of a routing protocol.
    pub(crate) fn is_routing(&self) -> bool {
        matches!(self.payload, Payload::Routing(_))
    }
}

impl Copy {
    /// The first copy of a packet that no flow has made: without header, ECN or wait at a source.
    pub(crate) const PLAIN: Self =
        Self { of: PacketRef(u64::MAX), hops: 0, at_source: false, header: HeaderId::NONE, ecn: Ecn::NotEct };
}

/// A place for packets.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct PacketSlot {
    packet: Packet,
    /// The copy that has come farthest.
    latest: u32,
    generation: u32,
    alive: bool,
}

/// A place for copies.
#[derive(Debug, Clone, Copy)]
struct CopySlot {
    copy: Copy,
    generation: u32,
    alive: bool,
}

/// All packets that live, and their copies.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    packets: Vec<PacketSlot>,
    free_packets: Vec<u32>,
    copies: Vec<CopySlot>,
    free_copies: Vec<u32>,
    /// What packets of TCP carry, by the place of the packet.
    cargo: Cargo,
    /// The schemes' headers of copies that have one, by the place of the copy.
    headers: Vec<Header>,
}

impl Packets {
    /// A packet enters the world, with its first copy.
    #[inline]
    pub(crate) fn add(&mut self, packet: Packet, first: Copy) -> CopyRef {
        let at = match self.free_packets.pop() {
            Some(at) => {
                let slot = &mut self.packets[at as usize];
                *slot = PacketSlot { packet, latest: 0, generation: slot.generation, alive: true };
                at
            }
            None => {
                self.packets.push(PacketSlot { packet, latest: 0, generation: 0, alive: true });
                (self.packets.len() - 1) as u32
            }
        };
        let of = PacketRef::new(at, self.packets[at as usize].generation);
        let copy = self.place(Copy { of, ..first });
        self.packets[at as usize].latest = copy.place() as u32;
        copy
    }

    /// The same for a packet that carries a segment.
    #[inline]
    pub(crate) fn add_carrying(
        &mut self,
        (packet, first): (Packet, Copy),
        segment: &Segment,
        connection: ConnectionRef,
        forward: bool,
    ) -> CopyRef {
        let copy = self.add(packet, first);
        self.cargo.load(self.packet_of(copy).place(), segment, connection, forward);
        copy
    }

    #[inline]
    fn place(&mut self, copy: Copy) -> CopyRef {
        if let Some(at) = self.free_copies.pop()
            && let Some(slot) = self.copies.get_mut(at as usize)
        {
            *slot = CopySlot { copy, generation: slot.generation, alive: true };
            return CopyRef::new(at, slot.generation);
        }
        self.place_anew(copy)
    }

    #[cold]
    #[inline(never)]
    fn place_anew(&mut self, copy: Copy) -> CopyRef {
        self.copies.push(CopySlot { copy, generation: 0, alive: true });
        CopyRef::new((self.copies.len() - 1) as u32, 0)
    }

    /// The next hop has received a copy: it goes on with one of its own, which has gone so many hops. None if the copy or its packet has
    /// ended.
    #[inline(always)]
    pub(crate) fn pass_on(&mut self, copy: CopyRef) -> Option<(CopyRef, u16)> {
        let earlier = *self.copy(copy)?;
        self.packet(earlier.of)?;
        let hops = earlier.hops + 1;
        let next = self.place(Copy { hops, ..earlier });
        self.packets[earlier.of.place()].latest = next.place() as u32;
        if earlier.header != HeaderId::NONE {
            self.pass_header_on(copy, next);
        }
        Some((next, hops))
    }

    #[inline(never)]
    fn pass_header_on(&mut self, from: CopyRef, to: CopyRef) {
        let header = self.headers.get(from.place()).copied().unwrap_or_default();
        *self.new_header(to) = header;
    }

    /// The holder of a copy has done with it. If the next hop has a copy of its own, or the packet has ended, this one goes. Otherwise the
    /// packet is returned, and the copy stays.
    #[inline(always)]
    pub(crate) fn hand_over(&mut self, copy: CopyRef) -> Option<&Packet> {
        let slot = self.copies.get_mut(copy.place())?;
        if !slot.alive || slot.generation != copy.generation() {
            return None;
        }
        let of = slot.copy.of;
        let packet = self.packets.get(of.place())?;
        let lives = packet.alive && packet.generation == of.generation();
        if lives && packet.latest as usize == copy.place() {
            return Some(&packet.packet);
        }
        slot.alive = false;
        slot.generation = slot.generation.wrapping_add(1);
        self.free_copies.push(copy.place() as u32);
        None
    }

    /// Whether the next hop has a copy of its own already, or the packet has ended.
    #[inline]
    pub(crate) fn has_moved_on(&self, copy: CopyRef) -> bool {
        let of = self.packet_of(copy);
        self.packet(of).is_none() || self.packets[of.place()].latest as usize != copy.place()
    }

    /// A copy, if its holder still has it.
    #[inline]
    pub(crate) fn copy(&self, copy: CopyRef) -> Option<&Copy> {
        let slot = self.copies.get(copy.place())?;
        (slot.alive && slot.generation == copy.generation()).then_some(&slot.copy)
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn copy_mut(&mut self, copy: CopyRef) -> Option<&mut Copy> {
        let slot = self.copies.get_mut(copy.place())?;
        (slot.alive && slot.generation == copy.generation()).then_some(&mut slot.copy)
    }

    /// A packet, if it lives.
    #[inline]
    pub(crate) fn packet(&self, packet: PacketRef) -> Option<&Packet> {
        let slot = self.packets.get(packet.place())?;
        (slot.alive && slot.generation == packet.generation()).then_some(&slot.packet)
    }

    /// The packet of a copy, if both live.
    #[inline]
    pub(crate) fn get(&self, copy: CopyRef) -> Option<&Packet> {
        self.packet(self.copy(copy)?.of)
    }

    /// A copy and its packet, if both live.
    #[inline]
    pub(crate) fn both(&self, copy: CopyRef) -> Option<(&Packet, &Copy)> {
        let copy = self.copy(copy)?;
        Some((self.packet(copy.of)?, copy))
    }

    /// The same, the copy to be changed.
    #[inline]
    pub(crate) fn both_mut(&mut self, copy: CopyRef) -> Option<(&Packet, &mut Copy)> {
        let slot = self.copies.get_mut(copy.place())?;
        let at = (slot.alive && slot.generation == copy.generation()).then_some(&mut slot.copy)?;
        let slot = self.packets.get(at.of.place())?;
        (slot.alive && slot.generation == at.of.generation()).then_some((&slot.packet, at))
    }

    /// The packet of which a copy is or has just been one.
    #[inline]
    pub(crate) fn packet_of(&self, copy: CopyRef) -> PacketRef {
        self.copies.get(copy.place()).map_or(PacketRef::NONE, |slot| slot.copy.of)
    }

    /// The copy of a packet that has come farthest, if the packet lives.
    #[inline]
    pub(crate) fn latest(&self, packet: PacketRef) -> Option<CopyRef> {
        self.packet(packet)?;
        Some(self.at(self.packets[packet.place()].latest))
    }

    /// The copy that lives at a place.
    #[inline]
    pub(crate) fn at(&self, place: u32) -> CopyRef {
        CopyRef::new(place, self.copies[place as usize].generation)
    }

    /// A copy goes, and its packet with it. Returns both, if both have lived.
    #[inline]
    pub(crate) fn end(&mut self, copy: CopyRef) -> Option<(Packet, Copy)> {
        let at = self.copies.get_mut(copy.place())?;
        let slot = self.packets.get_mut(at.copy.of.place())?;
        let live = at.alive && at.generation == copy.generation();
        if !(live && slot.alive && slot.generation == at.copy.of.generation()) {
            return None;
        }
        (at.alive, slot.alive) = (false, false);
        at.generation = at.generation.wrapping_add(1);
        slot.generation = slot.generation.wrapping_add(1);
        self.free_copies.push(copy.place() as u32);
        self.free_packets.push(at.copy.of.place() as u32);
        Some((slot.packet, at.copy))
    }

    /// A copy goes, whose packet is farther on its way or has ended.
    #[inline]
    pub(crate) fn release(&mut self, copy: CopyRef) {
        if self.copy(copy).is_some() {
            let slot = &mut self.copies[copy.place()];
            slot.alive = false;
            slot.generation = slot.generation.wrapping_add(1);
            self.free_copies.push(copy.place() as u32);
        }
    }

    /// The header of a scheme that a copy has or has just had; [`Copy::header`] tells whether it counts.
    #[inline]
    pub(crate) fn header_mut(&mut self, copy: CopyRef) -> Option<&mut Header> {
        self.headers.get_mut(copy.place())
    }

    /// The header that a copy carries, if it carries one, with its kind.
    #[inline]
    pub(crate) fn carried_header(&mut self, copy: CopyRef) -> HeaderRef<'_> {
        match self.copy(copy).map_or(HeaderId::NONE, |copy| copy.header) {
            HeaderId::NONE => (HeaderId::NONE, None),
            id => (id, self.header_mut(copy)),
        }
    }

    /// The same, to look at.
    pub(crate) fn header(&self, copy: CopyRef) -> Option<&Header> {
        self.headers.get(copy.place())
    }

    /// A copy has a header of a scheme from now on, which is to be filled.
    #[inline]
    pub(crate) fn new_header(&mut self, copy: CopyRef) -> &mut Header {
        let at = copy.place();
        if at >= self.headers.len() {
            self.headers.resize(at + 1, Header::default());
        }
        &mut self.headers[at]
    }

    /// The connection whose segment a packet of TCP carries or has just carried.
    #[inline]
    pub(crate) fn connection(&self, packet: PacketRef) -> ConnectionRef {
        self.cargo.connection(packet.place()).unwrap_or(ConnectionRef::NONE)
    }

    /// What a packet of TCP carries or has just carried, with the ECN bits of a copy.
    #[inline]
    pub(crate) fn carried(&self, copy: &Copy) -> Option<Carried> {
        self.cargo.get(copy.of.place(), copy.ecn)
    }

    /// Sets ECN-Echo in the acknowledgement that a packet carries; whether it carries one without it.
    pub(crate) fn echo(&mut self, packet: PacketRef) -> bool {
        let carries = self.packet(packet).is_some_and(|p| p.is_tcp() && p.class == PacketClass::Ack);
        carries && self.cargo.echo(packet.place())
    }

    /// What a packet is, in the words of a trace.
    pub(crate) fn content(&self, packet: &Packet, copy: &Copy) -> Content {
        match (packet.is_tcp(), packet.class) {
            (false, _) => Content::Packet,
            (true, PacketClass::Data) => Content::Data,
            (true, _) => match self.carried(copy).map(|carried| carried.segment.flags) {
                Some(Flags { syn: true, ack: false, .. }) => Content::Syn,
                Some(Flags { syn: true, .. }) => Content::SynAck,
                Some(Flags { fin: true, .. }) => Content::Fin,
                _ => Content::Ack,
            },
        }
    }

    /// The number of a packet in the words of a trace: of a datagram its number within the flow, of a segment the byte that it begins
    /// with or, without data, acknowledges, of ARP the operation, of a message its place.
    pub(crate) fn sequence(&self, packet: &Packet, copy: &Copy) -> u32 {
        match packet.payload {
            Payload::Udp { number, .. } => number,
            Payload::Tcp { .. } => self.cargo.sequence(copy.of.place()),
            Payload::Foreign { tag } => tag,
            Payload::Arp { request } => 2 - u32::from(request),
            Payload::Message(MessageIx(place)) | Payload::Routing(RoutingIx(place)) => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(flow: u32) -> Packet {
        Packet {
            created: Time::ZERO,
            payload: Payload::Udp { flow: FlowIx(flow), number: 0 },
            scheme_flow: FlowId(flow),
            source: NodeIx(0),
            destination: NodeIx(1),
            length: 10,
            bytes: 38,
            class: PacketClass::Data,
        }
    }

    fn first() -> Copy {
        Copy { at_source: true, ..Copy::PLAIN }
    }

    #[test]
    fn a_packet_takes_a_line_and_a_copy_less_than_half_of_one() {
        assert_eq!(size_of::<PacketSlot>(), 64);
        assert_eq!(size_of::<CopySlot>(), 24);
    }

    #[test]
    fn a_reference_outlives_its_packet_but_finds_nothing() {
        let mut packets = Packets::default();
        let a = packets.add(packet(1), first());
        assert!(packets.get(a).is_some());
        assert!(packets.end(a).is_some());
        let b = packets.add(packet(2), first());
        assert_eq!(a.place(), b.place(), "the place is used again");
        assert!(packets.get(a).is_none() && packets.end(a).is_none());
        assert_eq!(packets.get(b).and_then(Packet::flow), Some(FlowIx(2)));
    }

    /// The sender of a packet keeps its copy until it learns that the next hop has one: whatever becomes of that, the sender's stays what
    /// it was.
    #[test]
    fn each_hop_has_a_copy_of_its_own() {
        let mut packets = Packets::default();
        let sender = packets.add(packet(1), first());
        assert!(!packets.has_moved_on(sender));
        let (next, hops) = packets.pass_on(sender).unwrap();
        assert_eq!(hops, 1);
        assert!(packets.has_moved_on(sender) && !packets.has_moved_on(next));
        packets.copy_mut(next).unwrap().ecn = Ecn::Ce;
        assert_eq!(packets.copy(sender).map(|copy| (copy.hops, copy.ecn)), Some((0, Ecn::NotEct)));
        assert_eq!(packets.copy(next).map(|copy| (copy.hops, copy.ecn)), Some((1, Ecn::Ce)));
        assert!(packets.end(next).is_some(), "delivered");
        assert!(packets.get(sender).is_none() && packets.copy(sender).is_some(), "the sender does not know");
        assert!(packets.has_moved_on(sender) && packets.pass_on(sender).is_none());
        assert!(packets.hand_over(sender).is_none());
        assert!(packets.copy(sender).is_none(), "gone");
    }
}
