//! Nodes above the MAC: ports with queues, routes, ARP, wired links, and the flows that start and end there.
//!
//! A *port* is an output interface of a node: a radio station or one direction of a wired link. Every packet that the
//! network makes ends in exactly one named place: delivered, dropped for a reason, or somewhere inside when the run ends.

mod agents;
mod arp;
mod build;
pub(crate) mod connections;
mod describe;
pub(crate) mod fault;
mod flows;
pub(crate) mod hops;
mod ids;
mod laws;
mod meter;
mod packet_loss;
mod placed;
mod results;
mod routing;
mod tcp;
pub(crate) mod watch;
mod wire;

pub(crate) use placed::Placed;

use std::collections::{BTreeMap, VecDeque};

use airfair_host::{Dequeued, HeaderKinds, Pipeline};
use airfair_schemes::places::{
    Ecn, Enqueued, FlowId, MarkReason, NodeId, Packet as QueuedPacket, PacketClass, PacketId, Verdict,
};
use airfair_units::{Span, Time};

use crate::air::{BROADCAST, Msdu, Outcome};
use crate::engine::Agenda;
pub(crate) use crate::event::class;
use crate::event::{Order, Schedule, What};
use crate::ids::{CopyRef, FlowIx, NodeIx, PacketRef, PortIx, StationIx, Table, WireIx};
use crate::link::Links;
use crate::measure::delays::Delays;
use crate::measure::files::Completion;
use crate::node::backpressure::Backpressure;
use crate::packet::{Copy, NO_FLOW, Packet, Packets, Payload};
use crate::record::{Content, Record, Records};
use crate::route::{NextHop, Routes};
use crate::spec::{ArpSpec, HeaderSpec};
use agents::Agents;
use arp::Neighbours;
use connections::Connections;
use fault::{Effects, Fault};
use flows::Flow;
use laws::Laws;
use meter::Meters;
use packet_loss::PacketLosses;

pub(crate) use describe::{Body, Described};
pub(crate) use meter::LinkTotals;

/// Reasons for drops that are the network's own.
pub mod drop_reason {
    /// The MAC gave up.
    pub const RETRY_LIMIT: &str = "retry-limit";
    /// No route to the destination.
    pub const NO_ROUTE: &str = "no-route";
    /// ARP was not answered.
    pub const ARP_FAILED: &str = "arp-failed";
    /// Too many packets waited for ARP.
    pub const ARP_QUEUE: &str = "arp-queue";
    /// Lost above the MAC that had acknowledged it.
    pub const PACKET_LOSS: &str = "packet-loss";
    /// Lost on a wired link.
    pub const WIRE_LOSS: &str = "wire-loss";
    /// After as many hops as IP's time to live it was not there.
    pub const HOP_LIMIT: &str = "hop-limit";
    /// Too many packets waited for routes.
    pub const ROUTE_QUEUE: &str = "route-queue";
    /// It has waited too long for a route.
    pub const ROUTE_WAIT: &str = "route-wait";
    /// It queued for a neighbour when the link to it broke.
    pub const LINK_BREAK: &str = "link-break";
    /// Acknowledged, but its receiver took it for one that it had already: the sequence numbers had wrapped round.
    pub const TAKEN_FOR_DUPLICATE: &str = "taken-for-duplicate";

    /// Whether it is none of these: an interface's queue, or what stands beside it, did not take the packet or threw it away.
    pub(crate) fn is_of_queue(reason: &str) -> bool {
        let others = [
            RETRY_LIMIT,
            NO_ROUTE,
            ARP_FAILED,
            ARP_QUEUE,
            PACKET_LOSS,
            WIRE_LOSS,
            HOP_LIMIT,
            ROUTE_QUEUE,
            ROUTE_WAIT,
            LINK_BREAK,
            TAKEN_FOR_DUPLICATE,
        ];
        !others.contains(&reason)
    }
}

