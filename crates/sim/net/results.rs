//! What the network has counted, and where every packet is.

use std::collections::BTreeMap;

use airfair_schemes::places::PacketClass;
use airfair_transport::Sender;
use airfair_units::{Span, Time};

use super::flows::{Flow, TransportTotals};
use super::{Behind, LinkTotals, Net, Port, QueueTotals};
use crate::air::{Air, Indication};
use crate::engine::Agenda;
use crate::ids::{CopyRef, NodeIx, StationIx};
use crate::measure::delays::Delays;
use crate::measure::files::Completion;
use crate::measure::samples::{FlowProgress, FlowSample, QueueSample};
use crate::measure::summary::{Ends, FlowResult, QueueResult};
use crate::record::Names;
use crate::spec::Traffic;

impl Net {
    /// Lets stations and wires that have something new to send go on, after every event.
    #[inline]
    pub(crate) fn settle(&mut self, air: &mut Air, agenda: &mut Agenda) {
        while let Some(behind) = self.kicks.pop() {
            match behind {
                Behind::Station(station) => self.fill(StationIx(station), air, agenda),
                Behind::Wire(wire) => self.kick_wire(wire, agenda),
            }
        }
        self.flush(agenda);
        self.unsettled = false;
    }

    /// Takes up what the air has brought about, one thing completely after the other, after each of its events.
    pub(crate) fn take_up(&mut self, air: &mut Air, agenda: &mut Agenda) {
        let now = agenda.now;
        while let Some(indication) = air.next_indication() {
            match indication {
                Indication::Finished { station, msdu, outcome } => {
                    self.finished(station.0, msdu, outcome, now);
                    self.fill(station, air, agenda);
                }
                Indication::Received { station, copy, from, at } => {
                    self.received(station.0, copy, from.0, at.as_nanos());
                }
                Indication::Overheard { station, copy, at } => {
                    self.overheard(station.0, copy, at.as_nanos());
                }
                Indication::NeighboursChanged { station } => {
                    let mut neighbours: Vec<u32> = air.neighbours(station).map(|(id, _)| id.0).collect();
                    neighbours.sort_unstable();
                    self.neighbours_changed(station.0, &neighbours, now);
                }
            }
        }
    }

    /// Gives the MAC of a station the packets that it has room for.
    fn fill(&mut self, station: StationIx, air: &mut Air, agenda: &mut Agenda) {
        for _ in 0..air.room(station) {
            match self.pull(station.0, agenda.now) {
                Some(msdu) => air.give(station, msdu),
                None => break,
            }
        }
        air.contend(station, agenda);
    }

    /// Flows without a route: flow, source, destination.
    pub(crate) fn unreachable(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let cut_off = |f: &Flow| self.routes.is_cut_off(NodeIx(f.from), NodeIx(f.to));
        self.flows
            .iter()
            .enumerate()
            .filter(move |&(_, f)| cut_off(f))
            .map(|(i, f)| (i, f.from as usize, f.to as usize))
    }

