//! Queues of ports: packets arrive, are judged, and leave. Ahead of the queues wait control packets, and before them packets whose next
//! hop's address is not known.

use airfair_host::{ArrivedPacket, Dequeued};
use airfair_schemes::places::{
    DropReason, Ecn, Enqueued, Packet as QueuedPacket, PacketClass, PacketId, Verdict,
};
use airfair_units::Time;

use super::{DataPlane, DequeuedPacket, Leaves, PlaneNews};
use crate::ids::{CopyRef, LinkRef, NodeIx, PortIx};
use crate::node::plane::accounts::drop_reason;
use crate::node::plane::arp::{AddressWait, Unanswered};
use crate::node::plane::interfaces::Ahead;
use crate::packet::{Packet, PacketCopy, Payload};
use crate::record::Record;
use crate::route::NextHop;

impl DataPlane {
    /// Offers a packet to the queue of a port: it may be dropped, or another one in its place.
    pub(crate) fn enqueue(&mut self, hop: NextHop, copy: CopyRef, now: Time) {
        if let Some(wire) = self.interfaces.wire_with_queue(hop.port, &self.links) {
            self.enqueue_at_wire(wire, copy, now);
            return;
        }
        let port = if self.interfaces.sorts_arrivals() {
            let Some(port) = self.sort_arrival(hop, copy, now) else { return };
            port
        } else {
            hop.port
        };
        let Some((packet, at)) = self.packets.packet_and_copy_mut(copy) else { return };
        let mut queued = QueuedPacket {
            id: PacketId(copy.place() as u32),
            flow: packet.scheme_flow,
            destination: self.interfaces.id(packet.bound_for),
            next_hop: self.interfaces.id(hop.node),
            bytes: packet.bytes,
            class: packet.class,
            ecn: at.ecn,
            labelled: !at.header.is_none() && at.header == self.interfaces.pipeline(port).queue_header(),
            own: packet.source == self.interfaces.node(port),
            enqueued: now,
        };
        if self.interfaces.pipeline(port).judges() && !self.judge_arrival(port, copy, &mut queued, now) {
            return;
        }
        let enqueued = self.interfaces.store(port, queued, now);
        self.handle_queue_effects(port, now);
        match enqueued {
            Enqueued::Stored => {}
            Enqueued::Refused(reason) => {
                self.drop_packet(self.interfaces.node(port), copy, reason.0, now);
                return;
            }
            Enqueued::Displaced(other, reason) => {
                let other = self.packets.at(other.0);
                self.drop_at(port, other, reason.0, now);
            }
        }
        self.mark_link_ready(self.interfaces.link(port));
    }

    /// The port whose queue a packet enters at a node's port; none if it has gone ahead of it.
    #[inline(never)]
    fn sort_arrival(&mut self, hop: NextHop, copy: CopyRef, now: Time) -> Option<PortIx> {
        let (packet, at) = self.packets.packet_and_copy(copy)?;
        if let LinkRef::Station(station) = self.interfaces.link(hop.port) {
            let ids = &self.interfaces;
            let arrived = ArrivedPacket {
                neighbour: ids.id(hop.node),
                flow: packet.scheme_flow,
                from: ids.id(packet.source),
                to: ids.id(packet.bound_for),
                bytes: packet.bytes,
                class: packet.class,
            };
            self.meters.links.on_arrival(station, &arrived);
        }
        if at.ahead {
            self.put_ahead(hop, copy, now);
            return None;
        }
        if !self.interfaces.has_categories() {
            return Some(hop.port);
        }
        Some(self.interfaces.port_of(hop.port, self.interfaces.category(hop.port, packet.dscp)))
    }

    /// A packet arrives at a port with a hop or an AQM, which may mark it. Returns false if it was dropped.
    #[inline(never)]
    fn judge_arrival(&mut self, port: PortIx, copy: CopyRef, queued: &mut QueuedPacket, now: Time) -> bool {
        let verdict = self.interfaces.pipeline_mut(port).judge(
            queued,
            self.packets.carried_header(copy),
            &self.headers,
            now,
        );
        self.apply_verdict(verdict, port, copy, now)
    }

    /// Applies a verdict on a packet at a port. Returns false if the packet was dropped.
    #[inline(always)]
    pub(crate) fn apply_verdict(&mut self, verdict: Verdict, port: PortIx, copy: CopyRef, now: Time) -> bool {
        match verdict {
            Verdict::Pass => {}
            Verdict::Mark(reason) => self.mark(copy, reason.0),
            Verdict::Echo(reason) => self.set_echo(copy, reason.0),
            Verdict::Drop(reason) => {
                self.drop_packet(self.interfaces.node(port), copy, reason.0, now);
                return false;
            }
        }
        true
    }

