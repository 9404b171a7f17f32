//! Packets and their copies, in slabs whose references detect that an object has ended.
//!
//! | file | contents |
//! |---|---|
//! | `segments` | segments that TCP packets carry |

mod segments;

use airfair_host::{HeaderId, HeaderRef};
use airfair_schemes::places::{Ecn, FlowId, Header, PacketClass, ReportBytes};

use airfair_transport::{Flags, Segment};
use airfair_units::Time;

pub(crate) use segments::CarriedSegment;
use segments::Segments;

use crate::ids::{ConnectionRef, CopyRef, FlowIx, ForeignIx, MessageIx, NodeIx, PacketRef, RoutingIx};
use crate::record::Content;

/// Number of no flow.
pub(crate) const NO_FLOW: u32 = u32::MAX;

/// Content of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    /// A datagram of a flow.
    Udp {
        flow: FlowIx,
        /// Number of the datagram within its flow, from 0.
        number: u32,
    },
    /// A report of the receiver of a flow over UDP, with its number within the flow, from 0.
    Report { flow: FlowIx, number: u32 },
    /// A TCP segment, stored in [`Packets::carried`].
    Tcp {
        flow: FlowIx,
        /// Number of the segment's connection among those opened for files, in the order of opening, or [`NO_FLOW`].
        opening: u32,
    },
    /// An ARP request or reply.
    Arp { request: bool },
    /// A message of an agent.
    Message(MessageIx),
    /// A message of a routing protocol.
    Routing(RoutingIx),
    /// A broadcast that a forwarder has made, with its header.
    Forwarded(MessageIx),
    /// A part that goes by ordinary routing, of a datagram that forwarders carry; a control packet: the datagram itself stays with them
    /// until one hands it up.
    Routed {
        flow: FlowIx,
        /// Number of the datagram among those that its forwarder has taken.
        number: u32,
    },
    /// A packet from outside.
    Foreign {
        at: ForeignIx,
        /// Lower 32 bits of the number that the caller has given.
        tag: u32,
    },
}

/// A packet: its properties that do not change on its way, without its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    /// Time at which the source made it.
    pub created: Time,
    /// Content of the packet.
    pub payload: Payload,
    /// Scheme number of its flow: each connection is a flow of its own. [`FlowId::NONE`] for packets of no flow.
    pub scheme_flow: FlowId,
    /// The node that made it.
    pub source: NodeIx,
    /// The node that it is for, or [`NodeIx::EVERYONE`].
    pub destination: NodeIx,
    /// The node that schemes take for its destination: the same, but for a packet from outside whose next hop was chosen there.
    pub bound_for: NodeIx,
    /// Length of the transport's payload, bytes.
    pub length: u32,
    /// Size as an IP packet, bytes.
    pub bytes: u32,
    pub class: PacketClass,
    pub dscp: u8,
}

/// Network control (RFC 4594).
const CS6: u8 = 48;

/// A copy of a packet: its state on the way. A station that sends a packet by radio keeps its copy until the packet is acknowledged, while
/// the next hop continues with a copy of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PacketCopy {
    /// The packet that it is a copy of.
    pub of: PacketRef,
    /// Hops so far.
    pub hops: u16,
    /// True while the packet is in its source's queue; of TCP only data from the sender.
    pub at_source: bool,
    /// It precedes the packets in the queue of each interface on its way.
    pub ahead: bool,
    /// Header of an explicit-rate scheme that it carries.
    pub header: HeaderId,
    pub ecn: Ecn,
    /// An acknowledgement from outside that is to carry ECN-Echo.
    pub echo: bool,
}

impl Packet {
    /// A control packet, which belongs to no flow: of ARP, an agent or routing. The packet is as long as its payload; senders add headers.
    /// Messages of routing and of agents have the DSCP of network control, ARP and other packets the default.
    pub(crate) fn control(
        source: NodeIx,
        destination: NodeIx,
        payload: Payload,
        length: u32,
        now: Time,
    ) -> Self {
        let dscp = if matches!(payload, Payload::Message(_) | Payload::Routing(_)) { CS6 } else { 0 };
        Self {
            created: now,
            payload,
            scheme_flow: FlowId::NONE,
            source,
            destination,
            bound_for: destination,
            length,
            bytes: length,
            class: PacketClass::Control,
            dscp,
        }
    }

    /// The flow that has made it.
    #[inline(always)]
    pub(crate) fn flow(&self) -> Option<FlowIx> {
        match self.payload {
            Payload::Udp { flow, .. }
            | Payload::Report { flow, .. }
            | Payload::Tcp { flow, .. }
            | Payload::Routed { flow, .. } => Some(flow),
            _ => None,
        }
    }