    /// Flows of which one direction's static route has more hops than packets live for: flow, source, destination, hops.
    pub(crate) fn too_long(&self) -> impl Iterator<Item = (usize, usize, usize, usize)> + '_ {
        let of = |i: usize, f: &Flow, forward: bool| {
            let hops = self.hops_of(i as u32, forward).len();
            let (from, to) = if forward { (f.from, f.to) } else { (f.to, f.from) };
            (hops > usize::from(self.hop_limit)).then_some((i, from as usize, to as usize, hops))
        };
        let flows = self.flows.iter().enumerate().filter(|_| !self.routes.are_found());
        // A datagram has no answer.
        flows.filter_map(move |(i, f)| of(i, f, true).or_else(|| of(i, f, false).filter(|_| f.tcp.is_some())))
    }

    /// Nodes that a flow's packets pass, its source and its destination included; none without a route.
    pub(crate) fn path(&self, flow: usize) -> Option<Vec<u32>> {
        let Flow { from, to, .. } = self.flows[flow];
        let mut path = vec![from];
        while let Some(&last) = path.last().filter(|&&last| last != to) {
            // Routes that change may lead astray for a moment.
            if path.len() > self.ports_of.len() {
                return None;
            }
            path.push(self.next_hop(last, to)?.node);
        }
        Some(path)
    }

    /// Numbers of every flow between the warm-up's end and `now`.
    pub(crate) fn flow_results(&self, names: &Names, warmup: u64, now: u64) -> Vec<FlowResult> {
        self.flows
            .iter()
            .zip(self.transport_totals())
            .zip(&names.flows)
            .map(|((f, transport), id)| {
                let (from, until) = (f.start.max(warmup), f.stop.min(now));
                let seconds = until.saturating_sub(from) as f64 / 1e9;
                // Before the end of the warm-up nothing counts.
                let totals = f.totals(now);
                let counted = totals - if self.measuring { f.warmup } else { totals };
                let transport = transport - if self.measuring { f.warmup_transport } else { transport };
                let bits = counted.delivered_bytes as f64 * 8.0;
                FlowResult {
                    id: id.clone(),
                    src: names.nodes[f.from as usize].clone(),
                    dst: names.nodes[f.to as usize].clone(),
                    offered_bytes: if self.measuring { f.offered_bytes(from, until) } else { Some(0) },
                    goodput_bps: if seconds > 0.0 { bits / seconds } else { 0.0 },
                    delivered_bytes: counted.delivered_bytes,
                    sent_packets: counted.sent,
                    delivered_packets: counted.delivered_packets,
                    dropped_packets: counted.dropped,
                    retransmissions: transport.retransmissions,
                    round_trips: transport.round_trips,
                    round_trip_ns: transport.round_trip_ns,
                    fallbacks: f.tcp.as_ref().map_or(0, |tcp| tcp.fallbacks),
                    delays: if self.measuring { f.delays.clone() } else { Delays::default() },
                    completion_s: self.completion_s(f),
                    files: f.tcp.as_ref().filter(|tcp| tcp.files.is_some()).map(|tcp| tcp.done.result()),
                    hops: f.hops,
                }
            })
            .collect()
    }

    /// Files that end from now on are kept one by one, if any flow sends files.
    pub(crate) fn keep_completions(&mut self) {
        if self.flows.iter().any(|f| f.tcp.as_ref().is_some_and(|tcp| tcp.files.is_some())) {
            self.completions.get_or_insert_default();
        }
    }

    /// The files that ended since the last call, each with its flow.
    pub(crate) fn take_completions(&mut self) -> Vec<(usize, Completion)> {
        self.completions.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// So many of them, or none if there are fewer. When the run is over, those that are left, once.
    pub(crate) fn take_completion_block(
        &mut self,
        files: usize,
        over: bool,
    ) -> Option<Vec<(usize, Completion)>> {
        let list = self.completions.as_mut()?;
        if over && list.len() <= files {
            return self.completions.take();
        }
        (list.len() >= files).then(|| list.drain(..files).collect())
    }

    /// Connections that live, and the most that have lived at once.
    pub(crate) fn connections(&self) -> (u64, u64) {
        self.connections.count()
    }

    /// Marks by reason.
    pub(crate) fn marks(&self) -> BTreeMap<String, u64> {
        self.marks.iter().map(|(&k, &v)| (k.to_string(), v)).collect()
    }

    /// Queues of every port, between the warm-up's end and `now`.
    pub(crate) fn queue_results(&self, names: &Names, radios: &[String], now: u64) -> Vec<QueueResult> {
        let measured = now.saturating_sub(self.warmup);
        let result = |(i, port): (usize, &Port)| {
            let totals = self.queue_totals(i as u32, now);
            let earlier = if self.measuring { port.warmup } else { totals };
            let (packets, waited_ns) = (totals.left - earlier.left, totals.waited_ns - earlier.waited_ns);
            let wired = matches!(port.behind, Behind::Wire(_));
            QueueResult {
                node: names.nodes[port.node as usize].clone(),
                towards: self.towards(port, names, radios),
                wired,
                packets,
                mean_wait_s: (packets > 0).then(|| waited_ns as f64 / packets as f64 / 1e9),
                mean_packets: if measured > 0 { waited_ns as f64 / measured as f64 } else { 0.0 },
                routing: if wired { self.routing_counts(i as u32) } else { None },
            }
        };
        self.ports.iter().enumerate().map(result).collect()
    }

    /// What a port leads to: its radio, or the node at the far end of its wire.
    fn towards(&self, port: &Port, names: &Names, radios: &[String]) -> String {
        match port.behind {
            Behind::Station(station) => radios[station as usize].clone(),
            Behind::Wire(wire) => names.nodes[self.links.far_end(wire).ix()].clone(),
        }
    }

    /// Node and target of every queue.
    pub(crate) fn queue_names(&self, names: &Names, radios: &[String]) -> Vec<(String, String)> {
        let name = |port: &Port| (names.nodes[port.node as usize].clone(), self.towards(port, names, radios));
        self.ports.iter().map(name).collect()
    }

    /// Output interfaces, each with a queue.
    pub(crate) fn port_count(&self) -> u32 {
        self.ports.len() as u32
    }

    /// Every queue now.
    pub(crate) fn queue_samples(&self, now: u64) -> Vec<QueueSample> {
        let sample = |port: u32| {
            let QueueTotals { left, waited_ns } = self.queue_totals(port, now);
            let link = match self.ports[port as usize].behind {
                Behind::Station(station) => self.meters.totals(station).unwrap_or_default(),
                Behind::Wire(_) => LinkTotals::default(),
            };
            let LinkTotals { used, delay_squares } = link;
            QueueSample {
                packets: self.queue_packets(port, now),
                left,
                waited: Span(waited_ns),
                acknowledged: used.sent_packets,
                link_delay: used.delay,
                link_delay_squares: delay_squares,
            }
        };
        (0..self.ports.len() as u32).map(sample).collect()
    }

    /// Every flow now.
    pub(crate) fn flow_samples(&self, now: Time) -> Vec<FlowSample> {
        let sample = |(f, transport): (&Flow, TransportTotals)| {
            let sender = f.tcp.as_ref().and_then(|tcp| self.connections.get(tcp.connection));
            let sender = sender.map(|connection| &connection.sender);
            FlowSample {
                delivered_bytes: f.totals.delivered_bytes,
                delivered_packets: f.totals.delivered_packets,
                sent_packets: f.totals.sent,
                retransmissions: transport.retransmissions,
                window_bytes: sender.map(|sender| sender.window(now)),
                rtt: sender.and_then(Sender::smoothed_rtt),
            }
        };
        self.flows.iter().zip(self.transport_totals()).map(sample).collect()
    }

    /// How far every flow has come.
    pub(crate) fn progress(&self) -> Vec<FlowProgress> {
        let progress = |f: &Flow| FlowProgress {
            start: Time(f.start),
            stop: Time(f.stop),
            complete: self.completion_s(f).is_some(),
            delivered_bytes: f.totals.delivered_bytes,
        };
        self.flows.iter().map(progress).collect()
    }

    /// What the transport of every flow has counted so far, in connections that have ended and in those that live.
    pub(super) fn transport_totals(&self) -> Vec<TransportTotals> {
        let ended = |f: &Flow| f.tcp.as_ref().map_or_else(TransportTotals::default, |tcp| tcp.ended);
        let mut totals: Vec<TransportTotals> = self.flows.iter().map(ended).collect();
        for connection in self.connections.iter() {
            totals[connection.flow as usize] += TransportTotals::of(connection.sender.stats());
        }
        totals
    }

    /// When a flow's only file was complete, after its start.
    fn completion_s(&self, f: &Flow) -> Option<f64> {
        let tcp = f.tcp.as_ref().filter(|tcp| matches!(tcp.traffic, Traffic::File { .. }))?;
        tcp.done.all.mean_s()
    }

    /// Where every packet that was made has ended. The places add up to what was made: counted here one by one, not derived.
    pub(crate) fn ends(&self, air: &Air, now: u64) -> Ends {
        let data = |copy: CopyRef| self.packets.get(copy).is_some_and(|p| p.class != PacketClass::Control);
        let mut ends =
            Ends { made: self.injected_made, delivered: self.injected_delivered, ..Ends::default() };
        for f in &self.flows {
            ends.made += f.sent_total;
            ends.delivered += f.delivered_total;
        }
        ends.dropped = self.drops.iter().map(|(&k, &v)| (k.to_string(), v)).collect();
        for (i, port) in self.ports.iter().enumerate() {
            ends.queued += self.queue_packets(i as u32, now);
            ends.awaiting_arp += port.neighbours.waiting_packets().filter(|&h| data(h)).count() as u64;
        }
        for station in air.stations() {
            // A packet of which the next hop has a copy already is counted there.
            let here = |h: &crate::air::Msdu| data(h.copy) && !self.packets.has_moved_on(h.copy);
            ends.in_mac += air.held(station).filter(here).count() as u64;
        }
        ends.awaiting_route = self.routes.waiting();
        let on_wire = |wire| self.links.on_the_way(wire, Time(now));
        let counts = |copy: &CopyRef| self.packets.get(*copy).is_some_and(|packet| !packet.is_routing());
        ends.on_wire = self.links.places().flat_map(on_wire).filter(counts).count() as u64;
        ends
    }
}
