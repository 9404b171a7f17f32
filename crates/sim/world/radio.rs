//! Between the data plane and the MACs of radios: packets that a MAC takes, those that it has finished, and broadcasts of forwarders, made
//! when access is won.

use airfair_host::{FinishedPacket, SentPacket, forwarders, forwarders::Turn};
use airfair_routing::SendRate as RoutingRate;
use airfair_schemes::places::{Capability, Made, PacketClass, PacketId, SendRate, Transmit};
use airfair_units::Time;

use super::sources;
use crate::air::{Air, BROADCAST, Indication, Msdu, Outcome};
use crate::engine::Agenda;
use crate::ids::{CopyRef, LinkRef, NodeIx, PortIx, StationIx};
use crate::node::Network;
use crate::node::plane::accounts::drop_reason;
use crate::node::plane::interfaces::Ahead;
use crate::node::plane::messages::InTransit;
use crate::node::plane::{DataPlane, DequeuedPacket, Leaves};
use crate::packet::{CarriedSegment, Packet, PacketCopy, Payload};

/// Rate, and power above the radio's own, of a packet without a choice of its own.
#[inline(always)]
fn transmit_to(to: StationIx) -> (SendRate, i16) {
    (if to == BROADCAST { SendRate::Broadcast } else { SendRate::Data }, 0)
}