    /// True for a TCP segment.
    #[inline(always)]
    pub(crate) fn is_tcp(&self) -> bool {
        matches!(self.payload, Payload::Tcp { .. })
    }

    /// True for a message of a scheme's agent.
    pub(crate) fn is_message(&self) -> bool {
        matches!(self.payload, Payload::Message(_))
    }

    /// True for a message of a routing protocol.
    pub(crate) fn is_routing(&self) -> bool {
        matches!(self.payload, Payload::Routing(_))
    }
}

impl PacketCopy {
    /// First copy of a control packet: without header, ECN, or wait at a source.
    pub(crate) const PLAIN: Self = Self {
        of: PacketRef(u64::MAX),
        hops: 0,
        at_source: false,
        ahead: false,
        header: HeaderId::NONE,
        ecn: Ecn::NotEct,
        echo: false,
    };
}

/// A place in the slab of packets: its last packet, and the generation of references to that packet. Generations of references are odd;
/// that of a place whose packet has ended is even, so that no reference matches.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct PacketPlace {
    packet: Packet,
    /// The copy that has travelled farthest.
    latest: u32,
    generation: u32,
}

/// A place in the slab of copies: its last copy, and the generation of references to that copy, as for packets.
#[derive(Debug, Clone, Copy)]
struct CopyPlace {
    copy: PacketCopy,
    generation: u32,
}

/// All packets and copies that have not ended.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    packets: Vec<PacketPlace>,
    free_packets: Vec<u32>,
    copies: Vec<CopyPlace>,
    free_copies: Vec<u32>,
    /// Segments of TCP packets, by the place of the packet.
    cargo: Segments,
    /// Reports of receivers, by the place of the packet.
    reports: Vec<ReportBytes>,
    /// Scheme headers of copies, by the place of the copy.
    headers: Vec<Header>,
    /// Destinations of copies whose headers are overheard, by the place of the copy: a packet may end at its destination before the copy of
    /// its last sender has reached all hearers.
    destinations: Vec<NodeIx>,
}

impl Packets {
    /// The largest number of copies that there have been at once.
    pub(crate) fn most_copies(&self) -> usize {
        self.copies.len()
    }

    /// Adds a packet with its first copy.
    #[inline(always)]
    pub(crate) fn add(&mut self, packet: Packet, first: PacketCopy) -> CopyRef {
        let at = match self.free_packets.pop() {
            Some(at) => at,
            None => self.grow_packets(),
        };
        let copy = self.free_copy();
        let place = &mut self.packets[at as usize];
        let generation = place.generation.wrapping_add(1);
        *place = PacketPlace { packet, latest: copy, generation };
        self.set_copy(copy, PacketCopy { of: PacketRef::new(at, generation), ..first })
    }

    /// Adds a packet that carries a segment.
    #[inline(always)]
    pub(crate) fn add_carrying(
        &mut self,
        (packet, first): (Packet, PacketCopy),
        segment: &Segment,
        connection: ConnectionRef,
        forward: bool,
    ) -> CopyRef {
        let copy = self.add(packet, first);
        self.cargo.store(self.packet_of(copy).place(), segment, connection, forward);
        copy
    }

    /// Adds a packet that carries a report.
    pub(crate) fn add_report(
        &mut self,
        (packet, first): (Packet, PacketCopy),
        report: ReportBytes,
    ) -> CopyRef {
        let copy = self.add(packet, first);
        let at = self.packet_of(copy).place();
        if at >= self.reports.len() {
            self.reports.resize(at + 1, ReportBytes::EMPTY);
        }
        self.reports[at] = report;
        copy
    }

    /// The report that a packet carries, or carried last.
    pub(crate) fn report(&self, packet: PacketRef) -> &[u8] {
        self.reports.get(packet.place()).map_or(&[], ReportBytes::as_slice)
    }

    /// A place for a copy.
    #[inline(always)]
    fn free_copy(&mut self) -> u32 {
        match self.free_copies.pop() {
            Some(at) => at,
            None => self.grow_copies(),
        }
    }

    /// Fills a free place.
    #[inline(always)]
    fn set_copy(&mut self, at: u32, copy: PacketCopy) -> CopyRef {
        let place = &mut self.copies[at as usize];
        let generation = place.generation.wrapping_add(1);
        *place = CopyPlace { copy, generation };
        CopyRef::new(at, generation)
    }

    #[cold]
    #[inline(never)]
    fn grow_packets(&mut self) -> u32 {
        let packet = Packet::control(
            NodeIx(0),
            NodeIx(0),
            Payload::Foreign { at: ForeignIx(0), tag: 0 },
            0,
            Time::ZERO,
        );
        self.packets.push(PacketPlace { packet, latest: 0, generation: 0 });
        (self.packets.len() - 1) as u32
    }

