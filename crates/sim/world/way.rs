//! The way of a packet: from its source to an interface's queue, by air or wire to the next node, and there on or to its end.
//!
//! Every packet of a flow and every injected packet ends in exactly one named place: delivered, dropped for a reason, or still inside when
//! the run ends.

use airfair_host::{ArrivedPacket, Dequeued, FinishedPacket};
use airfair_schemes::places::{
    Capability, DropReason, Ecn, Enqueued, Packet as QueuedPacket, PacketClass, PacketId, Passage, SendRate,
    Verdict,
};
use airfair_units::{Rate, Time};

use crate::air::{Air, BROADCAST, Indication, Msdu, Outcome};
use crate::engine::Agenda;
use crate::event::ScheduledEvent;
use crate::ids::{CopyRef, FlowIx, ForeignIx, LinkRef, NodeIx, PacketRef, PortIx, StationIx, WireIx};
use crate::link::{FreeWire, OfferResult, OfferedPacket, WireEnd, opposite};
use crate::node::Network;
use crate::node::accounts::drop_reason;
use crate::node::outside::{Egress, Fate, Ingress};
use crate::observe::describe;
use crate::packet::{Packet, PacketCopy, Payload};
use crate::record::{Content, Record};
use crate::route::NextHop;

/// Rate, and power above the radio's own, of a packet without a choice of its own.
#[inline(always)]
pub(super) fn transmit_to(to: StationIx) -> (SendRate, i16) {
    (if to == BROADCAST { SendRate::Broadcast } else { SendRate::Data }, 0)
}

/// A packet that was dequeued.
struct DequeuedPacket {
    copy: CopyRef,
    queued: QueuedPacket,
    payload: u32,
    /// A TCP sender of this node has sent the packet.
    of_local_tcp: bool,
}

/// Steps after an indication of the air, and at the end of an event.
impl Network {
    /// True if packets on wires need more memory than there is for them. Only where there have been as many packets are they counted.
    #[inline]
    pub(super) fn lacks_memory(&self) -> bool {
        let most = self.links.most_packets();
        self.packets.most_copies() as u64 > most && self.links.packets() > most
    }

    /// Serves the links that may have a packet to send, and pushes scheduled events onto the agenda.
    #[inline]
    pub(super) fn finish_event(&mut self, air: &mut Air, agenda: &mut Agenda) {
        loop {
            while let Some(link) = self.schedule.next_link() {
                match link {
                    LinkRef::Station(station) => self.fill_mac(station, air, agenda),
                    LinkRef::Wire(wire) => self.serve_wire(wire, agenda),
                }
            }
            if !self.routes.have_changed() {
                break;
            }
            self.on_routes_changed(agenda.now);
        }
        self.push_scheduled(agenda);
        self.schedule.pending = false;
    }

    /// A queue that holds packets may name one.
    #[cold]
    pub(super) fn queue_wakes(&mut self, port: PortIx, now: Time) {
        if self.interfaces.wakes(port, now) {
            self.schedule.mark_ready(self.interfaces.link(port));
        }
    }

    /// Next hops have changed in the present event: tells the queues that follow routes, and checks the routes of flows.
    #[cold]
    #[inline(never)]
    fn on_routes_changed(&mut self, now: Time) {
        if self.rules.queues_follow_routes {
            self.follow_routes(now);
        }
        self.routes.check_flows();
    }

    fn follow_routes(&mut self, now: Time) {
        let Self { interfaces, routes, .. } = self;
        let mut moved = Vec::new();
        for port in interfaces.with_new_routes(|node| routes.revision(node)) {
            let (node, link) = (interfaces.node(port), interfaces.link(port));
            let ports: Vec<_> = interfaces.ports_of_link(port).collect();
            interfaces.routes_changed(port, |destination| {
                routes.next_hop(node, destination).filter(|hop| ports.contains(&hop.port)).map(|hop| hop.node)
            });
            for (id, _) in interfaces.backlogs(port) {
                let hop = interfaces.node_of_id(id).and_then(|to| routes.next_hop(node, to));
                moved.extend(hop.filter(|hop| !ports.contains(&hop.port)).map(|hop| (port, id, hop)));
            }
            self.schedule.mark_ready(link);
        }
        // Packets whose route has moved to another interface of the node would wait here for a route that may never return.
        for (port, destination, hop) in moved {
            while let Some(place) = self.interfaces.withdraw(port, destination) {
                self.offer(hop, self.packets.at(place), now);
            }
            self.resume_waiting_sources(port, now);
        }
    }

    /// Pushes scheduled events onto the agenda.
    #[inline(always)]
    pub(super) fn push_scheduled(&mut self, agenda: &mut Agenda) {
        for &ScheduledEvent { at, order, kind } in self.schedule.events() {
            agenda.push(at, order, kind);
        }
        self.schedule.clear();
    }

