//! Results of a run, combined from the counters of its parts.

use airfair_schemes::places::{FlowLimit, LinkName, Packet as Queued, PacketClass};
use airfair_units::Time;

use super::{WorldView, inhibition, paths};
use crate::air::Msdu;
use crate::ids::{ControllerIx, CopyRef, FlowIx, Ix, LinkRef, NodeIx, PortIx, StationIx};
use crate::measure::delays::Delays;
use crate::measure::summary::{
    AllocationResult, CategoryResult, ControllerResult, DifferentialResult, FlowResult, FlowRoute,
    PacketFates, QueueResult, ReportsResult, RoutingCounts, RoutingResult, RunResult, StationResult,
};
use crate::names::natural_cmp;
use crate::node::endpoints::tcp::TransportTotals;
use crate::node::endpoints::udp::ReportTotals;
use crate::node::plane::differentials::HopDifferential;
use crate::node::plane::interfaces::MOST_AHEAD;
use crate::route::RoutingTotals;

/// The reports of a flow's receiver.
fn reports(totals: &ReportTotals) -> ReportsResult {
    let ReportTotals { receiver, received, counts_losses } = *totals;
    ReportsResult {
        sent: receiver.sent,
        received,
        loss_events: counts_losses.then_some(receiver.loss_events),
        loss_event_rate: (receiver.rated > 0).then(|| receiver.rates / receiver.rated as f64),
    }
}

impl<'a> WorldView<'a> {
    /// The first error of a scheme, if any: scheme, place and error. The numbers of such a run are meaningless; its result lists the error
    /// first among the warnings.
    pub(crate) fn fault(&self) -> Option<String> {
        let of = |list: &[(usize, String)], at: usize| {
            let own = list.iter().find(|own| own.0 == at);
            own.map_or(&self.run.scheme, |own| &own.1).clone()
        };
        if let Some(flow) = self.failed_flow() {
            let (scheme, flow) = (of(&self.run.own_laws, flow.ix()), &self.run.names.flows[flow.ix()]);
            return Some(format!("scheme {scheme}: its source of flow {flow} has failed"));
        }
        if let Some((node, problem)) = &self.network.hosts.forwarders.mistake {
            let (scheme, node) = (of(&self.run.own_schemes, node.ix()), &self.run.names.nodes[node.ix()]);
            return Some(format!("scheme {scheme}, forwarder of node {node}: {problem}"));
        }
        let [agent, controller] = self.network.hosts.unknown_receiver;
        let (place, node) =
            agent.map(|node| ("agent", node)).or(controller.map(|node| ("controller", node)))?;
        Some(format!(
            "scheme {}: its {place} at node {} sent a message to a node that does not exist; expected a node of the scenario",
            of(&self.run.own_schemes, node.ix()),
            self.run.names.nodes[node.ix()]
        ))
    }

