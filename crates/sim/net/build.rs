//! Setting up the network of a run: ports, links, routes, flows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use airfair_host::{HeaderKinds, Pipeline};
use airfair_routing::shortest::Link;
use airfair_schemes::Registry;
use airfair_schemes::places::{Interface, NodeId};
use airfair_transport::SharedConfig;
use airfair_units::random::{Purpose, Stream, name_hash};

use super::agents::Agents;
use super::arp::Neighbours;
use super::connections::Connections;
use super::fault::Effects;
use super::flows::{FlowTotals, TcpFlow, TransportTotals};
use super::laws::{LawId, Laws};
use super::meter::Meters;
use super::packet_loss::PacketLosses;
use super::placed::Placed;
use super::{Behind, Flow, Net, Port, QueueTotals, class, ids, node_id};
use crate::air::{Air, JUDGED_BYTES, LEAST_DELIVERY};
use crate::engine::Agenda;
use crate::event::{Order, Schedule, What, rank};
use crate::ids::{ConnectionRef, FlowIx, Ix, NodeIx, PortIx, StationIx, WireIx};
use crate::link::{Due, Links, link_of};
use crate::measure::delays::Delays;
use crate::measure::files::Files;
use crate::names::{natural_cmp, natural_ranks};
use crate::node::backpressure::{Backpressure, Rules};
use crate::packet::Packets;
use crate::record::Records;
use crate::route::{Nodes, Routes};
use crate::spec::{FlowSpec, LocalLimit, RoutingSpec, Traffic, Transport, WorldSpec};
use crate::traffic::{FileSource, Source};