    /// Handles the indications of an event of the air, each completely before the next.
    pub(super) fn handle_indications(&mut self, air: &mut Air, agenda: &mut Agenda) {
        let now = agenda.now;
        while let Some(indication) = air.next_indication() {
            match indication {
                Indication::Finished { station, msdu, outcome } => {
                    self.on_mac_finished((station, air), msdu, outcome, now);
                    self.fill_mac(station, air, agenda);
                }
                Indication::Received { station, copy, from, at } => self.on_received(station, copy, from, at),
                Indication::Access { station } => self.on_access((station, air), agenda),
                Indication::Overheard { station, copy, from, at } => self.overheard(station, copy, from, at),
                Indication::LinkMode { station, to } => self.link_mode_changed((station, to), air, now),
                Indication::NeighboursChanged { station } => {
                    let mut neighbours: Vec<_> = air.neighbours(station).map(|(id, _)| id).collect();
                    neighbours.sort_unstable();
                    self.neighbours_changed(station, &neighbours, now);
                }
            }
        }
    }

    /// Fills the MAC of a station with packets, as far as it has room.
    fn fill_mac(&mut self, station: StationIx, air: &mut Air, agenda: &mut Agenda) {
        if air.has_categories(station) {
            self.fill_categories(station, air, agenda.now);
            if self.hosts.forwarders.any() {
                self.place_in_category(station, air, agenda.now);
            }
            air.contend(station, agenda);
            return;
        }
        for _ in 0..air.free_places(station) {
            match self.next_msdu(station, agenda.now) {
                Some(msdu) => air.hand_down(station, msdu),
                None => break,
            }
        }
        air.contend(station, agenda);
    }

    /// Fills the categories of a station's MAC, the highest first. Control packets precede the queues; a control packet whose category has
    /// no room lets others pass.
    #[inline(never)]
    fn fill_categories(&mut self, station: StationIx, air: &mut Air, now: Time) {
        let port = self.interfaces.of_station(station).1;
        loop {
            let Self { interfaces, packets, .. } = self;
            let category = |copy: CopyRef| packets.get(copy).map_or(0, |packet| packet.dscp);
            let of_dscp = interfaces.categories(port).map_or([0; 64], |of| of.of_dscp);
            let category = |copy: CopyRef| of_dscp[usize::from(category(copy)) % of_dscp.len()];
            let has_room = |copy: CopyRef| air.free_places_of(station, category(copy)) > 0;
            let Some(waited) = interfaces.pop_control_if(port, has_room) else { break };
            let category = category(waited.copy);
            if let Some(msdu) = self.control_msdu((station, port), waited, now) {
                air.hand_down(station, Msdu { category, ..msdu });
            }
        }
        let Some(of) = self.interfaces.categories(port) else { return };
        if of.ports.is_empty() {
            let by_priority = of.by_priority;
            while let Some(category) = self.category_with_room(station, port, air, now)
                && let Some(dequeued) = self.dequeue_first(port, now)
            {
                if let Some(DequeuedPacket { queued, .. }) = &dequeued
                    && by_priority
                    && queued.labelled
                {
                    self.differentials.count_level(port, queued.next_hop, category);
                }
                // Behind a packet that is dropped may be one of another category.
                if let Some(msdu) = dequeued.and_then(|it| self.fresh_msdu((station, port), port, it, now)) {
                    air.hand_down(station, Msdu { category, ..msdu });
                }
            }
            if self.rules.queues_label {
                self.interfaces.arm(port, now, &mut self.schedule);
            }
            return;
        }
        for category in (0..of.count).rev() {
            let queue = self.interfaces.port_of(port, category);
            for _ in 0..air.free_places_of(station, category) {
                let Some(msdu) = self.queued_msdu((station, port), queue, now) else { break };
                air.hand_down(station, Msdu { category, ..msdu });
            }
        }
    }

    /// Category of the next packet of a queue that serves all categories: of the first whose category has room. One without lets others
    /// pass, as a control packet does.
    fn category_with_room(&mut self, station: StationIx, port: PortIx, air: &Air, now: Time) -> Option<u8> {
        let mut instead = false;
        loop {
            let category = self.category_of_head(port, instead, now)?;
            if air.free_places_of(station, category) > 0 {
                return Some(category);
            }
            instead = true;
        }
    }

    /// Category of the packet that a queue that serves all categories names next, or instead of the last one that it has named.
    fn category_of_head(&mut self, port: PortIx, instead: bool, now: Time) -> Option<u8> {
        let head = self.interfaces.head(port, instead, now);
        self.handle_queue_effects(port, now);
        if head.is_none() && self.interfaces.view(port).packets == 0 {
            // By drops at its head: no packet has left.
            self.on_queue_emptied(port, now);
        }
        let (packet, by_priority) = head?;
        let by_dscp = || {
            let packet = self.packets.get(self.packets.at(packet.id.0))?;
            Some(self.interfaces.category(port, packet.dscp))
        };
        by_priority.or_else(by_dscp)
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
            self.hosts.links.on_arrival(station, &arrived);
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

    /// Marks a link that may have a packet to send; it is served at the end of the present event. A wire with a pending wake-up event waits
    /// for that.
    #[inline(always)]
    pub(super) fn mark_link_ready(&mut self, link: LinkRef) {
        if let LinkRef::Wire(wire) = link
            && self.links.wake_pending(wire)
        {
            return;
        }
        self.schedule.mark_ready(link);
    }
}

/// Forwarding.
impl Network {
    /// Handles a packet at a node: delivers or forwards it.
    pub(super) fn forward(&mut self, node: NodeIx, copy: CopyRef, now: Time) {
        let Some((packet, &PacketCopy { hops, .. })) = self.packets.packet_and_copy(copy) else { return };
        self.forward_from(node, (packet.destination, hops), copy, now);
    }