/// What is behind a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    Station(u32),
    Wire(WireIx),
}

/// An output interface.
pub(crate) struct Port {
    pub node: u32,
    pub behind: Behind,
    /// What its scheme has put here.
    pub pipeline: Pipeline,
    /// Nodes that this port reaches, as schemes know them, with their stations; sorted. Where nodes move, those too that it has
    /// reached before.
    pub peers: Vec<(NodeId, u32)>,
    /// What has left the queue, and what of it before the end of the warm-up; a wire with its own queue counts for itself.
    pub totals: QueueTotals,
    pub warmup: QueueTotals,
    /// ARP's own packets, ahead of the queue.
    pub control: VecDeque<CopyRef>,
    pub neighbours: Neighbours,
}

/// What has left a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct QueueTotals {
    /// Packets.
    pub left: u64,
    /// The time that they have spent in it.
    pub waited_ns: u64,
}

impl Port {
    /// The station of a neighbour behind this port.
    fn peer(&self, node: NodeId) -> StationIx {
        self.peers.binary_search_by_key(&node, |p| p.0).map_or(BROADCAST, |i| StationIx(self.peers[i].1))
    }
}

/// A packet that was injected and has reached an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    /// When.
    pub at: Time,
    /// The number that `inject` was given.
    pub tag: u32,
    /// Why it was dropped; `None`: delivered.
    pub dropped: Option<&'static str>,
}

/// A packet that has left a queue.
struct Taken {
    copy: CopyRef,
    queued: QueuedPacket,
    payload: u32,
    /// A TCP sender of this node has sent it.
    of_local_tcp: bool,
}

/// A packet to inject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Injected {
    /// Source node.
    pub from: u32,
    /// Destination node.
    pub to: u32,
    /// Size as an IP packet.
    pub bytes: u32,
    /// The caller's number for it.
    pub tag: u32,
}

/// Everything above the MAC.
pub struct Net {
    headers: HeaderSpec,
    arp: ArpSpec,
    /// Most hops of a packet.
    hop_limit: u16,
    /// Ports of each node: a range.
    ports_of: Vec<(u32, u32)>,
    ports: Vec<Port>,
    port_of_station: Vec<u32>,
    node_of_station: Vec<u32>,
    /// The wires, and where the last packet of each has gone on by another wire: the destination and that wire. Routes do not change.
    pub(crate) links: Links,
    onward: Table<WireIx, Option<(u32, WireIx)>>,
    /// Hops stand at wires.
    hops_at_wires: bool,
    routes: Routes,
    node_ranks: Vec<u32>,
    /// The numbers by which schemes know nodes ([`ids`]).
    node_ids: Vec<u32>,
    flows: Vec<Flow>,
    laws: Laws,
    connections: Connections,
    /// Connections for files opened so far.
    opened: u32,
    /// Files that have ended, with their flows, if somebody wants them one by one.
    completions: Option<Vec<(usize, Completion)>>,
    packets: Packets,
    /// Packets marked, by reason.
    marks: BTreeMap<&'static str, u64>,
    drops: BTreeMap<&'static str, u64>,
    out: Effects,
    /// A hook has failed: the run is in error.
    pub(crate) fault: Option<Fault>,
    agents: Agents,
    kinds_of_header: HeaderKinds,
    /// Some AQM asks for received packets, they are counted, they may be lost, or routing wants to know where they came from.
    heeds_received: bool,
    packet_losses: PacketLosses,
    backpressure: Backpressure,
    meters: Meters,
    /// The run's scheme would act at other interfaces than those that there are.
    pub(crate) nowhere: bool,
    /// Stations and wires that may have something new to send.
    pub(crate) kicks: Vec<Behind>,
    /// The present event has left something in `kicks` or `pending`.
    pub(crate) unsettled: bool,
    /// Packets from outside that are still to come.
    injections: BTreeMap<u32, Injected>,
    injected: u32,
    injected_made: u64,
    injected_delivered: u64,
    outputs: Vec<Output>,
    measuring: bool,
    warmup: u64,
    end: u64,
    /// What has happened above the air, if somebody observes it.
    pub(crate) records: Records,
    schedule: Schedule,
}