impl Network {
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
    pub(super) fn fill_mac(&mut self, station: StationIx, air: &mut Air, agenda: &mut Agenda) {
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
        let port = self.plane.interfaces.of_station(station).1;
        loop {
            let DataPlane { interfaces, packets, .. } = &mut self.plane;
            let category = |copy: CopyRef| packets.get(copy).map_or(0, |packet| packet.dscp);
            let of_dscp = interfaces.categories(port).map_or([0; 64], |of| of.of_dscp);
            let category = |copy: CopyRef| of_dscp[usize::from(category(copy)) % of_dscp.len()];
            let has_room = |copy: CopyRef| air.free_places_of(station, category(copy)) > 0;
            let Some(waited) = interfaces.pop_ahead_if(port, has_room) else { break };
            let category = category(waited.copy);
            if let Some(msdu) = self.ahead_msdu((station, port), waited, now) {
                air.hand_down(station, Msdu { category, ..msdu });
            }
        }
        let Some(of) = self.plane.interfaces.categories(port) else { return };
        if of.ports.is_empty() {
            let by_priority = of.by_priority;
            while let Some(category) = self.category_with_room(station, port, air, now)
                && let Some(dequeued) = self.dequeue_first(port, now)
            {
                if let Some(DequeuedPacket { queued, .. }) = &dequeued
                    && by_priority
                    && queued.labelled
                {
                    self.plane.differentials.count_level(port, queued.next_hop, category);
                }
                // Behind a packet that is dropped may be one of another category.
                if let Some(msdu) = dequeued.and_then(|it| self.fresh_msdu((station, port), port, it, now)) {
                    air.hand_down(station, Msdu { category, ..msdu });
                }
            }
            if self.plane.rules.queues_wait {
                self.plane.interfaces.arm(port, now, &mut self.plane.schedule);
            }
            return;
        }
        for category in (0..of.count).rev() {
            let queue = self.plane.interfaces.port_of(port, category);
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
        let head = self.plane.interfaces.head(port, instead, now);
        self.plane.handle_queue_effects(port, now);
        self.settle(now);
        if head.is_none() && self.plane.interfaces.pipeline(port).view().packets == 0 {
            // By drops at its head: no packet has left.
            self.endpoints.on_queue_emptied(&mut self.plane, port, now);
        }
        let (packet, by_priority) = head?;
        let by_dscp = || {
            let packet = self.plane.packets.get(self.plane.packets.at(packet.id.0))?;
            Some(self.plane.interfaces.category(port, packet.dscp))
        };
        by_priority.or_else(by_dscp)
    }

    /// Dequeues the next packet of a station for its MAC, if there is one.
    fn next_msdu(&mut self, station: StationIx, now: Time) -> Option<Msdu> {
        let port = self.plane.interfaces.of_station(station).1;
        if let Some(waited) = self.plane.interfaces.pop_ahead(port) {
            return self.ahead_msdu((station, port), waited, now);
        }
        if self.hosts.forwarders.any() {
            return self.turn_of_forwarder((station, port), now);
        }
        self.queued_msdu((station, port), port, now)
    }

    /// Dequeues the next packet from a queue of a station's port: that of `queue`.
    #[inline(always)]
    fn queued_msdu(
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
        let DequeuedPacket { copy, queued, payload, leaves } = dequeued;
        let of_local_tcp = leaves == Leaves::Tcp;
        let node = self.plane.interfaces.node(port);
        if self.plane.routes.are_found()
            && !self.plane.interfaces.pipeline(queue).wants(Capability::Routes)
            && self.plane.routes.is_stale((node, port), queued.next_hop, queued.enqueued)
        {
            if of_local_tcp && let Some(copy) = self.plane.packets.copy_mut(copy) {
                copy.at_source = true;
            }
            self.plane.drop_packet(node, copy, drop_reason::LINK_BREAK, now);
            self.settle(now);
            sources::resume(self, queue, now);
            return None;
        }
        sources::resume(self, queue, now);
        let packet = self.plane.packets.packet_of(copy);
        if of_local_tcp {
            let connection = self.plane.packets.connection(packet);
            self.endpoints.backpressure.count_in_mac(queue, packet, connection, payload);
        }
        let to = self.plane.interfaces.peer(port, queued.next_hop).unwrap_or(BROADCAST);
        let is_control = queued.class == PacketClass::Control;
        let overhear = is_control
            || self.plane.rules.headers_heard && (queued.labelled || self.has_header_for_agents(queue, copy));
        if self.plane.rules.counts_finished && !is_control {
            let of_flow = (queued.flow, queued.class);
            self.plane.meters.uses.on_dequeued(station, packet.0, of_flow, queued.enqueued, now);
        }
        let (bytes, control) = (queued.bytes, is_control);
        let (rate, power_offset) = if is_control { self.transmit_of(copy, to) } else { transmit_to(to) };
        Some(Msdu {
            copy,
            packet,
            bytes,
            to,
            category: 0,
            overhear,
            control,
            report: false,
            rate,
            power_offset,
        })
    }

    /// Hands a packet that has waited ahead of a station's queue down to the MAC.
    fn ahead_msdu(&mut self, (station, port): (StationIx, PortIx), waited: Ahead, now: Time) -> Option<Msdu> {
        let (packet, copy) = (self.plane.depart_ahead(port, waited, now)?, waited.copy);
        let to = self.plane.interfaces.peer(port, self.plane.interfaces.id(waited.next)).unwrap_or(BROADCAST);
        let (of, overhear) = (self.plane.packets.packet_of(copy), packet.is_message());
        if self.plane.rules.counts_finished && packet.class != PacketClass::Control {
            let of_flow = (packet.scheme_flow, packet.class);
            self.plane.meters.uses.on_dequeued(station, of.0, of_flow, waited.since, now);
        }
        let (rate, power_offset) = self.transmit_of(copy, to);
        let (bytes, control) = (packet.bytes, packet.class == PacketClass::Control);
        let report = matches!(packet.payload, Payload::Report { .. });
        Some(Msdu { copy, packet: of, bytes, to, category: 0, overhear, control, report, rate, power_offset })
    }

    /// Handles a packet that the MAC has finished.
    fn on_mac_finished(
        &mut self,
        (station, air): (StationIx, &Air),
        msdu: Msdu,
        outcome: Outcome,
        now: Time,
    ) {
        let ((node, port), copy) = (self.plane.interfaces.of_station(station), msdu.copy);
        if self.plane.rules.queues_label {
            self.notify_finished(self.plane.interfaces.port_of(port, msdu.category), copy);
        }
        if self.plane.rules.counts_finished {
            self.count_finished((station, air), &msdu, outcome, now);
        }
        match outcome {
            // Control packets that go no farther end here; the others are continued by the next hop's own copy.
            Outcome::Delivered => match self.plane.packets.finish_copy(copy).map(|packet| packet.class) {
                None => {}
                Some(PacketClass::Control) => self.plane.end_control(copy, now),
                Some(_) => {
                    self.plane.drop_packet(node, copy, drop_reason::TAKEN_FOR_DUPLICATE, now);
                    self.settle(now);
                }
            },
            Outcome::Broadcast => self.plane.schedule_release(node, copy, now),
            Outcome::RetryLimit | Outcome::InternalCollisions => {
                // If the next hop has the packet and only ACKs were lost, it is not a loss.
                let moved_on = self.plane.packets.has_reached_next_hop(copy);
                let found = self.plane.packets.get(copy).copied();
                if self.plane.routes.are_found() && outcome == Outcome::RetryLimit {
                    self.plane.on_routing_undelivered((node, port), msdu.to, found.as_ref(), now);
                    self.settle(now);
                }
                if let (Some(packet), false) = (found, moved_on) {
                    // Read before the packet ends, whose place may have another one then.
                    let sent =
                        self.plane.packets.copy(copy).filter(|_| packet.is_tcp() && packet.source == node);
                    let carried = sent.and_then(|sent| self.plane.packets.carried(sent));
                    self.plane.drop_packet(node, copy, drop_reason::RETRY_LIMIT, now);
                    self.settle(now);
                    if let Some(CarriedSegment { segment, connection, forward: true }) = carried {
                        self.endpoints.segment_given_up(&mut self.plane, (connection, segment.seq), now);
                    }
                } else {
                    self.plane.packets.release(copy);
                }
            }
        }
        // A sender of this node may have been waiting for this packet.
        if self.endpoints.backpressure.limits_tcp
            && let Some(connection) = self
                .endpoints
                .backpressure
                .count_out_of_mac(self.plane.interfaces.port_of(port, msdu.category), msdu.packet)
        {
            self.endpoints.send_segments(&mut self.plane, connection, now);
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
        let interfaces = &self.plane.interfaces;
        let next_hop = (msdu.to != BROADCAST).then(|| interfaces.id(interfaces.of_station(msdu.to).0));
        let packet = (msdu.bytes, next_hop, acknowledged);
        let ended = self.plane.meters.uses.on_finished(station, msdu.packet.0, packet, now);
        if let Some(finished) = ended {
            let port = self.plane.interfaces.of_station(station).1;
            let port = self.plane.interfaces.port_of(port, msdu.category);
            let pipeline = self.plane.interfaces.pipeline_mut(port);
            if pipeline.wants_access_times() {
                pipeline.link_finished(finished, now);
            }
        }
        if !self.plane.meters.links.has(station) && self.link_counts.is_none() {
            return;
        }
        let frames = air.data_frames(station, msdu.category);
        let frames = self.attempts.of_finished(station, msdu.category, frames);
        if !msdu.control && msdu.to != BROADCAST {
            if let Some(counts) = &mut self.link_counts {
                counts.count((station, msdu.to), (msdu.bytes, frames, acknowledged));
            }
            let neighbour = self.plane.interfaces.id(self.plane.interfaces.of_station(msdu.to).0);
            let finished =
                FinishedPacket { neighbour, attempts: frames as u32, acknowledged, bytes: msdu.bytes };
            self.plane.meters.links.on_finished(station, &finished);
        }
        if self.hosts.frames.any() {
            self.count_control(msdu, frames, air.framing(station));
        }
    }

    /// Counts a packet that the MAC has sent in this number of data frames, if it is a message or a report.
    #[inline(never)]
    fn count_control(&mut self, msdu: &Msdu, data_frames: u64, framing: u32) {
        let packet = match self.plane.packets.get(msdu.copy).map(|packet| packet.payload) {
            // Its packet ends where it arrives, before the MAC has finished.
            _ if msdu.report => SentPacket::Report,
            Some(Payload::Message(message)) => SentPacket::Message(self.plane.messages.start_of(message)),
            _ => return,
        };
        // Broadcasts are no data frames, and are sent once.
        let frames = if msdu.to == BROADCAST { 1 } else { data_frames };
        self.hosts.frames.count(packet, frames, [msdu.bytes, msdu.bytes + framing]);
    }

    /// True if a packet that leaves a queue has a header that the port's hop has written, in a network whose agents hear headers. Stores
    /// the destination of the packet, as for packets that the queue labels.
    #[cold]
    #[inline(never)]
    fn has_header_for_agents(&mut self, port: PortIx, copy: CopyRef) -> bool {
        let found = self.plane.packets.packet_and_copy(copy).filter(|_| self.plane.rules.agents_hear);
        let Some((destination, kind)) = found.map(|(packet, at)| (packet.bound_for, at.header)) else {
            return false;
        };
        let written = self.plane.interfaces.pipeline(port).hop_writes(kind);
        if written {
            self.plane.packets.note_destination(copy, destination);
        }
        written
    }

    /// Notifies a port's queue of a packet that the MAC has finished.
    #[cold]
    fn notify_finished(&mut self, port: PortIx, copy: CopyRef) {
        if self.plane.interfaces.pipeline(port).wants(Capability::Finished) {
            self.plane.interfaces.pipeline_mut(port).finished(PacketId(copy.place() as u32));
        }
    }

    /// Dequeues the next packet of a port; `Some(None)` if it is dropped.
    #[inline(always)]
    fn dequeue_first(&mut self, port: PortIx, now: Time) -> Option<Option<DequeuedPacket>> {
        let dequeued = self.plane.dequeue(port, now);
        self.settle(now);
        if let Some(Some(DequeuedPacket { leaves, .. })) = &dequeued {
            self.endpoints.on_departed(&self.plane, port, *leaves);
        }
        dequeued
    }

    /// Dequeues the next packet of a port; notifies waiting sources if there is none.
    pub(super) fn dequeue_or_notify(&mut self, port: PortIx, now: Time) -> Option<DequeuedPacket> {
        loop {
            match self.dequeue_first(port, now) {
                Some(Some(dequeued)) => return Some(dequeued),
                Some(None) => {}
                None => {
                    self.endpoints.on_queue_emptied(&mut self.plane, port, now);
                    if self.plane.rules.queues_wait {
                        self.plane.interfaces.arm(port, now, &mut self.plane.schedule);
                    }
                    return None;
                }
            }
        }
    }

    /// Rate of a packet, and its power above the radio's own, hundredths of a dB: of a broadcast those that its message has chosen.
    #[inline(never)]
    fn transmit_of(&self, copy: CopyRef, to: StationIx) -> (SendRate, i16) {
        match self.plane.packets.get(copy).map(|packet| packet.payload) {
            Some(Payload::Routing(message)) if to == BROADCAST => match self.plane.routes.rate(message) {
                RoutingRate::Broadcast => (SendRate::Broadcast, 0),
                RoutingRate::Data => (SendRate::Data, 0),
            },
            Some(Payload::Message(message)) if to == BROADCAST => {
                let transmit = self.plane.messages.get(message).and_then(|message| message.transmit);
                let Transmit { rate, power_offset } = transmit.unwrap_or_default();
                // Nearest; the conversion saturates.
                (rate, (power_offset.0 * 100.0 + 0.5_f64.copysign(power_offset.0)) as i16)
            }
            _ => transmit_to(to),
        }
    }

    /// The next packet of a station without categories: its queue and its forwarder take turns. Of the forwarder it is a place in the MAC,
    /// for the broadcast that is made when access is won.
    #[inline(never)]
    fn turn_of_forwarder(&mut self, (station, port): (StationIx, PortIx), now: Time) -> Option<Msdu> {
        let queued = |network: &mut Self| network.queued_msdu((station, port), port, now);
        Some(match forwarders::turn(self, station, queued, now)? {
            Turn::Queued(msdu) => msdu,
            Turn::Broadcast => Msdu::to_be_made(0),
        })
    }

    /// Gives a station with categories a place in its MAC for a forwarder's broadcast, in the category of its priority.
    #[inline(never)]
    fn place_in_category(&mut self, station: StationIx, air: &mut Air, now: Time) {
        let Some(priority) = forwarders::priority_of_next(self, station, now) else { return };
        let port = self.plane.interfaces.of_station(station).1;
        let highest = self.plane.interfaces.categories(port).map_or(0, |of| of.count.saturating_sub(1));
        let category = priority.0.min(highest);
        if air.free_places_of(station, category) > 0 {
            air.hand_down(station, Msdu::to_be_made(category));
            forwarders::contends(self, station);
        }
    }

    /// A station may send now: its forwarder makes the broadcast.
    #[inline(never)]
    fn on_access(&mut self, (station, air): (StationIx, &mut Air), agenda: &mut Agenda) {
        let now = agenda.now;
        if !self.hosts.forwarders.has(station) {
            return;
        }
        match forwarders::make(self, station, now) {
            Some(made) => {
                let msdu = self.broadcast(station, made, now);
                air.send_made(station, msdu, agenda);
            }
            None => air.send_nothing(station, agenda),
        }
        forwarders::made(self, station, now);
        self.plane.schedule.mark_ready(LinkRef::Station(station));
    }

    /// The broadcast that a forwarder has made, for the MAC.
    fn broadcast(&mut self, station: StationIx, made: Made, now: Time) -> Msdu {
        let length = made.header.len() as u32 + made.content;
        let batch = self.hosts.forwarders.of_number(made.flow).map(|(flow, _)| (flow, made.batch));
        let header = self.plane.messages.add(InTransit::header(station, made.header, batch));
        let payload = Payload::Forwarded(header);
        let node = self.plane.interfaces.of_station(station).0;
        let packet = Packet::control(node, NodeIx::EVERYONE, payload, length, now);
        let copy = self.plane.packets.add(packet, PacketCopy::PLAIN);
        Msdu {
            packet: self.plane.packets.packet_of(copy),
            copy,
            bytes: length,
            to: BROADCAST,
            category: 0,
            overhear: false,
            control: false,
            report: false,
            rate: SendRate::Data,
            power_offset: 0,
        }
    }
}