    /// [`Network::forward`] for a packet whose destination and number of hops are known.
    #[inline(always)]
    fn forward_from(&mut self, node: NodeIx, (destination, hops): (NodeIx, u16), copy: CopyRef, now: Time) {
        if destination == node {
            self.deliver_packet(node, copy, now);
            return;
        }
        if hops >= self.rules.hop_limit {
            self.drop_packet(node, copy, drop_reason::HOP_LIMIT, now);
            return;
        }
        match self.routes.fixed_hop(node, destination) {
            Some(hop) => self.offer(hop, copy, now),
            None => self.route_packet(node, copy, now),
        }
    }

    /// Offers a packet to the queue of a port, or lets it wait until its next hop's address is known.
    pub(super) fn offer(&mut self, hop: NextHop, copy: CopyRef, now: Time) {
        if matches!(self.interfaces.link(hop.port), LinkRef::Station(_)) && !self.arp.resolves(hop) {
            self.await_address(hop, copy, now);
            return;
        }
        self.enqueue(hop, copy, now);
    }

    pub(super) fn enqueue(&mut self, hop: NextHop, copy: CopyRef, now: Time) {
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
            labelled: !at.header.is_none() && at.header == self.interfaces.queue_header(port),
            enqueued: now,
        };
        if self.interfaces.judges(port) && !self.judge_arrival(port, copy, &mut queued, now) {
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

    /// A packet arrives at a port with a hop or an AQM, which may mark it. Returns false if it was dropped.
    #[inline(never)]
    fn judge_arrival(&mut self, port: PortIx, copy: CopyRef, queued: &mut QueuedPacket, now: Time) -> bool {
        let verdict = self.interfaces.judge(port, queued, self.packets.carried_header(copy), now);
        self.apply_verdict(verdict, port, copy, now)
    }

    /// Applies a verdict on a packet at a port. Returns false if the packet was dropped.
    #[inline(always)]
    fn apply_verdict(&mut self, verdict: Verdict, port: PortIx, copy: CopyRef, now: Time) -> bool {
        match verdict {
            Verdict::Pass => {}
            Verdict::Mark(reason) => self.mark(copy, reason.0),
            Verdict::Echo(reason) => self.set_ecn_echo(copy, reason.0),
            Verdict::Drop(reason) => {
                self.drop_packet(self.interfaces.node(port), copy, reason.0, now);
                return false;
            }
        }
        true
    }

    fn mark(&mut self, copy: CopyRef, reason: &'static str) {
        if let Some(copy) = self.packets.copy_mut(copy) {
            copy.ecn = Ecn::Ce;
            self.accounts.mark(reason);
        }
    }

    /// Sets ECN-Echo in an acknowledgement on its way, if its connection has negotiated ECN: other receivers ignore it.
    fn set_ecn_echo(&mut self, copy: CopyRef, reason: &'static str) {
        let packet = self.packets.packet_of(copy);
        if self.tcp.uses_ecn(self.packets.connection(packet)) && self.packets.echo(packet) {
            self.accounts.mark(reason);
        }
    }

    /// Handles packets that a queue has dropped or marked by itself.
    #[inline(always)]
    fn handle_queue_effects(&mut self, port: PortIx, now: Time) {
        if self.interfaces.has_effects() {
            self.apply_queue_effects(port, now);
        }
    }

    #[inline(never)]
    fn apply_queue_effects(&mut self, port: PortIx, now: Time) {
        while let Some((place, reason)) = self.interfaces.next_dropped() {
            self.drop_at(port, self.packets.at(place), reason.0, now);
        }
        while let Some((place, reason)) = self.interfaces.next_marked() {
            self.mark(self.packets.at(place), reason.0);
        }
    }

    /// Dequeues the next packet of a port; notifies waiting sources if there is none.
    fn dequeue_or_notify(&mut self, port: PortIx, now: Time) -> Option<DequeuedPacket> {
        let dequeued = self.dequeue(port, now);
        if dequeued.is_none() {
            self.on_queue_emptied(port, now);
            if self.rules.queues_label {
                self.interfaces.arm(port, now, &mut self.schedule);
            }
        }
        dequeued
    }

    /// Dequeues the next packet of a port.
    fn dequeue(&mut self, port: PortIx, now: Time) -> Option<DequeuedPacket> {
        let (copy, queued) = if self.interfaces.judges(port) {
            self.dequeue_judged(port, now)?
        } else {
            let queued = self.interfaces.pop(port, now);
            self.handle_queue_effects(port, now);
            let queued = queued?;
            (self.packets.at(queued.id.0), queued)
        };
        Some(self.departed(port, queued, copy, now))
    }

    /// [`Network::dequeue`] at a port with a hop or an AQM: packets that it drops are skipped.
    #[inline(never)]
    fn dequeue_judged(&mut self, port: PortIx, now: Time) -> Option<(CopyRef, QueuedPacket)> {
        loop {
            if let Some(judged) = self.judge_first(port, now)? {
                return Some(judged);
            }
        }
    }

    /// Dequeues the first packet of a port with a hop or an AQM; `Some(None)` if it is dropped.
    fn judge_first(&mut self, port: PortIx, now: Time) -> Option<Option<(CopyRef, QueuedPacket)>> {
        let dequeued = self.interfaces.dequeue(port, now);
        self.handle_queue_effects(port, now);
        let Dequeued { packet: queued, verdict } = dequeued?;
        let copy = self.packets.at(queued.id.0);
        if !self.apply_verdict(verdict, port, copy, now) {
            return Some(None);
        }
        self.interfaces.depart(port, &queued, self.packets.carried_header(copy), now);
        Some(Some((copy, queued)))
    }

    /// Dequeues the packet that a queue that serves all categories has named; `Some(None)` if it is dropped.
    fn dequeue_first(&mut self, port: PortIx, now: Time) -> Option<Option<DequeuedPacket>> {
        if !self.interfaces.judges(port) {
            return self.dequeue(port, now).map(Some);
        }
        let first = self.judge_first(port, now)?;
        Some(first.map(|(copy, queued)| self.departed(port, queued, copy, now)))
    }

    /// A packet that has left a port's queue, which writes its header.
    #[inline(always)]
    fn departed(&mut self, port: PortIx, queued: QueuedPacket, copy: CopyRef, now: Time) -> DequeuedPacket {
        if queued.labelled {
            self.interfaces.stamp(port, &queued, self.packets.carried_header(copy), now);
            if let Some(packet) = self.packets.get(copy) {
                self.packets.note_destination(copy, packet.bound_for);
            }
            if let Some(differential) = self.interfaces.differential(port) {
                self.differentials.count(port, queued.next_hop, differential);
                if self.records.are_enabled() {
                    let (node, packet) = (self.interfaces.node(port), self.packets.packet_of(copy));
                    self.records.push(now, Record::Compared { node, packet, differential });
                }
            }
        }
        let (payload, of_local_tcp) = self.on_departed(port, &queued, copy, now);
        DequeuedPacket { copy, queued, payload, of_local_tcp }
    }

    /// Handles the departure of a packet from a port's queue. Returns its payload, and true if a TCP sender of the node has sent it.
    #[inline(always)]
    fn on_departed(&mut self, port: PortIx, queued: &QueuedPacket, copy: CopyRef, now: Time) -> (u32, bool) {
        self.interfaces.count_departure(port, queued.class, now.since(queued.enqueued));
        let Some((packet, at)) = self.packets.packet_and_copy_mut(copy) else { return (0, false) };
        let (payload, carries) = (packet.length, packet.payload);
        if !std::mem::take(&mut at.at_source) {
            return (payload, false);
        }
        if let Payload::Udp { flow, .. } = carries {
            self.backpressure.count_flow_left(flow);
            if self.routes.are_found() {
                self.register_departure_port(flow, port);
            }
        }
        (payload, matches!(carries, Payload::Tcp { .. }))
    }

    /// Delivers a packet at its destination.
    pub(super) fn deliver_packet(&mut self, node: NodeIx, copy: CopyRef, now: Time) {
        let Some((&packet, &ended)) = self.packets.end(copy) else { return };
        if packet.class == PacketClass::Control {
            self.message_delivered(node, &packet, now);
            return;
        }
        if let Payload::Foreign(foreign) = packet.payload {
            self.foreign_left(foreign, (node, copy, &ended), Fate::Arrived, now);
        }
        if let Some(flow) = packet.flow() {
            self.flows[flow].count_arrived(&packet, &ended, now);
        }
        if self.records.are_enabled() {
            let delay = now.since(packet.created);
            let (flow, packet, content, sequence) = self.record_fields(&packet, &ended);
            let record = Record::Delivered { node, flow, packet, content, sequence, delay };
            self.records.push(now, record);
        }
        if ended.at_source {
            self.on_end_at_source(&packet, &ended, now);
        }
        if packet.is_tcp() {
            self.segment_arrived(&packet, &ended, copy, now);
        } else if self.udp.any() {
            self.datagram_arrived(&packet, &ended, copy, now);
        }
    }

    /// Drops a packet at a node. A forwarded message ends later ([`Network::schedule_release`]).
    pub(super) fn drop_packet(&mut self, node: NodeIx, copy: CopyRef, reason: &'static str, now: Time) {
        // A forwarded message: a station that overhears the frame which has brought it may receive it a little later.
        if self
            .packets
            .packet_and_copy(copy)
            .is_some_and(|(packet, copy)| copy.hops > 0 && packet.is_message())
        {
            self.schedule_release(node, copy, now);
            return;
        }
        let Some((&packet, &ended)) = self.packets.end(copy) else { return };
        if let Payload::Foreign(foreign) = packet.payload {
            self.foreign_left(foreign, (node, copy, &ended), Fate::Dropped(reason), now);
        } else if packet.class == PacketClass::Control {
            self.on_control_ended(&packet, now);
        }
        if packet.class == PacketClass::Control {
            return;
        }
        self.accounts.drop(reason);
        if let Some(flow) = packet.flow() {
            self.flows[flow].count_dropped(packet.class, now);
            if ended.at_source {
                self.on_end_at_source(&packet, &ended, now);
            }
        }
        if self.records.are_enabled() {
            let (flow, packet, content, sequence) = self.record_fields(&packet, &ended);
            let record = Record::Dropped { node, flow, packet, content, sequence, reason };
            self.records.push(now, record);
        }
    }

    /// Drops a packet at a port, and notifies the port's hop.
    #[inline(never)]
    fn drop_at(&mut self, port: PortIx, copy: CopyRef, reason: &'static str, now: Time) {
        if let Some(packet) = self.packets.get(copy) {
            self.interfaces.on_dropped(port, packet.bytes);
        }
        self.drop_packet(self.interfaces.node(port), copy, reason, now);
    }

    /// Fields of a packet for the record of its end.
    fn record_fields(&self, packet: &Packet, copy: &PacketCopy) -> (Option<FlowIx>, PacketRef, Content, u32) {
        let (content, sequence) =
            (describe::content(self, packet, copy), self.packets.sequence(packet, copy));
        (packet.flow(), copy.of, content, sequence)
    }

    /// A packet from outside enters, by its number.
    #[inline(never)]
    pub(super) fn injection_due(&mut self, number: u32, now: Time) {
        let Some((foreign, injected)) = self.outside.enter(number) else { return };
        let [source, bound_for] = injected.ends;
        let (destination, class) = match injected.at {
            Ingress::Node(_) => (bound_for, injected.class),
            Ingress::Port(port, next) => match (self.interfaces.link(port), next) {
                (LinkRef::Wire(wire), _) => (self.links.far_end(wire), injected.class),
                (LinkRef::Station(_), Some(next)) => (next, injected.class),
                (LinkRef::Station(_), None) => (NodeIx::EVERYONE, PacketClass::Control),
            },
        };
        let packet = Packet {
            created: now,
            payload: Payload::Foreign(foreign),
            scheme_flow: injected.flow,
            source,
            destination,
            bound_for,
            length: injected.size,
            bytes: injected.size,
            class,
            dscp: injected.dscp,
        };
        let header = self.interfaces.headers_mut().id(injected.header.map(|(kind, _)| kind));
        let copy = self.packets.add(packet, PacketCopy { header, ecn: injected.ecn, ..PacketCopy::PLAIN });
        if let Some((_, header)) = injected.header {
            *self.packets.new_header(copy) = header;
        }
        match injected.at {
            Ingress::Node(node) => {
                self.routes.find_fixed(node, destination);
                self.forward(node, copy, now);
            }
            // Its sender's stack has resolved the address.
            Ingress::Port(port, _) => self.enqueue(NextHop { port, node: destination }, copy, now),
        }
    }

    /// The only or last copy of a packet from outside leaves at a node.
    #[cold]
    fn foreign_left(
        &mut self,
        foreign: ForeignIx,
        (node, copy, ended): (NodeIx, CopyRef, &PacketCopy),
        fate: Fate,
        now: Time,
    ) {
        let port = match self.outside.port(foreign).map(|port| self.interfaces.link(port)) {
            Some(LinkRef::Wire(wire)) if fate == Fate::Arrived => Some(self.links.port(opposite(wire))),
            Some(LinkRef::Station(_)) if fate == Fate::Arrived => self.outside.received_by(foreign),
            _ => None,
        };
        let header = self.packets.header(copy).copied().filter(|_| !ended.header.is_none());
        self.outside
            .leave(foreign, Egress { at: now, tag: 0, node, port, ecn: ended.ecn, header, fate, last: true });
    }

    /// Handles a broadcast from outside that a station has received.
    pub(super) fn foreign_heard(
        &mut self,
        station: StationIx,
        (copy, foreign): (CopyRef, ForeignIx),
        now: Time,
    ) {
        let (node, port) = self.interfaces.of_station(station);
        if self.packet_losses.draw_loss(station) {
            return;
        }
        let Some((packet, &PacketCopy { header: kind, ecn, .. })) = self.packets.packet_and_copy(copy) else {
            return;
        };
        self.hosts.uses.on_received(station, packet.bytes);
        let received = self.received_packet(copy, (packet, ecn), node, now);
        let mut header = self.packets.header(copy).copied().filter(|_| !kind.is_none());
        let verdict = if self.interfaces.wants_received(port) {
            self.interfaces.receive(port, &received, (kind, header.as_mut()), now)
        } else {
            Verdict::Pass
        };
        let ecn = match verdict {
            Verdict::Drop(_) => return,
            Verdict::Mark(_) => Ecn::Ce,
            Verdict::Pass | Verdict::Echo(_) => ecn,
        };
        let (port, fate) = (Some(port), Fate::Arrived);
        self.outside.leave(foreign, Egress { at: now, tag: 0, node, port, ecn, header, fate, last: false });
    }

    /// A broadcast from outside has reached all its receivers.
    pub(super) fn broadcast_left(&mut self, foreign: ForeignIx, packet: &Packet, now: Time) {
        let port = self.outside.port(foreign);
        let node = port.map_or(packet.source, |port| self.interfaces.node(port));
        let (ecn, header, fate) = (Ecn::NotEct, None, Fate::Ended);
        self.outside.leave(foreign, Egress { at: now, tag: 0, node, port, ecn, header, fate, last: true });
    }

    /// Starts the measurement at the end of the warm-up.
    #[inline(never)]
    pub(super) fn warmed_up(&mut self, now: Time) {
        self.measuring = true;
        self.tcp.warmed_up();
        self.udp.warmed_up();
        self.flows.iter_mut().for_each(|flow| flow.warmed_up(now));
        self.interfaces.warmed_up(&self.links, now);
        self.routes.warmed_up();
        self.differentials.warmed_up();
        self.hosts.frames.warmed_up();
        self.hosts.forwarders.warmed_up();
    }
}

/// Radio.
impl Network {
    /// Dequeues the next packet of a station for its MAC, if there is one.
    fn next_msdu(&mut self, station: StationIx, now: Time) -> Option<Msdu> {
        let port = self.interfaces.of_station(station).1;
        if let Some(waited) = self.interfaces.pop_control(port) {
            return self.control_msdu((station, port), waited, now);
        }
        if self.hosts.forwarders.any() {
            return self.turn_of_forwarder((station, port), now);
        }
        self.queued_msdu((station, port), port, now)
    }