/// A node, or everyone, as schemes know it.
#[inline(always)]
fn node_id(ids: &[u32], node: u32) -> NodeId {
    NodeId(ids.get(node as usize).copied().unwrap_or(agents::EVERYONE))
}

impl Net {
    /// A packet from outside enters, by its number.
    #[inline(never)]
    pub(crate) fn injection_due(&mut self, number: u32, now: u64) {
        if let Some(injected) = self.injections.remove(&number) {
            self.make_injected(injected, now);
        }
    }

    /// A station or wire may have something new to send: it is asked when the present event is done.
    fn want(&mut self, behind: Behind) {
        if let Behind::Wire(wire) = behind
            && self.links.wakes(wire)
        {
            return;
        }
        self.kicks.push(behind);
        self.unsettled = true;
    }

    /// An event is to come; it goes on the agenda when the present one is done.
    fn later(&mut self, time: u64, order: Order, what: What) {
        self.schedule.add(time, order, what);
        self.unsettled = true;
    }

    /// Puts what hooks asked for on the agenda.
    pub(crate) fn flush(&mut self, agenda: &mut Agenda) {
        for (time, order, what) in self.schedule.drain() {
            agenda.push(time, order, what);
        }
    }

    fn make_injected(&mut self, injected: Injected, now: u64) {
        self.injected_made += 1;
        let packet = Packet {
            created: now,
            payload: Payload::Foreign { tag: injected.tag },
            scheme_flow: NO_FLOW,
            source: injected.from,
            destination: injected.to,
            length: injected.bytes,
            bytes: injected.bytes,
            class: PacketClass::Data,
        };
        self.routes.need(NodeIx(injected.from), NodeIx(injected.to));
        let copy = self.packets.add(packet, Copy::PLAIN);
        self.forward(injected.from, copy, now);
    }

    /// A node as schemes know it.
    #[inline(always)]
    fn node_id(&self, node: u32) -> NodeId {
        node_id(&self.node_ids, node)
    }

    fn static_hop(&self, node: u32, destination: u32) -> Option<NextHop> {
        self.routes.fixed_hop(NodeIx(node), NodeIx(destination))
    }

    /// The next hop as it is known now.
    fn next_hop(&self, node: u32, destination: u32) -> Option<NextHop> {
        self.routes.next_hop(NodeIx(node), NodeIx(destination))
    }

    /// The port by which packets of a source leave.
    fn port_towards(&self, node: u32, destination: u32) -> Option<u32> {
        let first = || {
            let (first, end) = self.ports_of[node as usize];
            (self.routes.are_found() && node != destination && first < end).then_some(first)
        };
        self.next_hop(node, destination).map(|hop| hop.port).or_else(first)
    }

    /// A packet is at a node: deliver it or send it on.
    fn forward(&mut self, node: u32, copy: CopyRef, now: u64) {
        let Some((packet, &Copy { hops, .. })) = self.packets.both(copy) else { return };
        self.go_on_from(node, (packet.destination, hops), copy, now);
    }

    /// The same for a packet to a destination that has gone so many hops.
    #[inline(always)]
    fn go_on_from(&mut self, node: u32, (destination, hops): (u32, u16), copy: CopyRef, now: u64) {
        if destination == node {
            self.deliver(node, copy, now);
            return;
        }
        if hops >= self.hop_limit {
            self.drop_packet(node, copy, drop_reason::HOP_LIMIT, now);
            return;
        }
        self.send_on(node, destination, copy, now);
    }