    #[cold]
    #[inline(never)]
    fn grow_copies(&mut self) -> u32 {
        self.copies.push(CopyPlace { copy: PacketCopy::PLAIN, generation: 0 });
        (self.copies.len() - 1) as u32
    }

    /// Makes the next hop's copy of a received copy; returns it with its number of hops. None if the copy or its packet has ended.
    #[inline(always)]
    pub(crate) fn copy_to_next_hop(&mut self, copy: CopyRef) -> Option<(CopyRef, u16)> {
        let earlier = *self.copy(copy)?;
        self.packet(earlier.of)?;
        let hops = earlier.hops + 1;
        let next = self.free_copy();
        let next = self.set_copy(next, PacketCopy { hops, ..earlier });
        self.packets[earlier.of.place()].latest = next.place() as u32;
        if earlier.header != HeaderId::NONE {
            self.copy_header(copy, next);
        }
        Some((next, hops))
    }

    #[inline(never)]
    fn copy_header(&mut self, from: CopyRef, to: CopyRef) {
        let header = self.headers.get(from.place()).copied().unwrap_or_default();
        *self.new_header(to) = header;
    }

    /// Ends the use of a copy by its holder. If the next hop has a copy of its own, or the packet has ended, the copy is released.
    /// Otherwise the packet is returned, and the copy stays.
    #[inline(always)]
    pub(crate) fn finish_copy(&mut self, copy: CopyRef) -> Option<&Packet> {
        let place = self.copies.get_mut(copy.place())?;
        if place.generation != copy.generation() {
            return None;
        }
        let of = place.copy.of;
        let packet = self.packets.get(of.place())?;
        if packet.generation == of.generation() && packet.latest as usize == copy.place() {
            return Some(&packet.packet);
        }
        place.generation = place.generation.wrapping_add(1);
        self.free_copies.push(copy.place() as u32);
        None
    }

    /// True if the next hop has a copy of its own, or the packet has ended.
    #[inline]
    pub(crate) fn has_reached_next_hop(&self, copy: CopyRef) -> bool {
        let of = self.packet_of(copy);
        self.packet(of).is_none() || self.packets[of.place()].latest as usize != copy.place()
    }

    /// A packet leaves its source by a forwarder, which takes a copy.
    pub(crate) fn leave_source(&mut self, copy: CopyRef) {
        self.copy_mut(copy).into_iter().for_each(|copy| copy.at_source = false);
    }

    /// A copy, if its holder still has it.
    #[inline]
    pub(crate) fn copy(&self, copy: CopyRef) -> Option<&PacketCopy> {
        let place = self.copies.get(copy.place())?;
        (place.generation == copy.generation()).then_some(&place.copy)
    }

    /// A copy to be changed, if its holder still has it.
    #[inline]
    pub(crate) fn copy_mut(&mut self, copy: CopyRef) -> Option<&mut PacketCopy> {
        let place = self.copies.get_mut(copy.place())?;
        (place.generation == copy.generation()).then_some(&mut place.copy)
    }

    /// A packet that has not ended.
    #[inline]
    pub(crate) fn packet(&self, packet: PacketRef) -> Option<&Packet> {
        let place = self.packets.get(packet.place())?;
        (place.generation == packet.generation()).then_some(&place.packet)
    }

    /// The packet of a copy, if neither has ended.
    #[inline]
    pub(crate) fn get(&self, copy: CopyRef) -> Option<&Packet> {
        self.packet(self.copy(copy)?.of)
    }

    /// A copy and its packet, if neither has ended.
    #[inline]
    pub(crate) fn packet_and_copy(&self, copy: CopyRef) -> Option<(&Packet, &PacketCopy)> {
        let copy = self.copy(copy)?;
        Some((self.packet(copy.of)?, copy))
    }

    /// A copy to be changed and its packet, if neither has ended.
    #[inline]
    pub(crate) fn packet_and_copy_mut(&mut self, copy: CopyRef) -> Option<(&Packet, &mut PacketCopy)> {
        let place = self.copies.get_mut(copy.place())?;
        let at = (place.generation == copy.generation()).then_some(&mut place.copy)?;
        let place = self.packets.get(at.of.place())?;
        (place.generation == at.of.generation()).then_some((&place.packet, at))
    }

    /// The packet of a copy, also just after its end.
    #[inline]
    pub(crate) fn packet_of(&self, copy: CopyRef) -> PacketRef {
        self.copies.get(copy.place()).map_or(PacketRef::NONE, |place| place.copy.of)
    }