    /// Dequeues the next packet from a queue of a station's port: that of `queue`.
    #[inline(always)]
    pub(super) fn queued_msdu(
        &mut self,
        (station, port): (StationIx, PortIx),
        queue: PortIx,
        now: Time,
    ) -> Option<Msdu> {
        loop {
            let dequeued = self.dequeue_or_notify(queue, now)?;
            if let Some(msdu) = self.fresh_msdu((station, port), queue, dequeued, now) {
                return Some(msdu);
            }
        }
    }

    /// A dequeued packet for the MAC; none if it is dropped, as its link has broken since it was enqueued.
    #[inline(always)]
    fn fresh_msdu(
        &mut self,
        (station, port): (StationIx, PortIx),
        queue: PortIx,
        dequeued: DequeuedPacket,
        now: Time,
    ) -> Option<Msdu> {
        let DequeuedPacket { copy, queued, payload, of_local_tcp } = dequeued;
        let node = self.interfaces.node(port);
        if self.routes.are_found()
            && !self.interfaces.wants(queue, Capability::Routes)
            && self.routes.is_stale((node, port), queued.next_hop, queued.enqueued)
        {
            if of_local_tcp && let Some(copy) = self.packets.copy_mut(copy) {
                copy.at_source = true;
            }
            self.drop_packet(node, copy, drop_reason::LINK_BREAK, now);
            self.resume_waiting_sources(queue, now);
            return None;
        }
        self.resume_waiting_sources(queue, now);
        let packet = self.packets.packet_of(copy);
        if of_local_tcp {
            let connection = self.packets.connection(packet);
            self.backpressure.count_in_mac(queue, packet, connection, payload);
        }
        let to = self.interfaces.peer(port, queued.next_hop).unwrap_or(BROADCAST);
        let is_message = queued.class == PacketClass::Control;
        let overhear = is_message
            || self.rules.headers_heard && (queued.labelled || self.has_header_for_agents(queue, copy));
        if self.hosts.uses.any() && !is_message {
            let of_flow = (queued.flow, queued.class);
            self.hosts.uses.on_dequeued(station, packet.0, of_flow, queued.enqueued, now);
        }
        let (bytes, control) = (queued.bytes, is_message);
        let (rate, louder) = if is_message { self.transmit_of(copy, to) } else { transmit_to(to) };
        Some(Msdu { copy, packet, bytes, to, category: 0, overhear, control, report: false, rate, louder })
    }