    /// A packet leaves a node towards another.
    fn send_on(&mut self, node: u32, destination: u32, copy: CopyRef, now: u64) {
        match self.static_hop(node, destination) {
            Some(hop) => self.offer(hop, copy, now),
            None => self.send_without_route(node, copy, now),
        }
    }

    /// Offers a packet to the queue of a port, unless its next hop's address has to be asked for first.
    fn offer(&mut self, hop: NextHop, copy: CopyRef, now: u64) {
        if matches!(self.ports[hop.port as usize].behind, Behind::Station(_))
            && !self.ports[hop.port as usize].neighbours.knows(hop.node)
        {
            self.arp_wait(hop, copy, now);
            return;
        }
        self.enqueue(hop, copy, now);
    }

    /// A packet of the node itself goes before all that queues.
    fn send_ahead(&mut self, port: u32, copy: CopyRef) {
        let port = &mut self.ports[port as usize];
        port.control.push_back(copy);
        let behind = port.behind;
        self.want(behind);
    }

    fn enqueue(&mut self, hop: NextHop, copy: CopyRef, now: u64) {
        if let Some(wire) = self.wire_with_queue(hop.port) {
            self.offer_to_wire(wire, copy, now);
            return;
        }
        let next_hop = self.node_id(hop.node);
        let Some((packet, at)) = self.packets.both_mut(copy) else { return };
        at.enqueued = now;
        let mut queued = QueuedPacket {
            id: PacketId(copy.place() as u32),
            flow: FlowId(packet.scheme_flow),
            destination: node_id(&self.node_ids, packet.destination),
            next_hop,
            bytes: packet.bytes,
            class: packet.class,
            ecn: at.ecn,
            enqueued: Time(now),
        };
        if self.ports[hop.port as usize].pipeline.judges()
            && !self.judge_arrival(hop.port, copy, &mut queued, now)
        {
            return;
        }
        let port = &mut self.ports[hop.port as usize];
        let (node, behind) = (port.node, port.behind);
        let enqueued = port.pipeline.store(queued, Time(now), &mut self.out.queue);
        self.queue_effects(hop.port, now);
        match enqueued {
            Enqueued::Stored => {}
            Enqueued::Refused(reason) => {
                self.drop_packet(node, copy, reason.0, now);
                return;
            }
            Enqueued::Displaced(other, reason) => {
                let other = self.packets.at(other.0);
                self.drop_at(hop.port, other, reason.0, now);
            }
        }
        self.want(behind);
    }

    /// A packet arrives at a port with a hop or an AQM, which may mark it. Whether it lives.
    #[inline(never)]
    fn judge_arrival(&mut self, port: u32, copy: CopyRef, queued: &mut QueuedPacket, now: u64) -> bool {
        let Self { ports, packets, kinds_of_header, .. } = self;
        let at = &mut ports[port as usize];
        let node = at.node;
        let verdict = at.pipeline.judge(queued, packets.carried_header(copy), kinds_of_header, Time(now));
        self.obey(verdict, node, copy, now)
    }

    /// Carries out a verdict on a packet at a node. Whether the packet lives.
    #[inline(always)]
    fn obey(&mut self, verdict: Verdict, node: u32, copy: CopyRef, now: u64) -> bool {
        match verdict {
            Verdict::Pass => {}
            Verdict::Mark(reason) => self.mark(copy, reason),
            Verdict::Echo(reason) => self.echo(copy, reason),
            Verdict::Drop(reason) => {
                self.drop_packet(node, copy, reason.0, now);
                return false;
            }
        }
        true
    }

    fn mark(&mut self, copy: CopyRef, reason: MarkReason) {
        if let Some(copy) = self.packets.copy_mut(copy) {
            copy.ecn = Ecn::Ce;
            *self.marks.entry(reason.0).or_insert(0) += 1;
        }
    }