impl Net {
    /// Sets up everything above the MAC and puts the flows' starts on the agenda.
    pub(crate) fn new(
        spec: &WorldSpec,
        air: &Air,
        node_of_station: Vec<u32>,
        radio_of_station: &[usize],
        (placed, schemes): (Placed, &Registry),
        seed: u64,
        agenda: &mut Agenda,
    ) -> Result<Self, String> {
        let nodes = spec.nodes.len();
        let mut port_specs: Vec<(u32, Behind, bool, LocalLimit, String)> = Vec::new();
        for (station, &node) in node_of_station.iter().enumerate() {
            let radio = &spec.radios[radio_of_station[station]];
            let name = format!("{}/{}", spec.nodes[node as usize].id, radio.name);
            port_specs.push((
                node,
                Behind::Station(station as u32),
                radio.mac.backpressure,
                radio.mac.local_limit.filter(|_| radio.mac.backpressure),
                name,
            ));
        }
        for (i, link) in spec.links.iter().enumerate() {
            for (side, &node) in link.ends.iter().enumerate() {
                let other = &spec.nodes[link.ends[1 - side]].id;
                let name = format!("{}>{other}", spec.nodes[node].id);
                port_specs.push((
                    node as u32,
                    Behind::Wire(WireIx((2 * i + side) as u32)),
                    true,
                    link.local_limit,
                    name,
                ));
            }
        }
        port_specs.sort_by_key(|p| p.0);
        let mut ports_of = vec![(0u32, 0u32); nodes];
        let mut port_of_station = vec![0; node_of_station.len()];
        let mut port_of_wire = vec![PortIx(0); 2 * spec.links.len()];
        for (i, p) in port_specs.iter().enumerate() {
            let range = &mut ports_of[p.0 as usize];
            if range.1 == 0 {
                range.0 = i as u32;
            }
            range.1 = i as u32 + 1;
            match p.1 {
                Behind::Station(s) => port_of_station[s as usize] = i as u32,
                Behind::Wire(w) => port_of_wire[w.ix()] = PortIx(i as u32),
            }
        }
        let interface = |node: u32, behind: Behind| match behind {
            Behind::Station(station) => placed.radio(spec, node as usize, radio_of_station[station as usize]),
            Behind::Wire(wire) => placed.wire(spec, node as usize, link_of(wire)),
        };
        let mut kinds_of_header = HeaderKinds::default();
        let names: Vec<&str> = spec.nodes.iter().map(|n| n.id.as_str()).collect();
        let node_ids = ids::of_names(&names);
        // What a scheme fills is asked for in the order of names.
        let mut by_name: Vec<usize> = (0..port_specs.len()).collect();
        by_name.sort_by(|&a, &b| natural_cmp(&port_specs[a].4, &port_specs[b].4));
        let mut ports: Vec<(usize, Port, Rules)> = by_name
            .into_iter()
            .map(|at| {
                let (node, behind, backpressure, local_limit, name) = &port_specs[at];
                let peers: BTreeMap<NodeId, u32> = match *behind {
                    Behind::Station(s) => {
                        let node = |peer: u32| node_id(&node_ids, node_of_station[peer as usize]);
                        air.neighbours(StationIx(s)).map(|(peer, _)| (node(peer.0), peer.0)).collect()
                    }
                    Behind::Wire(_) => BTreeMap::new(),
                };
                let interface = interface(*node, *behind);
                let scheme = placed.at(*node as usize);
                let own_queue = scheme.wants(&interface).own_queue;
                let framing = if matches!(behind, Behind::Wire(_)) { spec.headers.wired } else { 0 };
                let random = Stream::new(seed, name, Purpose::Queue);
                let mut pipeline = Pipeline::new(scheme, &interface, framing, random);
                if let Some(hop) = scheme.hop(&interface) {
                    let random = Stream::new(seed, name, Purpose::Hop);
                    pipeline.add_hop(hop, &mut kinds_of_header, random, rank(seed, name));
                }
                let port = Port {
                    node: *node,
                    behind: *behind,
                    pipeline,
                    peers: peers.into_iter().collect(),
                    totals: QueueTotals::default(),
                    warmup: QueueTotals::default(),
                    control: VecDeque::new(),
                    neighbours: Neighbours::new(spec.arp.prefilled),
                };
                let rules = Rules {
                    backpressure: *backpressure,
                    local_limit: local_limit.filter(|_| !own_queue).map(|limit| limit.0),
                    fillable: *backpressure && local_limit.is_none() && !own_queue,
                };
                (at, port, rules)
            })
            .collect();
        ports.sort_unstable_by_key(|port| port.0);
        let mut backpressure = Backpressure::default();
        ports.iter().for_each(|port| backpressure.add_port(port.2));
        let ports: Vec<Port> = ports.into_iter().map(|port| port.1).collect();
        let mut links = Links::new(&spec.links, &names, &port_of_wire, spec.headers.wired, seed);

        // A source that always keeps some packets waiting has to be told when each leaves.
        let saturating = |flow: &&FlowSpec| matches!(flow.traffic, Traffic::Saturating { .. });
        let saturated: BTreeSet<usize> = spec.flows.iter().filter(saturating).map(|flow| flow.from).collect();
        for port in &ports {
            if let (Behind::Wire(wire), Some(limit @ 1..)) = (port.behind, port.pipeline.tail_drop())
                && !saturated.contains(&(port.node as usize))
                // A packet's port may be known only when it leaves: then its node's queue counts it.
                && !matches!(spec.routing, RoutingSpec::Found(_))
            {
                links.keep_queue(wire, limit);
            }
        }
        let hops_at_wires =
            ports.iter().any(|port| matches!(port.behind, Behind::Wire(_)) && port.pipeline.has_hop());

        let nodes = Nodes {
            names: &names,
            ranks: natural_ranks(&names),
            ids: &node_ids,
            ports: &ports_of,
            links: usable_links((&ports_of, &ports), &node_of_station, &links, air),
            ends: spec.flows.iter().map(|flow| [flow.from, flow.to].map(NodeIx::of)).collect(),
        };
        let routes = Routes::new(&spec.routing, nodes, seed);
        let mut net = Self {
            headers: spec.headers,
            arp: spec.arp,
            hop_limit: u16::from(spec.hop_limit),
            ports_of,
            ports,
            port_of_station,
            node_of_station,
            onward: links.places().map(|_| None).collect(),
            links,
            hops_at_wires,
            routes,
            node_ids,
            node_ranks: names.iter().map(|n| rank(seed, n)).collect(),
            flows: Vec::new(),
            laws: Laws::default(),
            connections: Connections::default(),
            opened: 0,
            completions: None,
            packets: Packets::default(),
            marks: BTreeMap::new(),
            drops: BTreeMap::new(),
            out: Effects::default(),
            fault: None,
            agents: Agents::default(),
            kinds_of_header,
            heeds_received: false,
            packet_losses: PacketLosses::default(),
            backpressure,
            meters: Meters::default(),
            nowhere: false,
            kicks: Vec::new(),
            unsettled: false,
            injections: BTreeMap::new(),
            injected: 0,
            injected_made: 0,
            injected_delivered: 0,
            outputs: Vec::new(),
            measuring: spec.warmup.as_nanos() == 0,
            warmup: spec.warmup.as_nanos(),
            end: spec.duration.as_nanos(),
            records: Records::default(),
            schedule: Schedule::default(),
        };
        let loss = |station: usize| {
            (
                air_name(spec, &net, radio_of_station, station),
                spec.radios[radio_of_station[station]].packet_loss,
            )
        };
        net.packet_losses = PacketLosses::new((0..radio_of_station.len()).map(loss), seed);
        net.heeds_received = net.routes.are_found()
            || net.packet_losses.any()
            || net.ports.iter().any(|port| port.pipeline.wants_received());
        for station in 0..net.node_of_station.len() {
            let port = net.port_of_station[station];
            let node = net.ports[port as usize].node;
            let interface = interface(node, Behind::Station(station as u32));
            let scheme = placed.at(node as usize);
            let Some(agent) = scheme.agent(&interface) else { continue };
            let name = air_name(spec, &net, radio_of_station, station);
            let wants = scheme.wants(&interface);
            net.add_agent(station as u32, (agent, wants), Stream::new(seed, &name, Purpose::Agent));
        }
        let scheme = placed.run;
        net.nowhere = net.agents.is_empty()
            && net.ports.iter().all(|port| !port.pipeline.judges())
            && Interface::sorts()
                .iter()
                .any(|at| scheme.aqm(at).is_some() || scheme.agent(at).is_some() || scheme.hop(at).is_some());
        net.start_routing();
        net.start_agents(air, agenda);
        net.start_hops(agenda);
        let of_run = scheme.source().is_some().then_some(scheme);
        let (laws, laws_of_flows) = Laws::new(spec, of_run, schemes)?;
        net.laws = laws;
        let flow_names: Vec<&str> = spec.flows.iter().map(|flow| flow.id.as_str()).collect();
        for ((flow, law), id) in spec.flows.iter().zip(laws_of_flows).zip(ids::of_names(&flow_names)) {
            net.add_flow(flow, law, id, seed, agenda);
        }
        net.pass_flows();
        net.backpressure.limits_tcp = (0..net.ports.len() as u32)
            .any(|port| net.backpressure.rules(PortIx(port)).local_limit.is_some())
            && net.flows.iter().any(|flow| flow.tcp.is_some());
        for Due { at, order, what } in net.links.rate_changes(&spec.links) {
            agenda.push(at.0, order, what);
        }
        if net.warmup > 0 {
            agenda.push(net.warmup, Order::new(class::WARMUP, 0), What::Warmup);
        }
        Ok(net)
    }