    /// Handles a packet that the MAC has finished.
    fn on_mac_finished(
        &mut self,
        (station, air): (StationIx, &Air),
        msdu: Msdu,
        outcome: Outcome,
        now: Time,
    ) {
        let ((node, port), copy) = (self.interfaces.of_station(station), msdu.copy);
        if self.rules.queues_label {
            self.notify_finished(self.interfaces.port_of(port, msdu.category), copy);
        }
        if self.hosts.uses.any() {
            self.count_finished((station, air), &msdu, outcome, now);
        }
        match outcome {
            // ARP's packets end here; the others are continued by the next hop's own copy.
            Outcome::Delivered => match self.packets.finish_copy(copy).map(|packet| packet.class) {
                None => {}
                Some(PacketClass::Control) => self.end_control(copy, now),
                Some(_) => self.drop_packet(node, copy, drop_reason::TAKEN_FOR_DUPLICATE, now),
            },
            Outcome::Broadcast => self.schedule_release(node, copy, now),
            Outcome::RetryLimit | Outcome::InternalCollisions => {
                // If the next hop has the packet and only ACKs were lost, it is not a loss.
                let moved_on = self.packets.has_reached_next_hop(copy);
                let found = self.packets.get(copy).copied();
                if self.routes.are_found() && outcome == Outcome::RetryLimit {
                    self.on_routing_undelivered((node, port), msdu.to, found.as_ref(), now);
                }
                let sent = self.packets.copy(copy).copied();
                if let (Some(packet), Some(sent), false) = (found, sent, moved_on) {
                    self.drop_packet(node, copy, drop_reason::RETRY_LIMIT, now);
                    if packet.is_tcp() && packet.source == node {
                        self.segment_given_up(&sent, now);
                    }
                } else {
                    self.packets.release(copy);
                }
            }
        }
        // A sender of this node may have been waiting for this packet.
        if self.backpressure.limits_tcp
            && let Some(connection) =
                self.backpressure.count_out_of_mac(self.interfaces.port_of(port, msdu.category), msdu.packet)
        {
            self.send_segments(connection, now);
        }
    }