    /// ECN-Echo is set in an acknowledgement on its way, whose connection has agreed on ECN: nobody else would read it.
    fn echo(&mut self, copy: CopyRef, reason: MarkReason) {
        let packet = self.packets.packet_of(copy);
        let connection = self.connections.get(self.packets.connection(packet));
        if connection.is_some_and(|c| c.sender.speaks_ecn()) && self.packets.echo(packet) {
            *self.marks.entry(reason.0).or_insert(0) += 1;
        }
    }

    /// Packets that a discipline has thrown away or marked by itself.
    #[inline(always)]
    fn queue_effects(&mut self, port: u32, now: u64) {
        if !self.out.queue.is_empty() {
            self.apply_queue_effects(port, now);
        }
    }

    #[inline(never)]
    fn apply_queue_effects(&mut self, port: u32, now: u64) {
        while let Some((id, reason)) = self.out.queue.dropped.pop() {
            self.drop_at(port, self.packets.at(id.0), reason.0, now);
        }
        while let Some((id, reason)) = self.out.queue.marked.pop() {
            self.mark(self.packets.at(id.0), reason);
        }
    }

    /// A packet for this node was received: unless it is lost, routing is told where it came from, it is counted, and its
    /// interface's AQM passes, marks or drops it. Whether it lives.
    #[inline(never)]
    fn look_at_received(&mut self, station: u32, copy: CopyRef, from: u32, now: u64) -> bool {
        if self.loses_received(station, copy, now) {
            return false;
        }
        self.note_sender(station, from);
        let Some((&packet, &Copy { ecn, .. })) = self.packets.both(copy) else { return false };
        self.meters.received(station, packet.bytes);
        let Self { ports, packets, node_ids, port_of_station, .. } = self;
        let port = &mut ports[port_of_station[station as usize] as usize];
        if !port.pipeline.wants_received() {
            return true;
        }
        let received = QueuedPacket {
            id: PacketId(copy.place() as u32),
            flow: FlowId(packet.scheme_flow),
            destination: node_id(node_ids, packet.destination),
            next_hop: node_id(node_ids, port.node),
            bytes: packet.bytes,
            class: packet.class,
            ecn,
            enqueued: Time(now),
        };
        let node = port.node;
        let verdict = port.pipeline.receive(&received, packets.carried_header(copy), Time(now));
        self.obey(verdict, node, copy, now)
    }

    /// A message reaches a node on its way to another.
    fn message_passes(&mut self, node: u32, copy: CopyRef, now: u64) {
        if let Some(next) = self.packets.pass_on(copy) {
            self.forward(node, next, now);
        }
    }

    /// A packet of ARP, of an agent or of routing has been sent by a node. Distant hearers receive it a little later: it lives on for a
    /// millisecond.
    fn release_later(&mut self, node: u32, copy: CopyRef, now: u64) {
        let order = Order::new(class::TIMER, self.node_ranks[node as usize]);
        self.later(now + 1_000_000, order, What::Release(copy));
    }

    /// A packet of ARP or of an agent has reached all that it will reach.
    pub(crate) fn end_control(&mut self, copy: CopyRef) {
        match self.packets.end(copy) {
            Some((packet, _)) => self.control_ended(&packet),
            None => self.packets.release(copy),
        }
    }

    /// The same, for one that is there no more.
    fn control_ended(&mut self, packet: &Packet) {
        if packet.is_message() {
            self.message_ended(packet);
        } else if packet.is_routing() {
            self.routes.end(packet.slot() as u32);
        }
    }