    /// An acknowledgement on its way is to carry ECN-Echo. Of a segment the connection decides; of a packet from outside whoever has its
    /// bytes.
    fn set_echo(&mut self, copy: CopyRef, reason: &'static str) {
        let Some((packet, at)) = self.packets.packet_and_copy_mut(copy) else { return };
        if packet.is_tcp() {
            let packet = at.of;
            self.add_news(PlaneNews::Echo { packet, reason });
        } else if packet.class == PacketClass::Ack && matches!(packet.payload, Payload::Foreign { .. }) {
            at.echo = true;
            self.accounts.mark(reason);
        }
    }

    fn mark(&mut self, copy: CopyRef, reason: &'static str) {
        if let Some(copy) = self.packets.copy_mut(copy) {
            copy.ecn = Ecn::Ce;
            self.accounts.mark(reason);
        }
    }

    /// Handles packets that a queue has dropped or marked by itself.
    #[inline(always)]
    pub(crate) fn handle_queue_effects(&mut self, port: PortIx, now: Time) {
        if !self.interfaces.queue_effects().is_empty() {
            self.apply_queue_effects(port, now);
        }
    }

    #[inline(never)]
    fn apply_queue_effects(&mut self, port: PortIx, now: Time) {
        while let Some((packet, reason)) = self.interfaces.queue_effects().dropped.pop() {
            self.drop_at(port, self.packets.at(packet.0), reason.0, now);
        }
        while let Some((packet, reason)) = self.interfaces.queue_effects().marked.pop() {
            self.mark(self.packets.at(packet.0), reason.0);
        }
    }

    /// Dequeues the next packet of a port; `Some(None)` if the port's AQM drops it: behind it may be another one.
    #[inline(always)]
    pub(crate) fn dequeue(&mut self, port: PortIx, now: Time) -> Option<Option<DequeuedPacket>> {
        let (copy, queued) = if self.interfaces.pipeline(port).judges() {
            let Some(judged) = self.judge_first(port, now)? else { return Some(None) };
            judged
        } else {
            let queued = self.interfaces.pop(port, now);
            self.handle_queue_effects(port, now);
            let queued = queued?;
            (self.packets.at(queued.id.0), queued)
        };
        Some(Some(self.departed(port, queued, copy, now)))
    }

    /// [`DataPlane::dequeue`] at a port with a hop or an AQM.
    #[inline(never)]
    fn judge_first(&mut self, port: PortIx, now: Time) -> Option<Option<(CopyRef, QueuedPacket)>> {
        let dequeued = self.interfaces.dequeue(port, now);
        self.handle_queue_effects(port, now);
        let Dequeued { packet: queued, verdict } = dequeued?;
        let copy = self.packets.at(queued.id.0);
        if !self.apply_verdict(verdict, port, copy, now) {
            return Some(None);
        }
        let pipeline = self.interfaces.pipeline_mut(port);
        if pipeline.wants_departures() {
            pipeline.depart(&queued, self.packets.carried_header(copy), now);
        }
        Some(Some((copy, queued)))
    }

    /// A packet that has left a port's queue, which writes its header.
    #[inline(always)]
    fn departed(&mut self, port: PortIx, queued: QueuedPacket, copy: CopyRef, now: Time) -> DequeuedPacket {
        if queued.labelled {
            let carried = self.packets.carried_header(copy);
            self.interfaces.pipeline_mut(port).stamp(&queued, carried, &self.headers, now);
            if let Some(packet) = self.packets.get(copy) {
                self.packets.note_destination(copy, packet.bound_for);
            }
            if let Some(differential) = self.interfaces.pipeline(port).differential() {
                self.differentials.count(port, queued.next_hop, differential);
                if self.records.are_enabled() {
                    let (node, packet) = (self.interfaces.node(port), self.packets.packet_of(copy));
                    self.records.push(now, Record::Compared { node, packet, differential });
                }
            }
        }
        let (payload, leaves) = self.on_departed(port, &queued, copy, now);
        DequeuedPacket { copy, queued, payload, leaves }
    }

    /// Handles the departure of a packet from a port's queue. Returns its payload, and the source of the node that has sent it.
    #[inline(always)]
    fn on_departed(
        &mut self,
        port: PortIx,
        queued: &QueuedPacket,
        copy: CopyRef,
        now: Time,
    ) -> (u32, Leaves) {
        self.interfaces.count_departure(port, queued.class, now.since(queued.enqueued));
        let Some((packet, at)) = self.packets.packet_and_copy_mut(copy) else { return (0, Leaves::Nothing) };
        let (payload, carries) = (packet.length, packet.payload);
        if !std::mem::take(&mut at.at_source) {
            return (payload, Leaves::Nothing);
        }
        let leaves = match carries {
            Payload::Udp { flow, .. } => Leaves::Udp(flow),
            Payload::Tcp { .. } => Leaves::Tcp,
            _ => Leaves::Nothing,
        };
        (payload, leaves)
    }

    /// Marks a link that may have a packet to send; it is served at the end of the present event. A wire with a pending wake-up event waits
    /// for that.
    #[inline(always)]
    pub(crate) fn mark_link_ready(&mut self, link: LinkRef) {
        if let LinkRef::Wire(wire) = link
            && self.links.wake_pending(wire)
        {
            return;
        }
        self.schedule.mark_ready(link);
    }