    /// Counts a packet that the MAC has finished for the meters of its station.
    #[inline(never)]
    fn count_finished(
        &mut self,
        (station, air): (StationIx, &Air),
        msdu: &Msdu,
        outcome: Outcome,
        now: Time,
    ) {
        let acknowledged = outcome == Outcome::Delivered;
        let ended = self.hosts.uses.on_finished(station, msdu.packet.0, (msdu.bytes, acknowledged), now);
        if let Some(finished) = ended {
            let port = self.interfaces.of_station(station).1;
            self.interfaces.link_finished(self.interfaces.port_of(port, msdu.category), finished, now);
        }
        if !self.hosts.links.has(station) {
            return;
        }
        let frames = air.data_frames(station, msdu.category);
        let frames = self.attempts.of_finished(station, msdu.category, frames);
        if !msdu.control && msdu.to != BROADCAST {
            let neighbour = self.interfaces.id(self.interfaces.of_station(msdu.to).0);
            let finished =
                FinishedPacket { neighbour, attempts: frames as u32, acknowledged, bytes: msdu.bytes };
            self.hosts.links.on_finished(station, &finished);
        }
        if self.hosts.frames.any() {
            self.count_control(msdu, frames, air.framing(station));
        }
    }

    /// True if a packet that leaves a queue has a header that the port's hop has written, in a network whose agents hear headers. Stores
    /// the destination of the packet, as for packets that the queue labels.
    #[cold]
    #[inline(never)]
    fn has_header_for_agents(&mut self, port: PortIx, copy: CopyRef) -> bool {
        let found = self.packets.packet_and_copy(copy).filter(|_| self.rules.agents_hear);
        let Some((destination, kind)) = found.map(|(packet, at)| (packet.bound_for, at.header)) else {
            return false;
        };
        let written = self.interfaces.hop_writes(port, kind);
        if written {
            self.packets.note_destination(copy, destination);
        }
        written
    }