    /// A packet has reached its destination.
    fn deliver(&mut self, node: u32, copy: CopyRef, now: u64) {
        let Some((packet, ended)) = self.packets.end(copy) else { return };
        if let Payload::Foreign { tag } = packet.payload {
            self.injected_delivered += 1;
            self.outputs.push(Output { at: Time(now), tag, dropped: None });
        }
        if let Some(flow) = packet.flow() {
            let f = &mut self.flows[flow.ix()];
            f.delivered_total += 1;
            if packet.destination == f.to {
                f.hops = Some(ended.hops);
            }
            if !packet.is_tcp() && now <= f.stop {
                f.totals.delivered_packets += 1;
                f.totals.delivered_bytes += u64::from(packet.length);
                f.delays.add(now - packet.created);
            }
        }
        if self.records.are_wanted() {
            let delay = Span(now - packet.created);
            let (flow, packet, content, sequence) = self.recorded(&packet, &ended);
            let node = NodeIx(node);
            let record = Record::Delivered { node, flow, packet, content, sequence, delay };
            self.records.push(Time(now), record);
        }
        if ended.at_source {
            self.ends_at_source(&packet, &ended, now);
        }
        if packet.is_tcp() {
            self.tcp_arrived(&packet, &ended, copy, now);
        }
    }

    fn drop_packet(&mut self, node: u32, copy: CopyRef, reason: &'static str, now: u64) {
        // A message on its way to another node: whoever overhears the frame that has brought it here may do so a little later.
        if self.packets.both(copy).is_some_and(|(packet, copy)| copy.hops > 0 && packet.is_message()) {
            self.release_later(node, copy, now);
            return;
        }
        let Some((packet, ended)) = self.packets.end(copy) else { return };
        if packet.class == PacketClass::Control {
            self.control_ended(&packet);
            return;
        }
        *self.drops.entry(reason).or_insert(0) += 1;
        if let Payload::Foreign { tag } = packet.payload {
            self.outputs.push(Output { at: Time(now), tag, dropped: Some(reason) });
        }
        if let Some(flow) = packet.flow() {
            let f = &mut self.flows[flow.ix()];
            f.totals.dropped += u64::from(packet.class == PacketClass::Data && now <= f.stop);
            if ended.at_source {
                self.ends_at_source(&packet, &ended, now);
            }
        }
        if self.records.are_wanted() {
            let (flow, packet, content, sequence) = self.recorded(&packet, &ended);
            let node = NodeIx(node);
            let record = Record::Dropped { node, flow, packet, content, sequence, reason };
            self.records.push(Time(now), record);
        }
    }

    /// A packet that ends, as records show it.
    fn recorded(&self, packet: &Packet, copy: &Copy) -> (Option<FlowIx>, PacketRef, Content, u32) {
        let (content, sequence) = (self.packets.content(packet, copy), self.packets.sequence(packet, copy));
        (packet.flow(), copy.of, content, sequence)
    }

    /// The next packet of a port leaves its queue; if there is none, who waits for a departure is told.
    fn take_or_tell(&mut self, port: u32, now: u64) -> Option<Taken> {
        let taken = self.take(port, now);
        if taken.is_none() {
            self.emptied(port, now);
        }
        taken
    }

    /// The next packet of a port leaves its queue.
    fn take(&mut self, port: u32, now: u64) -> Option<Taken> {
        let pipeline = &mut self.ports[port as usize].pipeline;
        let (copy, queued) = if pipeline.judges() {
            self.take_judged(port, now)?
        } else {
            let queued = pipeline.pop(Time(now), &mut self.out.queue);
            self.queue_effects(port, now);
            let queued = queued?;
            (self.packets.at(queued.id.0), queued)
        };
        let waited_ns = now.saturating_sub(queued.enqueued.as_nanos());
        let (payload, of_local_tcp) = self.has_left(port, copy, waited_ns);
        Some(Taken { copy, queued, payload, of_local_tcp })
    }

    /// The same where a hop or an AQM stands: packets that it drops are passed over.
    #[inline(never)]
    fn take_judged(&mut self, port: u32, now: u64) -> Option<(CopyRef, QueuedPacket)> {
        loop {
            let at = &mut self.ports[port as usize];
            let node = at.node;
            let dequeued = at.pipeline.dequeue(Time(now), &mut self.out.queue);
            self.queue_effects(port, now);
            let Dequeued { packet: queued, verdict } = dequeued?;
            let copy = self.packets.at(queued.id.0);
            if !self.obey(verdict, node, copy, now) {
                continue;
            }
            let pipeline = &mut self.ports[port as usize].pipeline;
            if pipeline.wants_departures() {
                pipeline.depart(&queued, self.packets.carried_header(copy), Time(now));
            }
            return Some((copy, queued));
        }
    }

