//! Flows that forwarders carry: their packets at the source, broadcasts that are made when access is won, and their end at the destination.

use airfair_host::MessageIx;
use airfair_schemes::places::{DeliveryRatios, DropReason, ForwarderEffects, Made, NativePacket, SendRate};
use airfair_units::Time;

use crate::air::{Air, BROADCAST, Msdu};
use crate::engine::Agenda;
use crate::ids::{CopyRef, FlowIx, LinkRef, NodeIx, PortIx, StationIx, Table};
use crate::node::Network;
use crate::packet::{Packet, PacketCopy, Payload};
use crate::record::Record;

/// Size of the frames of which forwarders learn delivery ratios, as IP packets, bytes.
const RATIOS_BYTES: u32 = 1500;

/// Packets of flows at their sources.
impl Network {
    /// Tells the forwarders the delivery ratios of the network, those that want them.
    pub(super) fn start_forwarders(&mut self, air: &Air) {
        if !self.forwarders.stations().any(|(_, at)| at.wants_ratios) {
            return;
        }
        let mut stations: Vec<_> =
            self.forwarders.stations().map(|(station, at)| (station, at.node)).collect();
        stations.sort_unstable_by_key(|&(_, node)| self.routes.name_order(node));
        let nodes: Vec<_> = stations.iter().map(|&(_, node)| self.interfaces.id(node)).collect();
        let mut places: Table<StationIx, usize> = air.stations().map(|_| usize::MAX).collect();
        (0..).zip(&stations).for_each(|(place, &(station, _))| places[station] = place);
        let links = stations.iter().flat_map(|&(from, _)| {
            let deliveries = air.deliveries(from, RATIOS_BYTES);
            deliveries.map(|(to, ratio)| (places[from], places[to], ratio)).collect::<Vec<_>>()
        });
        let ratios = DeliveryRatios::new(nodes, links);
        for &(station, _) in &stations {
            if self.forwarders.at(station).is_none_or(|at| !at.wants_ratios) {
                continue;
            }
            let Self { agents, schedule, .. } = self;
            agents.forward(station, Time::ZERO, schedule, |forwarder, context| {
                forwarder.on_delivery_ratios(&ratios, context);
            });
            self.apply_forwarder_effects(station, Time::ZERO);
        }
    }

    /// The port of the forwarder that takes the packets of a flow; none if routes carry the flow.
    pub(super) fn forwarder_port(&self, flow: FlowIx) -> Option<PortIx> {
        self.forwarders.at(self.forwarders.source_of(flow)?).map(|at| at.port)
    }

    /// True if as many packets of a flow wait for its forwarder as its port's queue may hold.
    #[cold]
    pub(super) fn waits_for_forwarder(&self, flow: FlowIx, port: PortIx) -> bool {
        self.forwarders.waiting(flow) >= self.interfaces.view(port).limit_packets as usize
    }

    /// Hands a flow's packet to the forwarder of its source, where it waits until that takes it. Returns false if routes carry the flow.
    #[inline(never)]
    pub(super) fn forward_own(&mut self, flow: FlowIx, copy: CopyRef, now: Time) -> bool {
        let Some(port) = self.forwarder_port(flow) else { return false };
        if self.waits_for_forwarder(flow, port) {
            self.drop_packet(self.flows[flow].from, copy, DropReason::QUEUE_FULL.0, now);
            return true;
        }
        self.forwarders.wait(flow, copy);
        if self.feed(flow, now)
            && let Some(station) = self.forwarders.source_of(flow)
        {
            self.contend_if_ready(station, now);
        }
        true
    }

    /// Gives a flow's forwarder the packets that wait, as long as it takes some. Returns true if it has taken one.
    fn feed(&mut self, flow: FlowIx, now: Time) -> bool {
        let Some(station) = self.forwarders.source_of(flow) else { return false };
        let (id, to) = (self.flows[flow].id, self.interfaces.id(self.flows[flow].to));
        let mut fed = false;
        while self.agents.query_forwarder(station, |forwarder| forwarder.room(id, to)).unwrap_or(0) > 0
            && let Some((copy, number)) = self.forwarders.take(flow)
        {
            fed = true;
            let bytes = self.packets.get(copy).map_or(0, |packet| packet.bytes);
            self.packets.leave_source(copy);
            self.backpressure.count_flow_left(flow);
            let packet = NativePacket { flow: id, to, number, bytes };
            let Self { agents, schedule, .. } = self;
            agents
                .forward(station, now, schedule, |forwarder, context| forwarder.on_packet(&packet, context));
            self.carry_out_forwarder(station, now);
        }
        fed
    }