    /// Notifies a port's queue of a packet that the MAC has finished.
    #[cold]
    fn notify_finished(&mut self, port: PortIx, copy: CopyRef) {
        if self.interfaces.wants(port, Capability::Finished) {
            self.interfaces.finished(port, PacketId(copy.place() as u32));
        }
    }

    /// Handles a packet that a station has received.
    fn on_received(&mut self, station: StationIx, copy: CopyRef, from: StationIx, now: Time) {
        let Some(packet) = self.packets.get(copy) else { return };
        if packet.class == PacketClass::Control {
            let packet = *packet;
            self.control_received(station, (copy, &packet), from, now);
            return;
        }
        let destination = packet.destination;
        if self.rules.headers_heard {
            self.header_heard(station, copy, from, now);
        }
        let Some((copy, hops)) = self.packets.copy_to_next_hop(copy) else { return };
        if self.rules.processes_received && !self.process_received(station, copy, from, now) {
            return;
        }
        self.forward_from(self.interfaces.of_station(station).0, (destination, hops), copy, now);
    }

    /// A packet that a node has received, as schemes see it.
    fn received_packet(
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
            enqueued: now,
        }
    }

    /// Processes a packet received for this node: it may be lost by `packet_loss`; routing learns its sender, counters include it, and the
    /// interface's AQM passes, marks or drops it. Returns false if the packet has ended.
    #[inline(never)]
    fn process_received(&mut self, station: StationIx, copy: CopyRef, from: StationIx, now: Time) -> bool {
        let (node, port) = self.interfaces.of_station(station);
        if self.packet_losses.draw_loss(station) {
            self.drop_packet(node, copy, drop_reason::PACKET_LOSS, now);
            return false;
        }
        self.routes.note_sender(port, self.interfaces.of_station(from).0);
        let Some((&packet, &PacketCopy { ecn, .. })) = self.packets.packet_and_copy(copy) else {
            return false;
        };
        if let Payload::Foreign(foreign) = packet.payload {
            self.outside.receive(foreign, port);
        }
        self.hosts.uses.on_received(station, packet.bytes);
        if !self.interfaces.wants_received(port) {
            return true;
        }
        let received = self.received_packet(copy, (&packet, ecn), node, now);
        let verdict = self.interfaces.receive(port, &received, self.packets.carried_header(copy), now);
        self.apply_verdict(verdict, port, copy, now)
    }
}

/// Wired links.
impl Network {
    /// Offers a packet that a radio has brought to a wire that keeps its own queue.
    #[inline(never)]
    fn enqueue_at_wire(&mut self, wire: WireIx, copy: CopyRef, now: Time) {
        let Some(packet) = self.packets.get(copy) else { return };
        self.offer_to_wire(wire, OfferedPacket::of(packet, copy), now);
    }