    /// A packet has left a port's queue, in which it has spent so much time. Returns its payload, and whether a TCP sender of the node
    /// has sent it.
    #[inline(always)]
    fn has_left(&mut self, port: u32, copy: CopyRef, waited_ns: u64) -> (u32, bool) {
        let totals = &mut self.ports[port as usize].totals;
        totals.left += 1;
        totals.waited_ns += waited_ns;
        let Some((packet, at)) = self.packets.both_mut(copy) else { return (0, false) };
        let (payload, carries) = (packet.length, packet.payload);
        if !std::mem::take(&mut at.at_source) {
            return (payload, false);
        }
        if let Payload::Udp { flow, .. } = carries {
            self.backpressure.flow_leaves(flow);
            if self.routes.are_found() {
                self.leaves_by(flow.0, port);
            }
        }
        (payload, matches!(carries, Payload::Tcp { .. }))
    }

    /// What is measured starts.
    #[inline(never)]
    pub(crate) fn warmed_up(&mut self, now: u64) {
        self.measuring = true;
        let totals = self.transport_totals();
        for (flow, transport) in self.flows.iter_mut().zip(totals) {
            flow.warmup = flow.totals(now);
            flow.warmup_transport = transport;
            flow.delays = Delays::default();
        }
        for port in 0..self.ports.len() {
            self.ports[port].warmup = self.queue_totals(port as u32, now);
        }
    }

    /// Puts a packet from outside on the agenda.
    pub(crate) fn inject(&mut self, injected: Injected, at: u64, agenda: &mut Agenda) {
        let number = self.injected;
        self.injected = self.injected.wrapping_add(1);
        self.injections.insert(number, injected);
        let rank = self.node_ranks[injected.from as usize];
        agenda.push(at, Order::new(class::TRAFFIC, rank), What::Inject(number));
    }

    /// Injected packets that have ended since the last call.
    pub(crate) fn drain_outputs(&mut self, into: &mut Vec<Output>) {
        into.append(&mut self.outputs);
    }
}

impl Net {
    /// The next packet of a station, if there is one; it leaves the queue.
    pub(crate) fn pull(&mut self, station: u32, now: u64) -> Option<Msdu> {
        let port = self.port_of_station[station as usize];
        if let Some(copy) = self.ports[port as usize].control.pop_front() {
            return self.hand_control(station, copy);
        }
        let mut taken = self.take_or_tell(port, now)?;
        while self.routes.are_found() && self.is_stale(station, &taken.queued) {
            let node = self.node_of_station[station as usize];
            if taken.of_local_tcp
                && let Some(copy) = self.packets.copy_mut(taken.copy)
            {
                copy.at_source = true;
            }
            self.drop_packet(node, taken.copy, drop_reason::LINK_BREAK, now);
            self.room(port, now);
            taken = self.take_or_tell(port, now)?;
        }
        self.room(port, now);
        let Taken { copy, queued, payload, of_local_tcp } = taken;
        let packet = self.packets.packet_of(copy);
        if of_local_tcp {
            let connection = self.packets.connection(packet);
            self.backpressure.enters_mac(PortIx(port), packet, connection, payload);
        }
        let to = self.ports[port as usize].peer(queued.next_hop);
        if self.meters.any() {
            self.meter_taken(station, packet, queued.class, queued.enqueued.as_nanos(), now);
        }
        let overhear = queued.class == PacketClass::Control;
        Some(Msdu { copy, packet, bytes: queued.bytes, to, overhear })
    }