    /// The copy that has travelled farthest of a packet that has not ended.
    #[inline]
    pub(crate) fn latest(&self, packet: PacketRef) -> Option<CopyRef> {
        self.packet(packet)?;
        Some(self.at(self.packets[packet.place()].latest))
    }

    /// Reference of the copy at a place; if that has ended, a reference that finds nothing.
    #[inline]
    pub(crate) fn at(&self, place: u32) -> CopyRef {
        CopyRef::new(place, self.copies[place as usize].generation | 1)
    }

    /// Ends a copy and its packet. Returns both where they lie until their places are used again, if neither had ended.
    #[inline(always)]
    pub(crate) fn end(&mut self, copy: CopyRef) -> Option<(&Packet, &PacketCopy)> {
        let at = self.copies.get_mut(copy.place())?;
        if at.generation != copy.generation() {
            return None;
        }
        let place = self.packets.get_mut(at.copy.of.place())?;
        if place.generation != at.copy.of.generation() {
            return None;
        }
        at.generation = at.generation.wrapping_add(1);
        place.generation = place.generation.wrapping_add(1);
        self.free_copies.push(copy.place() as u32);
        self.free_packets.push(at.copy.of.place() as u32);
        Some((&place.packet, &at.copy))
    }

    /// Releases a copy whose packet has travelled farther or has ended.
    #[inline]
    pub(crate) fn release(&mut self, copy: CopyRef) {
        if self.copy(copy).is_some() {
            let place = &mut self.copies[copy.place()];
            place.generation = place.generation.wrapping_add(1);
            self.free_copies.push(copy.place() as u32);
        }
    }

    /// Scheme header of a copy, also just after its end; [`PacketCopy::header`] shows whether it is valid.
    #[inline]
    pub(crate) fn header_mut(&mut self, copy: CopyRef) -> Option<&mut Header> {
        self.headers.get_mut(copy.place())
    }