    /// A queue that holds packets may name one.
    #[cold]
    pub(crate) fn queue_wakes(&mut self, port: PortIx, now: Time) {
        if self.interfaces.wakes(port, now) {
            self.schedule.mark_ready(self.interfaces.link(port));
        }
    }

    /// Queues a packet ahead of the packets in the queue of its next hop's port; it ends if too many wait there.
    pub(crate) fn put_ahead(&mut self, hop: NextHop, copy: CopyRef, now: Time) {
        let NextHop { port, node: next } = hop;
        if self.interfaces.push_ahead(port, Ahead { copy, next, since: now }) {
            self.mark_link_ready(self.interfaces.link(port));
        } else {
            self.drop_packet(self.interfaces.node(port), copy, DropReason::QUEUE_FULL.0, now);
        }
    }

    /// Queues a control packet ahead of the packets in the port's queue; it ends if too many wait there.
    pub(super) fn send_ahead(&mut self, port: PortIx, copy: CopyRef, now: Time) {
        let node = match self.packets.get(copy).map(|packet| (packet.payload, packet.destination)) {
            Some((Payload::Arp { request: true }, _)) | None => NodeIx::EVERYONE,
            Some((_, destination)) => destination,
        };
        self.put_ahead(NextHop { port, node }, copy, now);
    }

    /// The packet of a copy that has waited ahead of a port's queue and leaves; none after its end. Routing counts its messages, the queue
    /// packets of flows.
    pub(crate) fn depart_ahead(&mut self, port: PortIx, waited: Ahead, now: Time) -> Option<Packet> {
        let packet = *self.packets.get(waited.copy)?;
        if let Payload::Routing(message) = packet.payload {
            self.routes.count_sent(port, message, packet.bytes);
        }
        if packet.class != PacketClass::Control {
            self.interfaces.count_departure(port, packet.class, now.since(waited.since));
        }
        Some(packet)
    }

    /// Keeps a packet until the address of its next hop is known, and requests that address.
    pub(crate) fn await_address(&mut self, hop: NextHop, copy: CopyRef, now: Time) {
        let AddressWait { request_due, dropped } = self.arp.wait(hop, copy);
        if let Some(oldest) = dropped {
            self.drop_packet(self.interfaces.node(hop.port), oldest, drop_reason::ARP_QUEUE, now);
        }
        if request_due {
            self.request_address(hop, now);
        }
    }

    fn request_address(&mut self, hop: NextHop, now: Time) {
        let node = self.interfaces.node(hop.port);
        let requester = (node, self.interfaces.rank(node));
        if let Some(request) = self.arp.request(hop, requester, now, &mut self.schedule) {
            let copy = self.packets.add(request, PacketCopy::PLAIN);
            self.send_ahead(hop.port, copy, now);
        }
    }

    /// Handles the time-out of an ARP request.
    #[inline(never)]
    pub(crate) fn arp_retry(&mut self, port: PortIx, target: NodeIx, now: Time) {
        match self.arp.on_retry(port, target) {
            Unanswered::Done => {}
            Unanswered::Repeat => self.request_address(NextHop { port, node: target }, now),
            Unanswered::GivenUp(packets) => {
                for copy in packets {
                    self.drop_packet(self.interfaces.node(port), copy, drop_reason::ARP_FAILED, now);
                }
                // Saturating sources offer packets again.
                self.add_room(port);
            }
        }
    }

    /// Handles an ARP packet that has arrived.
    pub(crate) fn arp_received(&mut self, (node, port): (NodeIx, PortIx), packet: &Packet, now: Time) {
        let (released, answer) = self.arp.on_packet((node, port), packet, now);
        for copy in released {
            if self.packets.get(copy).is_some_and(Packet::is_routing) {
                self.send_ahead(port, copy, now);
            } else {
                self.enqueue(NextHop { port, node: packet.source }, copy, now);
            }
        }
        if let Some(answer) = answer {
            let copy = self.packets.add(answer, PacketCopy::PLAIN);
            self.send_ahead(port, copy, now);
        }
    }

    /// A packet that a node has received, as schemes see it.
    pub(crate) fn received_packet(
        &self,
        copy: CopyRef,
        (packet, ecn): (&Packet, Ecn),
        node: NodeIx,
        now: Time,
    ) -> QueuedPacket {
        QueuedPacket {
            id: PacketId(copy.place() as u32),
            flow: packet.scheme_flow,
            destination: self.interfaces.id(packet.bound_for),
            next_hop: self.interfaces.id(node),
            bytes: packet.bytes,
            class: packet.class,
            ecn,
            labelled: false,
            own: false,
            enqueued: now,
        }
    }

    /// True if packets on wires need more memory than there is for them. Only where there have been as many packets are they counted.
    #[inline]
    pub(crate) fn lacks_memory(&self) -> bool {
        let most = self.links.most_packets();
        self.packets.most_copies() as u64 > most && self.links.packets() > most
    }
}