    /// Offers a packet of this node to a wire that keeps its own queue.
    #[inline(always)]
    pub(super) fn offer_to_wire(&mut self, wire: WireIx, offer: OfferedPacket, now: Time) {
        let due = self.send_on_wire(wire, &offer, now);
        self.schedule.add_if(due);
    }

    /// Sends a packet by a wire that keeps its own queue; without room there it is dropped. Returns its arrival event, if no other packet
    /// arrives before it.
    #[inline(always)]
    fn send_on_wire(&mut self, wire: WireIx, offer: &OfferedPacket, now: Time) -> Option<ScheduledEvent> {
        if self.rules.hops_at_wires {
            self.pass_hop_of_wire(wire, offer, now);
        }
        match self.links.offer(wire, offer, now) {
            OfferResult::Accepted(due) => due,
            OfferResult::Full => {
                self.drop_at(self.links.port(wire), offer.packet, DropReason::QUEUE_FULL.0, now);
                None
            }
        }
    }

    /// Lets the hop of a scheme handle a packet on its way to a wire that keeps its own queue.
    #[inline(never)]
    fn pass_hop_of_wire(&mut self, wire: WireIx, offer: &OfferedPacket, now: Time) {
        let backlog = self.links.backlog(wire, now).unwrap_or_default();
        let Some(packet) = self.packets.get(offer.packet) else { return };
        let bytes = packet.bytes + self.rules.headers.wired;
        let passage = Passage { bytes, flow: packet.scheme_flow, class: packet.class, backlog };
        let carried = self.packets.carried_header(offer.packet);
        self.interfaces.pass_hop(self.links.port(wire), &passage, carried, now);
    }

    /// Serves a wire: if it is idle, it sends the next packet of its port's queue; otherwise schedules an event for the time at which it is
    /// free.
    fn serve_wire(&mut self, wire: WireIx, agenda: &mut Agenda) {
        let (now, port) = (agenda.now, self.links.port(wire));
        if !self.links.is_idle(wire, now) {
            agenda.push_if(self.links.wake(wire));
            return;
        }
        if let Some(offer) = self.next_control_on_wire(port, now) {
            agenda.push_if(self.links.send(wire, &offer, now, now));
            agenda.push_if(self.links.wake(wire));
            return;
        }
        let Some(DequeuedPacket { copy, queued, payload, of_local_tcp }) = self.dequeue_or_notify(port, now)
        else {
            return;
        };
        let offer = OfferedPacket { packet: copy, bytes: queued.bytes, has_payload: payload > 0 };
        agenda.push_if(self.links.send(wire, &offer, queued.enqueued, now));
        if of_local_tcp {
            self.on_sent_by_wire(wire, copy, now);
        }
        self.resume_waiting_sources(port, now);
        if self.interfaces.view(port).packets > 0 {
            agenda.push_if(self.links.wake(wire));
        }
    }

    pub(super) fn wire_free(&mut self, wire: WireIx, agenda: &mut Agenda) {
        let FreeWire { port, keeps_queue } = self.links.on_free(wire);
        if !keeps_queue {
            self.serve_wire(wire, agenda);
            return;
        }
        let now = agenda.now;
        self.resume_waiting_sources(port, now);
        if self.backpressure.has_waiting(port) {
            self.schedule.add_if(self.links.wake_at_departure(wire, now));
        }
    }

    pub(super) fn wire_arrival(&mut self, wire: WireIx, agenda: &mut Agenda) {
        let now = agenda.now;
        let (end, due) = self.links.on_arrival(wire);
        agenda.push_if(due);
        let Some(WireEnd { packet: copy, node, lost, onward }) = end else { return };
        if lost {
            self.drop_packet(self.links.far_end(opposite(wire)), copy, drop_reason::WIRE_LOSS, now);
            return;
        }
        if self.routes.are_found() {
            self.on_routed_arrival(wire, copy, now);
            return;
        }
        let Some((packet, at)) = self.packets.packet_and_copy_mut(copy) else { return };
        at.hops += 1;
        let (destination, hops) = (packet.destination, at.hops);
        let offer = OfferedPacket::of(packet, copy);
        // The common case of a router: from wire to wire directly.
        if destination != node
            && hops < self.rules.hop_limit
            && let Some(onward) = match onward {
                Some((to, onward)) if to == destination => Some(onward),
                _ => self.find_next_wire(wire, destination),
            }
        {
            agenda.push_if(self.send_on_wire(onward, &offer, now));
            return;
        }
        self.forward_from(node, (destination, hops), copy, now);
    }

    /// The wire with its own queue by which packets of a wire continue to a destination: usually the wire of the last packet.
    #[inline(never)]
    fn find_next_wire(&mut self, wire: WireIx, destination: NodeIx) -> Option<WireIx> {
        let node = self.links.far_end(wire);
        let onward = self
            .routes
            .next_hop(node, destination)
            .and_then(|hop| self.interfaces.wire_with_queue(hop.port, &self.links))?;
        self.links.note_onward(wire, destination, onward);
        Some(onward)
    }

    /// Changes the rate of both directions of a link.
    #[inline(never)]
    pub(super) fn on_rate_change(&mut self, link: u32, rate: Rate) {
        for port in self.links.on_rate_change(link, rate) {
            self.interfaces.set_rate(port, rate);
        }
    }
}