    /// A forwarder may have become ready, or have room for packets that wait at its node.
    #[inline(never)]
    pub(super) fn forwarder_changed(&mut self, station: StationIx, now: Time) {
        let Some(at) = self.forwarders.at(station) else { return };
        let port = at.port;
        let mut fed = false;
        let mut place = 0;
        while let Some(flow) = self.forwarders.own(station, place) {
            fed |= self.forwarders.waiting(flow) > 0 && self.feed(flow, now);
            place += 1;
        }
        if fed {
            self.resume_waiting_sources(port, now);
        }
        self.contend_if_ready(station, now);
    }

    /// Lets a station contend whose forwarder has something to send.
    fn contend_if_ready(&mut self, station: StationIx, now: Time) {
        if self.forwarders.at(station).is_some_and(|at| !at.contends) && self.is_ready(station, now) {
            self.schedule.mark_ready(LinkRef::Station(station));
        }
    }

    fn is_ready(&mut self, station: StationIx, now: Time) -> bool {
        self.agents.query_forwarder(station, |forwarder| forwarder.ready(now)).flatten().is_some()
    }

    /// Applies the effects that a forwarder's hook has requested; then it may have become ready, or have room.
    fn apply_forwarder_effects(&mut self, station: StationIx, now: Time) {
        self.carry_out_forwarder(station, now);
        self.forwarder_changed(station, now);
    }

    /// [`Network::apply_forwarder_effects`] without regard to what the forwarder can do afterwards.
    fn carry_out_forwarder(&mut self, station: StationIx, now: Time) {
        let effects = self.agents.take_forwarder_effects();
        let Some(node) = self.forwarders.at(station).map(|at| at.node) else { return };
        if let Some(hook) = effects.checked {
            self.forwarders.check(node, hook, &effects);
        }
        let ForwarderEffects { delivered, holds, whole, routed, .. } = effects;
        for holding in holds {
            let Some((flow, to)) = self.forwarders.of_number(holding.flow) else { continue };
            if to == node {
                self.forwarders.count_innovative(flow, now);
            }
            if self.records.are_enabled() {
                self.records.push(now, Record::Held { node, flow, holding });
            }
        }
        for (flow, number) in delivered {
            if let Some((flow, _)) = self.forwarders.of_number(flow).filter(|&(_, to)| to == node)
                && let Some(copy) = self.forwarders.remove(flow, number)
            {
                self.deliver(node, copy, now);
            }
        }
        for (flow, batch) in whole {
            if let Some((flow, _)) = self.forwarders.of_number(flow).filter(|&(_, to)| to == node) {
                self.forwarders.count_whole(flow, batch, now);
            }
        }
        for (flow, number) in routed {
            if let Some((flow, to)) = self.forwarders.of_number(flow).filter(|&(_, to)| to != node) {
                self.send_routed_copy(node, (flow, to, number), now);
            }
        }
        self.carry_out_agent(station, now);
    }

    /// Sends what a forwarder passes to ordinary routing, if the packet has not ended.
    fn send_routed_copy(&mut self, node: NodeIx, (flow, to, number): (FlowIx, NodeIx, u32), now: Time) {
        let held = self.forwarders.taken(flow, number).and_then(|copy| self.packets.get(copy));
        let Some(&Packet { scheme_flow, length, bytes, .. }) = held else { return };
        let payload = Payload::Routed { flow, number };
        let packet = Packet { scheme_flow, bytes, ..Packet::control(node, to, payload, length, now) };
        let copy = self.packets.add(packet, PacketCopy::PLAIN);
        self.routes.find_fixed(node, to);
        self.forward(node, copy, now);
    }

    /// Tells the forwarder of a flow's destination that a packet has arrived by ordinary routing.
    #[cold]
    pub(super) fn routed_arrived(&mut self, node: NodeIx, (flow, number): (FlowIx, u32), now: Time) {
        let Some(station) = self.forwarders.of_node(node) else { return };
        let id = self.flows[flow].id;
        let Self { agents, schedule, .. } = self;
        agents.forward(station, now, schedule, |forwarder, context| forwarder.on_routed(id, number, context));
        self.apply_forwarder_effects(station, now);
    }
}