    /// The flow whose source has failed, if any.
    pub(crate) fn faulty_flow(&self) -> Option<&'a str> {
        self.run.names.flows.get(self.failed_flow()?.ix()).map(String::as_str)
    }

    fn failed_flow(&self) -> Option<FlowIx> {
        self.network.endpoints.tcp.failed.or(self.network.endpoints.udp.failed)
    }

    /// Node and target of every queue. The target is the radio that the queue feeds, or the node at the far end of its wired link.
    pub(crate) fn queues(&self) -> Vec<(String, String)> {
        self.network.plane.interfaces.ports().map(|port| self.queue_name(port)).collect()
    }

    fn queue_name(&self, port: PortIx) -> (String, String) {
        let interfaces = &self.network.plane.interfaces;
        let towards = match interfaces.link(port) {
            LinkRef::Station(station) => {
                let radio = &self.run.radios[station.ix()];
                let category = self.category_of_queue(station, port);
                category.map_or_else(|| radio.clone(), |category| format!("{radio}/{category}"))
            }
            LinkRef::Wire(wire) => self.run.names.nodes[self.network.plane.links.far_end(wire).ix()].clone(),
        };
        (self.run.names.nodes[interfaces.node(port).ix()].clone(), towards)
    }

    /// The access category that a station's queue serves, if each category has a queue.
    fn category_of_queue(&self, station: StationIx, port: PortIx) -> Option<&'a str> {
        let interfaces = &self.network.plane.interfaces;
        let queues = &interfaces.categories(interfaces.of_station(station).1)?.ports;
        let category = queues.iter().position(|&queue| queue == port)?;
        self.run.names.category(station, u8::try_from(category).ok())
    }

    /// Node and radio of every station.
    pub(crate) fn stations(&self) -> Vec<(String, String)> {
        (0..self.run.radios.len()).map(|station| self.station_name(StationIx::of(station))).collect()
    }

    fn station_name(&self, station: StationIx) -> (String, String) {
        let node = self.run.names.node_of_station[station.ix()];
        (self.run.names.nodes[node.ix()].clone(), self.run.radios[station.ix()].clone())
    }

    /// Warnings of interfaces whose control packets have found no room, in the order of names.
    fn crowded(&self) -> Vec<String> {
        let interfaces = &self.network.plane.interfaces;
        let refused =
            |port| Some((interfaces.refused_ahead(port), self.queue_name(port))).filter(|of| of.0 > 0);
        let mut crowded: Vec<_> = interfaces.ports().filter_map(refused).collect();
        crowded.sort_by(|(_, (a, x)), (_, (b, y))| natural_cmp(a, b).then_with(|| natural_cmp(x, y)));
        let warning = |(count, (node, towards)): (u64, (String, String))| {
            format!(
                "node {node}: {count} messages of routing, ARP or schemes towards {towards} were dropped: more than {MOST_AHEAD} waited \
                 ahead of the queue; expected a faster link or fewer messages"
            )
        };
        crowded.into_iter().map(warning).collect()
    }

    /// Results up to the present.
    pub(crate) fn result(&self) -> RunResult {
        let transport = self.network.endpoints.transport_totals();
        let flows: Vec<FlowResult> =
            self.network.endpoints.flows.places().map(|flow| self.flow(flow, transport[flow])).collect();
        let ends = self.ends();
        let fallbacks = flows.iter().filter(|flow| flow.fallbacks > 0).map(|flow| {
            let what = if flow.files.is_some() {
                format!("{} of its connections", flow.fallbacks)
            } else {
                "it".to_string()
            };
            format!(
                "flow {}: {what} passed interfaces that do not support its scheme, and used TCP's law",
                flow.id
            )
        });
        let of_start = self.run.warnings.iter().cloned();
        let warnings =
            self.fault().into_iter().chain(of_start).chain(fallbacks).chain(self.crowded()).collect();
        RunResult {
            scheme: self.run.scheme.clone(),
            seed: self.run.seed,
            duration_s: self.now.as_secs_f64(),
            warmup_s: self.run.warmup.as_secs_f64(),
            flows,
            drops: ends.dropped.clone(),
            marks: self.network.plane.accounts.marks(),
            ends,
            queues: self.network.plane.interfaces.ports().map(|port| self.queue(port)).collect(),
            stations: self.air.stations().map(|station| self.station(station)).collect(),
            controllers: self.network.hosts.controllers.places().map(|at| self.controller(at)).collect(),
            control: self.network.hosts.frames.results(),
            radio_rates_bps: self.air.stations().map(|station| self.air.phy(station).nominal_rate().0).sum(),
            inhibited: inhibition::links(self),
            allocations: self
                .network
                .endpoints
                .flows
                .places()
                .filter_map(|flow| self.allocation(flow))
                .collect(),
            routing: self.route_upkeep(),
            warnings,
            events: self.events,
            transmissions: self.air.transmissions(),
        }
    }

    /// Results of a flow from the warm-up's end to the present.
    fn flow(&self, flow: FlowIx, transport: TransportTotals) -> FlowResult {
        let (f, tcp) = (&self.network.endpoints.flows[flow], &self.network.endpoints.tcp);
        let measuring = self.network.measuring;
        let (from, until) = (f.start.max(self.run.warmup), f.stop.min(self.now));
        let seconds = until.since(from).as_secs_f64();
        // Nothing counts before the end of the warm-up.
        let totals = f.totals(self.now);
        let counted = totals - if measuring { f.totals_at_warmup() } else { totals };
        let transport = transport
            - if measuring { self.network.endpoints.transport_totals_at_warmup(flow) } else { transport };
        let bits = counted.delivered_bytes as f64 * 8.0;
        let files = tcp.files(flow);
        FlowResult {
            id: self.run.names.flows[flow.ix()].clone(),
            src: self.run.names.nodes[f.from.ix()].clone(),
            dst: self.run.names.nodes[f.to.ix()].clone(),
            offered_bytes: if measuring { f.offered_bytes(from, until, files.is_some()) } else { Some(0) },
            goodput_bps: if seconds > 0.0 { bits / seconds } else { 0.0 },
            delivered_bytes: counted.delivered_bytes,
            sent_packets: counted.sent,
            delivered_packets: counted.delivered_packets,
            dropped_packets: counted.dropped,
            retransmissions: transport.retransmissions,
            round_trips: transport.round_trips,
            round_trip_ns: transport.round_trip_ns,
            fallbacks: tcp.fallbacks(flow),
            forwarding: self.network.hosts.forwarders.counts(flow),
            delays: if measuring { f.delays().clone() } else { Delays::default() },
            completion_s: tcp.completion_s(flow),
            files: files.map(|files| files.result()),
            // What forwarders carry has no path.
            hops: match self.network.hosts.forwarders.source_of(flow) {
                Some(_) => None,
                None => f.hops().or_else(|| self.static_hops(flow)),
            },
            reports: if measuring {
                self.network.endpoints.udp.totals(flow).map(|totals| reports(&totals))
            } else {
                None
            },
        }
    }

    /// Hops of a flow's static route; none without one.
    fn static_hops(&self, flow: FlowIx) -> Option<u16> {
        let is_static = !self.network.plane.routes.are_found();
        let path = is_static.then(|| paths::nodes(self.network, flow)).flatten()?;
        u16::try_from(path.len() - 1).ok()
    }

    /// Results of a port's queue from the warm-up's end to the present.
    fn queue(&self, port: PortIx) -> QueueResult {
        let (interfaces, links) = (&self.network.plane.interfaces, &self.network.plane.links);
        let totals = interfaces.totals(port, links, self.now);
        let earlier = if self.network.measuring { interfaces.totals_at_warmup(port) } else { totals };
        let (packets, waited) = (totals.left - earlier.left, totals.waited - earlier.waited);
        let measured = self.now.since(self.run.warmup).0;
        let wired = matches!(interfaces.link(port), LinkRef::Wire(_));
        let (node, towards) = self.queue_name(port);
        QueueResult {
            node,
            towards,
            wired,
            packets,
            mean_wait_s: (packets > 0).then(|| waited.0 as f64 / packets as f64 / 1e9),
            mean_packets: if measured > 0 { waited.0 as f64 / measured as f64 } else { 0.0 },
            routing: if wired { self.routing(port) } else { None },
            differentials: self.differentials(port),
        }
    }

    /// Differences between a port's queue and those of its next hops, from the warm-up's end to the present.
    fn differentials(&self, port: PortIx) -> Vec<DifferentialResult> {
        if !self.network.measuring {
            return Vec::new();
        }
        let name = |id| {
            self.network.plane.interfaces.node_of_id(id).map(|node| self.run.names.nodes[node.ix()].clone())
        };
        let levels = |hop: &HopDifferential| {
            let mut levels = hop.levels.clone();
            if let Some(of) = self.network.plane.interfaces.categories(port).filter(|_| !levels.is_empty()) {
                levels.resize(usize::from(of.count), 0);
            }
            levels
        };
        let result = |hop: &HopDifferential| DifferentialResult {
            to: name(hop.next_hop).unwrap_or_default(),
            packets: hop.packets,
            mean_packets: hop.sum as f64 / hop.packets as f64,
            levels: levels(hop),
        };
        let mut found: Vec<_> = self.network.plane.differentials.of(port).iter().map(result).collect();
        found.sort_by(|a, b| natural_cmp(&a.to, &b.to));
        found
    }

    /// Counts of routing messages sent by a port; the node's own counters are reported with its first port.
    fn routing(&self, port: PortIx) -> Option<RoutingCounts> {
        self.network.plane.routes.counts(self.network.plane.interfaces.node(port), port).map(RoutingCounts)
    }

    /// Totals and routes of flows with a proactive protocol, from the warm-up's end to the present.
    fn route_upkeep(&self) -> Option<RoutingResult> {
        let (protocol, totals, routes) = self.network.plane.routes.upkeep(self.now)?;
        let totals = if self.network.measuring { totals } else { RoutingTotals::default() };
        let name = |node: NodeIx| self.run.names.nodes[node.ix()].clone();
        let flows = self.network.endpoints.flows.places().zip(routes).map(|(flow, route)| FlowRoute {
            id: self.run.names.flows[flow.ix()].clone(),
            lost: route.lost,
            without_s: route.without.as_secs_f64(),
            path: paths::nodes(self.network, flow).map(|path| path.into_iter().map(name).collect()),
        });
        Some(RoutingResult {
            protocol,
            seconds: self.now.since(self.run.warmup).as_secs_f64(),
            nodes: self.run.names.nodes.len(),
            datagrams: totals.datagrams,
            ip_bytes: totals.ip_bytes,
            mac_bytes: totals.mac_bytes,
            routes_lost: totals.routes_lost,
            flows: flows.collect(),
        })
    }

    fn station(&self, station: StationIx) -> StationResult {
        let (node, radio) = self.station_name(station);
        StationResult {
            node,
            radio,
            airtime: self.air.airtime(station, self.now),
            counters: self.air.counters(station),
            categories: self.categories(station),
            messages: self.network.hosts.agents.message_counts(station),
            routing: self.routing(self.network.plane.interfaces.of_station(station).1),
        }
    }

    fn controller(&self, controller: ControllerIx) -> ControllerResult {
        let controllers = &self.network.hosts.controllers;
        let (start, stop) = controllers.times(controller);
        ControllerResult {
            node: self.run.names.nodes[controllers.node(controller).ix()].clone(),
            start_s: start.as_secs_f64(),
            stop_s: stop.map(Time::as_secs_f64),
            counts: controllers.counts(controller),
        }
    }

    fn allocation(&self, flow: FlowIx) -> Option<AllocationResult> {
        let (network, names) = (self.network, &self.run.names);
        let (at, FlowLimit { rate, links, capacity, overloaded }) =
            network.hosts.controllers.limit(network.endpoints.flows[flow].id)?;
        let named = |links: Vec<LinkName>| {
            let node = |id| {
                let node = network.plane.interfaces.node_of_id(id);
                node.map_or_else(|| "?".to_string(), |node| names.nodes[node.ix()].clone())
            };
            let mut named: Vec<_> = links.into_iter().map(|[from, to]| (node(from), node(to))).collect();
            named.sort_by(|a, b| natural_cmp(&a.0, &b.0).then_with(|| natural_cmp(&a.1, &b.1)));
            named
        };
        Some(AllocationResult {
            flow: names.flows[flow.ix()].clone(),
            controller: names.nodes[network.hosts.controllers.node(at).ix()].clone(),
            rate_bps: rate.0 as f64,
            capacity,
            links: named(links),
            overloaded: named(overloaded),
        })
    }

    fn categories(&self, station: StationIx) -> Vec<CategoryResult> {
        let of = self.air.category_counters(station).into_iter();
        of.map(|(name, counters)| CategoryResult { name: name.to_string(), counters }).collect()
    }

    /// Ends of all packets that were made. The places are counted one by one, not derived, and add up to the number made.
    fn ends(&self) -> PacketFates {
        let network = self.network;
        let data = |copy: &CopyRef| {
            network.plane.packets.get(*copy).is_some_and(|packet| packet.class != PacketClass::Control)
        };
        let (made, delivered) = network.plane.outside.counts();
        let mut ends = PacketFates {
            made,
            delivered,
            dropped: network.plane.accounts.drops(),
            ..PacketFates::default()
        };
        for (made, delivered) in network.endpoints.flows.iter().map(|flow| flow.counts()) {
            ends.made += made;
            ends.delivered += delivered;
        }
        for port in network.plane.interfaces.ports() {
            let mut messages = 0;
            let mut count = |packet: &Queued| messages += u64::from(packet.class == PacketClass::Control);
            network.plane.interfaces.pipeline(port).for_each_packet(&mut count);
            if let LinkRef::Wire(wire) = network.plane.interfaces.link(port) {
                messages +=
                    network.plane.links.waiting(wire, self.now).filter(|copy| !data(copy)).count() as u64;
            }
            ends.queued += network.plane.interfaces.waiting(port, &network.plane.links, self.now) - messages;
            ends.queued +=
                network.plane.interfaces.ahead(port).filter(|waits| data(&waits.copy)).count() as u64;
        }
        ends.awaiting_arp = network.plane.arp.waiting().filter(data).count() as u64;
        for station in self.air.stations() {
            // A packet is counted at its next hop if that has a copy already.
            let here =
                |msdu: &Msdu| data(&msdu.copy) && !network.plane.packets.has_reached_next_hop(msdu.copy);
            ends.in_mac += self.air.held(station).filter(here).count() as u64;
        }
        let forwarded = || {
            let waiting = network.endpoints.flows.iter().filter_map(|flow| flow.forwarded.as_ref());
            let waiting = waiting.flat_map(|forwarded| forwarded.waiting.iter().copied());
            waiting.chain(network.hosts.forwarders.packets()).filter(data).count() as u64
        };
        ends.forwarded = network.hosts.forwarders.any().then(forwarded);
        ends.awaiting_route =
            network.plane.routes.waiting().map(|waiting| waiting.filter(data).count() as u64);
        let on_wire = |wire| network.plane.links.on_the_way(wire, self.now);
        ends.on_wire = network.plane.links.places().flat_map(on_wire).filter(data).count() as u64;
        ends
    }
}