    fn add_flow(&mut self, flow: &FlowSpec, law: Option<LawId>, id: u32, seed: u64, agenda: &mut Agenda) {
        let jitter = match flow.start_jitter.as_nanos() {
            0 => 0,
            most => (Stream::new(seed, &flow.id, Purpose::StartJitter).uniform() * most as f64) as u64,
        };
        let start = flow.start.as_nanos() + jitter;
        let rank = rank(seed, &flow.id);
        let number = self.flows.len() as u32;
        let tcp = match (&flow.transport, law) {
            (Transport::Tcp { config, .. }, Some(law)) => Some(Box::new(TcpFlow {
                config: SharedConfig::from(config),
                law,
                reads_own_queue: self.laws.reads_own_queue(law),
                traffic: flow.traffic.clone(),
                connection: ConnectionRef::NONE,
                files: FileSource::new(flow, seed),
                next_size: 0,
                done: Files::default(),
                opened: 0,
                ended: TransportTotals::default(),
                fallbacks: 0,
                seed,
                hash: name_hash(&flow.id),
            })),
            _ => None,
        };
        let (from, to) = (flow.from as u32, flow.to as u32);
        let first_hops =
            [(from, to), (to, from)].map(|(from, to)| self.static_hop(from, to).filter(|_| from != to));
        self.backpressure.add_flow();
        self.flows.push(Flow {
            source: Source::new(flow, seed),
            tcp,
            id,
            from,
            to,
            first_hops,
            rank,
            start,
            stop: flow.stop.as_nanos().min(self.end),
            next_sequence: 0,
            offers_again: false,
            totals: FlowTotals::default(),
            warmup: FlowTotals::default(),
            warmup_transport: TransportTotals::default(),
            held_since: None,
            sent_total: 0,
            delivered_total: 0,
            delays: Delays::default(),
            hops: None,
        });
        if start < self.flows[number as usize].stop {
            agenda.push(start, Order::new(class::TRAFFIC, rank), What::FlowStart(FlowIx(number)));
        }
    }
}

/// Links that can carry data frames both ways.
fn usable_links(
    (ports_of, ports): (&[(u32, u32)], &[Port]),
    node_of_station: &[u32],
    wires: &Links,
    air: &Air,
) -> Vec<Vec<Link>> {
    let of_port = |port: u32| {
        let p = &ports[port as usize];
        let (peers, wire) = match p.behind {
            Behind::Station(station) => (Some((station, &p.peers)), None),
            Behind::Wire(wire) => (None, Some(wire)),
        };
        let by_air = peers.into_iter().flat_map(move |(station, peers)| {
            peers.iter().filter_map(move |&(_, peer)| {
                let forward = air.delivery_ratio(StationIx(station), StationIx(peer), JUDGED_BYTES);
                let backward = air.delivery_ratio(StationIx(peer), StationIx(station), JUDGED_BYTES);
                let usable = forward > LEAST_DELIVERY && backward > LEAST_DELIVERY;
                let to = node_of_station[peer as usize];
                usable.then_some(Link { to, interface: port, delivery: forward * backward })
            })
        });
        let by_wire = wire.map(|wire| {
            let delivery = (1.0 - wires.loss(wire)).max(1e-9);
            Link { to: wires.far_end(wire).0, interface: port, delivery }
        });
        by_air.chain(by_wire)
    };
    ports_of.iter().map(|&(first, end)| (first..end).flat_map(of_port).collect()).collect()
}

/// The name of a station's interface.
fn air_name(spec: &WorldSpec, net: &Net, radio_of_station: &[usize], station: usize) -> String {
    let node = &spec.nodes[net.node_of_station[station] as usize].id;
    format!("{node}/{}", spec.radios[radio_of_station[station]].name)
}