/// Broadcasts of forwarders.
impl Network {
    /// The next packet of a station without categories: its queue and its forwarder take turns. Of the forwarder it is a place in the MAC,
    /// for the broadcast that is made when access is won.
    #[inline(never)]
    pub(super) fn turn_of_forwarder(
        &mut self,
        (station, port): (StationIx, PortIx),
        now: Time,
    ) -> Option<Msdu> {
        let can_send =
            self.forwarders.at(station).is_some_and(|at| !at.contends) && self.is_ready(station, now);
        let is_next = self.forwarders.at(station).is_some_and(|at| at.is_next);
        let queued = if can_send && is_next { None } else { self.queued_msdu((station, port), port, now) };
        // A node may have another scheme, without a forwarder.
        let Some(at) = self.forwarders.at_mut(station) else { return queued };
        at.is_next = queued.is_some();
        if queued.is_some() || !can_send {
            return queued;
        }
        at.contends = true;
        Some(Msdu::to_be_made(0))
    }

    /// Gives a station with categories a place in its MAC for a forwarder's broadcast, in the category of its priority.
    #[inline(never)]
    pub(super) fn place_in_category(&mut self, station: StationIx, air: &mut Air, now: Time) {
        let Some(at) = self.forwarders.at(station).filter(|at| !at.contends) else { return };
        let port = at.port;
        let ready = self.agents.query_forwarder(station, |forwarder| forwarder.ready(now)).flatten();
        let Some(priority) = ready else { return };
        let highest = self.interfaces.categories(port).map_or(0, |of| of.count.saturating_sub(1));
        let category = priority.0.min(highest);
        if air.free_places_of(station, category) > 0 {
            air.hand_down(station, Msdu::to_be_made(category));
            self.forwarders.at_mut(station).into_iter().for_each(|at| at.contends = true);
        }
    }

    /// A station may send now: its forwarder makes the broadcast.
    #[inline(never)]
    pub(super) fn on_access(&mut self, (station, air): (StationIx, &mut Air), agenda: &mut Agenda) {
        let now = agenda.now;
        let Some(at) = self.forwarders.at_mut(station) else { return };
        at.contends = false;
        let node = at.node;
        let Self { agents, schedule, .. } = self;
        let made = agents.forward(station, now, schedule, |forwarder, context| forwarder.make(context));
        match made.flatten().filter(|made| !made.header.is_empty()) {
            Some(made) => {
                let msdu = self.broadcast((station, node), made, now);
                air.send_made(station, msdu, agenda);
            }
            None => air.send_nothing(station, agenda),
        }
        self.apply_forwarder_effects(station, now);
        self.schedule.mark_ready(LinkRef::Station(station));
    }

    /// The broadcast that a forwarder has made, for the MAC.
    fn broadcast(&mut self, (station, node): (StationIx, NodeIx), made: Made, now: Time) -> Msdu {
        let length = made.header.len() as u32 + made.content;
        let header = self.agents.add_made(station, made.header);
        let flow = self.forwarders.of_number(made.flow).map(|(flow, _)| flow);
        self.forwarders.count_made(header, flow, made.batch, now);
        let payload = Payload::Forwarded(header);
        let packet = Packet::control(node, NodeIx::EVERYONE, payload, length, now);
        let copy = self.packets.add(packet, PacketCopy::PLAIN);
        Msdu {
            packet: self.packets.packet_of(copy),
            copy,
            bytes: length,
            to: BROADCAST,
            category: 0,
            overhear: false,
            control: false,
            report: false,
            rate: SendRate::Data,
            louder: 0,
        }
    }

    /// Handles a broadcast of a forwarder that a station has received.
    #[inline(never)]
    pub(super) fn broadcast_heard(
        &mut self,
        station: StationIx,
        (from, message, bytes): (NodeIx, MessageIx, u32),
        now: Time,
    ) {
        if self.forwarders.at(station).is_none() {
            return;
        }
        let from = self.interfaces.id(from);
        let Self { agents, schedule, .. } = self;
        agents.on_heard(station, (from, message, bytes), now, schedule);
        self.apply_forwarder_effects(station, now);
    }
}