    /// The MAC is done with a packet that it was given.
    pub(crate) fn finished(&mut self, station: u32, msdu: Msdu, outcome: Outcome, now: u64) {
        let (node, copy) = (self.node_of_station[station as usize], msdu.copy);
        if self.meters.any() {
            self.meter_ended(station, msdu.packet, msdu.bytes, outcome, now);
        }
        let moved_on = self.packets.has_moved_on(copy);
        match outcome {
            Outcome::Delivered => {
                // ARP's packets end here; others go on at the next hop, which has a copy already.
                match self.packets.get(copy).filter(|_| !moved_on).map(|packet| packet.class) {
                    Some(PacketClass::Control) => self.end_control(copy),
                    Some(_) => self.drop_packet(node, copy, drop_reason::TAKEN_FOR_DUPLICATE, now),
                    None => {}
                }
                self.packets.release(copy);
            }
            Outcome::Broadcast => {
                self.release_later(node, copy, now);
            }
            Outcome::RetryLimit => {
                // If the next hop has it and only the ACKs were lost, it is not a loss.
                let found = self.packets.get(copy).copied();
                if self.routes.are_found() {
                    self.routing_gives_up(station, msdu.to.0, found.as_ref(), now);
                }
                let sent = self.packets.copy(copy).copied();
                if let (Some(packet), Some(sent), false) = (found, sent, moved_on) {
                    self.drop_packet(node, copy, drop_reason::RETRY_LIMIT, now);
                    if packet.is_tcp()
                        && packet.source == node
                        && let Some(carried) = self.packets.carried(&sent)
                    {
                        self.tcp_link_drop(&carried, now);
                    }
                } else {
                    self.packets.release(copy);
                }
            }
        }
        if self.backpressure.limits_tcp {
            self.leaves_mac(station, msdu.packet, now);
        }
    }

    /// A packet has arrived for a station, once.
    pub(crate) fn received(&mut self, station: u32, copy: CopyRef, from: u32, now: u64) {
        let node = self.node_of_station[station as usize];
        let Some(packet) = self.packets.get(copy) else { return };
        if packet.class == PacketClass::Control {
            let packet = *packet;
            if packet.is_routing() {
                self.routing_received(station, &packet, from, now);
            } else if !packet.is_message() {
                self.arp_received(station, &packet, from, now);
            } else if packet.destination == node || packet.destination == agents::EVERYONE {
                self.message_heard(station, &packet, true, now);
            } else {
                self.note_sender(station, from);
                self.message_passes(node, copy, now);
            }
            return;
        }
        let destination = packet.destination;
        let Some(copy) = self.packets.pass_on(copy) else { return };
        if self.heeds_received && !self.look_at_received(station, copy, from, now) {
            return;
        }
        let hops = self.packets.copy(copy).map_or(0, |copy| copy.hops);
        self.go_on_from(node, (destination, hops), copy, now);
    }

    /// A packet for another station was received.
    pub(crate) fn overheard(&mut self, station: u32, copy: CopyRef, now: u64) {
        if let Some(packet) = self.packets.get(copy).filter(|p| p.is_message()).copied() {
            self.message_heard(station, &packet, false, now);
        }
    }

    /// Movement has changed which stations can decode what a station sends: these can now, in ascending order.
    pub(crate) fn neighbours_changed(&mut self, station: u32, neighbours: &[u32], now: u64) {
        let port = self.port_of_station[station as usize];
        let nodes: Vec<u32> = neighbours.iter().map(|&s| self.node_of_station[s as usize]).collect();
        let peers = &mut self.ports[port as usize].peers;
        for (&node, &peer) in nodes.iter().zip(neighbours) {
            let id = node_id(&self.node_ids, node);
            if let Err(at) = peers.binary_search_by_key(&id, |p| p.0) {
                peers.insert(at, (id, peer));
            }
        }
        self.agent_moves(station, nodes, now);
    }
}