    /// Scheme header that a copy carries, with its kind, if it carries one.
    #[inline]
    pub(crate) fn carried_header(&mut self, copy: CopyRef) -> HeaderRef<'_> {
        match self.copy(copy).map_or(HeaderId::NONE, |copy| copy.header) {
            HeaderId::NONE => (HeaderId::NONE, None),
            id => (id, self.header_mut(copy)),
        }
    }

    /// Scheme header that a copy carries, to read.
    pub(crate) fn header(&self, copy: CopyRef) -> Option<&Header> {
        self.headers.get(copy.place())
    }

    /// Stores the destination of a copy whose header is overheard.
    pub(crate) fn note_destination(&mut self, copy: CopyRef, destination: NodeIx) {
        let at = copy.place();
        if at >= self.destinations.len() {
            self.destinations.resize(at + 1, NodeIx::EVERYONE);
        }
        self.destinations[at] = destination;
    }

    /// Kind and header of a sender's copy on the air, with the destination of its packet, which may have ended; none without a header, and
    /// for a header that the sender's queue has not written (a real hearer compares IP's time to live with [`Header::supported`]).
    #[inline]
    pub(crate) fn heard(&self, copy: CopyRef) -> Option<(HeaderId, &Header, NodeIx)> {
        let id = self.copy(copy)?.header;
        let destination = *self.destinations.get(copy.place())?;
        let written = !id.is_none() && destination != NodeIx::EVERYONE;
        Some((id, self.header(copy)?, destination)).filter(|_| written)
    }

    /// Gives a copy a scheme header, to be filled.
    #[inline]
    pub(crate) fn new_header(&mut self, copy: CopyRef) -> &mut Header {
        let at = copy.place();
        if at >= self.headers.len() {
            self.headers.resize(at + 1, Header::default());
        }
        if let Some(destination) = self.destinations.get_mut(at) {
            *destination = NodeIx::EVERYONE;
        }
        &mut self.headers[at]
    }

    /// Connection of the segment that a TCP packet carries, or carried last.
    #[inline]
    pub(crate) fn connection(&self, packet: PacketRef) -> ConnectionRef {
        self.cargo.connection(packet.place()).unwrap_or(ConnectionRef::NONE)
    }

    /// Segment that a TCP packet carries, or carried last, with the ECN bits of a copy.
    #[inline]
    pub(crate) fn carried(&self, copy: &PacketCopy) -> Option<CarriedSegment> {
        self.cargo.get(copy.of.place()).map(|&carried| {
            let segment = Segment { ecn: copy.ecn, ..carried.segment };
            CarriedSegment { segment, ..carried }
        })
    }

    /// The segment that a copy, whose state at its end is `ended`, has brought to its destination, and the scheme header of the copy, if it
    /// has one. Both are read where they lie: a segment is copied once on its way, when its packet is made.
    #[inline(always)]
    pub(crate) fn arrive(
        &mut self,
        copy: CopyRef,
        ended: &PacketCopy,
    ) -> Option<(&CarriedSegment, Option<&mut Header>)> {
        let Self { cargo, headers, .. } = self;
        let carried = cargo.get_mut(ended.of.place())?;
        carried.segment.ecn = ended.ecn;
        Some((carried, if ended.header.is_none() { None } else { headers.get_mut(copy.place()) }))
    }

    /// Sets ECN-Echo in the acknowledgement that a packet carries; false if it carries none, or one with the flag.
    pub(crate) fn echo(&mut self, packet: PacketRef) -> bool {
        let carries = self.packet(packet).is_some_and(|p| p.is_tcp() && p.class == PacketClass::Ack);
        carries && self.cargo.echo(packet.place())
    }

    /// Content of a packet for a trace.
    pub(crate) fn content(&self, packet: &Packet, copy: &PacketCopy) -> Content {
        match (packet.is_tcp(), packet.class) {
            (false, PacketClass::Ack) if matches!(packet.payload, Payload::Foreign { .. }) => Content::Ack,
            (false, PacketClass::Ack) => Content::Report,
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

    /// Number of a packet for a trace: of a datagram its number within the flow; of a segment its first byte or, without data, the
    /// acknowledged byte; of ARP the operation; of a message its place.
    pub(crate) fn sequence(&self, packet: &Packet, copy: &PacketCopy) -> u32 {
        match packet.payload {
            Payload::Udp { number, .. } | Payload::Report { number, .. } | Payload::Routed { number, .. } => {
                number
            }
            Payload::Tcp { .. } => self.cargo.sequence(copy.of.place()),
            Payload::Foreign { tag, .. } => tag,
            Payload::Arp { request } => 2 - u32::from(request),
            Payload::Message(MessageIx(place))
            | Payload::Forwarded(MessageIx(place))
            | Payload::Routing(RoutingIx(place)) => place,
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
            bound_for: NodeIx(1),
            length: 10,
            bytes: 38,
            class: PacketClass::Data,
            dscp: 0,
        }
    }

    fn first() -> PacketCopy {
        PacketCopy { at_source: true, ..PacketCopy::PLAIN }
    }

    #[test]
    fn a_packet_takes_a_line_and_a_copy_less_than_half_of_one() {
        assert_eq!(size_of::<PacketPlace>(), 64);
        assert_eq!(size_of::<CopyPlace>(), 24);
    }

    #[test]
    fn a_reference_outlives_its_packet_but_finds_nothing() {
        let mut packets = Packets::default();
        let a = packets.add(packet(1), first());
        assert!(packets.get(a).is_some());
        assert!(packets.end(a).is_some());
        assert!(packets.copy(packets.at(a.place() as u32)).is_none(), "nobody uses the place");
        let b = packets.add(packet(2), first());
        assert_eq!(a.place(), b.place(), "the place is used again");
        assert!(packets.get(a).is_none() && packets.end(a).is_none());
        assert_eq!(packets.at(b.place() as u32), b);
        assert_eq!(packets.get(b).and_then(Packet::flow), Some(FlowIx(2)));
    }

    /// The sender of a packet keeps its copy until it learns that the next hop has one: no event at the next hop changes the sender's copy.
    #[test]
    fn each_hop_has_a_copy_of_its_own() {
        let mut packets = Packets::default();
        let sender = packets.add(packet(1), first());
        assert!(!packets.has_reached_next_hop(sender));
        let (next, hops) = packets.copy_to_next_hop(sender).unwrap();
        assert_eq!(hops, 1);
        assert!(packets.has_reached_next_hop(sender) && !packets.has_reached_next_hop(next));
        packets.copy_mut(next).unwrap().ecn = Ecn::Ce;
        assert_eq!(packets.copy(sender).map(|copy| (copy.hops, copy.ecn)), Some((0, Ecn::NotEct)));
        assert_eq!(packets.copy(next).map(|copy| (copy.hops, copy.ecn)), Some((1, Ecn::Ce)));
        assert!(packets.end(next).is_some(), "delivered");
        assert!(packets.get(sender).is_none() && packets.copy(sender).is_some(), "the sender does not know");
        assert!(packets.has_reached_next_hop(sender) && packets.copy_to_next_hop(sender).is_none());
        assert!(packets.finish_copy(sender).is_none());
        assert!(packets.copy(sender).is_none(), "gone");
    }
}
