//! Setup of everything above the MAC: ports, links, routes, agents, flows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use airfair_host::{
    AgentSlot, ControllerSlot, HeaderKinds, Hosts, MessageFrames, Meters, Pipeline, scheme_ids,
};
use airfair_routing::shortest::Link;
use airfair_schemes::places::{Capability, FlowId, Interface, Medium, NodeId};
use airfair_schemes::{Carrier, Registry, Scheme};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Span, Time};
use airfair_wire::rate::Data;

use super::scheme_placement::SchemePlacement;
use crate::air::{Air, JUDGED_BYTES, LEAST_DELIVERY};
use crate::engine::Agenda;
use crate::event::{EventKind, Order, Schedule, class, rank};
use crate::ids::{FlowIx, Ix, LinkRef, NodeIx, PortIx, StationIx, Table, WireIx};
use crate::link::{Links, link_of};
use crate::names::{natural_cmp, natural_orders};
use crate::node::Network;
use crate::node::attempts::Attempts;
use crate::node::endpoints::Endpoints;
use crate::node::endpoints::backpressure::{self, Backpressure};
use crate::node::endpoints::flow::{Flow, Forwarded};
use crate::node::endpoints::laws::{self, Laws};
use crate::node::endpoints::tcp::Tcp;
use crate::node::packet_losses::PacketLosses;
use crate::node::passing::Passing;
use crate::node::plane::accounts::Accounts;
use crate::node::plane::arp::Arp;
use crate::node::plane::differentials::Differentials;
use crate::node::plane::interfaces::{Interfaces, NewPort, PortCategories};
use crate::node::plane::messages::Messages;
use crate::node::plane::outside::Outside;
use crate::node::plane::{DataPlane, IdleScheme, RunRules};
use crate::packet::Packets;
use crate::record::Records;
use crate::route::{Nodes, Routes};
use crate::spec::{ControllerSpec, EdcaSpec, LocalLimit, RoutingSpec, Traffic, Transport, WorldSpec};
use crate::traffic::without_room;

/// The parts of a world's specification from which ports are built.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub spec: &'a WorldSpec,
    pub air: &'a Air,
    pub placed: &'a SchemePlacement,
    /// Node of each station and kind of its radio, by index in the specification.
    pub node_of_station: &'a [NodeIx],
    pub radio_of_station: &'a [usize],
    /// Memory for packets on wires.
    pub memory: Bytes,
    pub seed: u64,
}

/// A port before its scheme is placed.
struct PlannedPort {
    node: NodeIx,
    link: LinkRef,
    backpressure: bool,
    local_limit: LocalLimit,
    name: String,
    /// Access category, and true if the port serves the category of ordinary traffic.
    category: (u8, bool),
}

impl Plan<'_> {
    /// All ports; those of a node are adjacent.
    fn ports(&self) -> Vec<PlannedPort> {
        let of_station = |station: usize, category: u8, ordinary: bool| {
            let mac = &self.spec.radios[self.radio_of_station[station]].mac;
            let name = self.name_of(station);
            let of_category =
                |edca: &EdcaSpec| format!("{name}/{}", edca.categories[usize::from(category)].name);
            PlannedPort {
                node: self.node_of_station[station],
                link: LinkRef::Station(StationIx::of(station)),
                backpressure: mac.backpressure,
                local_limit: mac.local_limit.filter(|_| mac.backpressure),
                name: mac.edca.as_ref().filter(|_| !ordinary).map_or(name.clone(), of_category),
                category: (category, ordinary),
            }
        };
        let stations = 0..self.node_of_station.len();
        let radios =
            stations.clone().map(|station| of_station(station, self.ordinary_category(station), true));
        let wires = self.spec.links.iter().enumerate().flat_map(|(i, link)| {
            [0, 1].map(|side| {
                let [node, other] = [side, 1 - side].map(|side| link.ends[side]);
                PlannedPort {
                    node: NodeIx::of(node),
                    link: LinkRef::Wire(WireIx::of(2 * i + side)),
                    backpressure: true,
                    local_limit: link.local_limit,
                    name: format!("{}>{}", self.spec.nodes[node].id, self.spec.nodes[other].id),
                    category: (0, true),
                }
            })
        });
        let mut ports: Vec<_> = radios.chain(wires).collect();
        ports.sort_by_key(|port| port.node);
        let others = |station: usize| {
            let ordinary = self.ordinary_category(station);
            let count = if self.has_queue_for_each(station) { self.category_count(station) } else { 0 };
            (0..count).filter(move |&category| category != ordinary)
        };
        let others = |station| others(station).map(move |category| of_station(station, category, false));
        ports.extend(stations.flat_map(others));
        ports
    }

    /// Access categories of a station's radio, if it has several.
    fn edca(&self, station: usize) -> Option<&EdcaSpec> {
        let edca = self.spec.radios[self.radio_of_station[station]].mac.edca.as_ref();
        edca.filter(|_| self.air.has_categories(StationIx::of(station)))
    }

    fn category_count(&self, station: usize) -> u8 {
        self.edca(station).map_or(1, |edca| edca.categories.len() as u8)
    }

    /// The category of packets with DSCP 0.
    fn ordinary_category(&self, station: usize) -> u8 {
        self.edca(station).map_or(0, |edca| edca.category_of_dscp[0])
    }

    /// True if each category of a station has a queue of its own, as in mac80211; false if the scheme's queue serves all: because the queue
    /// gives packets their priority, because it counts what the radio holds and compares its size with what neighbours have said (of
    /// several queues each would hear a part), because the agent announces its sizes, or because a hop wants one
    /// ([`Hop::wants_one_queue`](airfair_schemes::places::Hop::wants_one_queue)).
    fn has_queue_for_each(&self, station: usize) -> bool {
        let node = self.node_of_station[station];
        let at = self.interface(node, LinkRef::Station(StationIx::of(station)));
        let scheme = self.placed.at(node.ix());
        let wants = scheme.wants(&at);
        let one_queue = wants.has(Capability::Finished) || wants.has(Capability::Backlogs);
        let one_queue = one_queue || scheme.hop(&at).is_some_and(|hop| hop.wants_one_queue());
        !self.gives_priorities(station) && !one_queue
    }

    /// True if the scheme's queue at a station gives packets their priority.
    fn gives_priorities(&self, station: usize) -> bool {
        let node = self.node_of_station[station];
        let at = self.interface(node, LinkRef::Station(StationIx::of(station)));
        self.placed.at(node.ix()).wants(&at).has(Capability::Priorities)
    }

    /// Categories of a planned port, `others`: the ports of its station by category.
    fn categories(&self, port: &PlannedPort, others: &[Vec<(u8, PortIx)>]) -> Option<Box<PortCategories>> {
        let LinkRef::Station(station) = port.link else { return None };
        let edca = self.edca(station.ix())?;
        let mut ports = others[station.ix()].clone();
        ports.sort_unstable();
        let of_dscp = edca.category_of_dscp;
        let ports = if ports.len() > 1 { ports.into_iter().map(|port| port.1).collect() } else { Vec::new() };
        let by_priority = self.gives_priorities(station.ix());
        let count = edca.categories.len() as u8;
        port.category.1.then(|| Box::new(PortCategories { count, of_dscp, ports, by_priority }))
    }

    /// Name of a station's interface.
    fn name_of(&self, station: usize) -> String {
        let node = &self.spec.nodes[self.node_of_station[station].ix()].id;
        format!("{node}/{}", self.spec.radios[self.radio_of_station[station]].name)
    }

    /// Description of a port for schemes.
    fn interface(&self, node: NodeIx, link: LinkRef) -> Interface {
        match link {
            LinkRef::Station(station) => {
                self.placed.radio(self.spec, node.ix(), self.radio_of_station[station.ix()])
            }
            LinkRef::Wire(wire) => self.placed.wire(self.spec, node.ix(), link_of(wire)),
        }
    }

    /// Builds a port's queue, AQM and hop from the scheme of its node.
    fn fill(
        &self,
        port: &PlannedPort,
        ids: &[NodeId],
        kinds: &mut HeaderKinds,
    ) -> (NewPort, backpressure::SourceRules) {
        let PlannedPort { node, link, backpressure, local_limit, ref name, .. } = *port;
        let id = |station: StationIx| ids[self.node_of_station[station.ix()].ix()];
        let (peers, framing): (BTreeMap<_, _>, _) = match link {
            LinkRef::Station(station) => {
                (self.air.neighbours(station).map(|(peer, _)| (id(peer), peer)).collect(), 0)
            }
            LinkRef::Wire(_) => (BTreeMap::new(), self.spec.headers.wired),
        };
        let (interface, scheme) = (self.interface(node, link), self.placed.at(node.ix()));
        let own_queue = scheme.wants(&interface).has(Capability::OwnQueue);
        let random = Stream::new(self.seed, name, Purpose::Queue);
        let mut pipeline = Pipeline::new(scheme, &interface, framing, random);
        pipeline.register_header(kinds);
        if let Some(hop) = scheme.hop(&interface) {
            let random = Stream::new(self.seed, name, Purpose::Hop);
            pipeline.add_hop(hop, kinds, random, rank(self.seed, name));
        }
        let rules = backpressure::SourceRules {
            backpressure,
            local_limit,
            fillable: backpressure && local_limit.is_none() && !own_queue,
        };
        (NewPort { node, link, pipeline, peers: peers.into_iter().collect(), categories: None }, rules)
    }

    /// Adds the agents of stations whose schemes provide one.
    fn add_agents(&self, network: &mut Network) {
        let stations = self.node_of_station.len();
        let counts_messages = self.placed.message_kinds().is_some();
        for station in network.plane.interfaces.stations() {
            let (node, port) = network.plane.interfaces.of_station(station);
            let (interface, scheme) =
                (self.interface(node, LinkRef::Station(station)), self.placed.at(node.ix()));
            let wants_access_times = |port| network.plane.interfaces.pipeline(port).wants_access_times();
            if network.plane.interfaces.ports_of_link(port).any(wants_access_times) {
                network.plane.meters.uses.add(station, stations);
                network.plane.rules.counts_finished = true;
            }
            let Some(agent) = scheme.agent(&interface) else { continue };
            let wants = scheme.wants(&interface);
            if wants.has(Capability::LinkUse) || wants.has(Capability::LinkTimes) {
                network.plane.meters.uses.add(station, stations);
                network.plane.rules.counts_finished = true;
                network.plane.rules.processes_received = true;
            }
            // They count the frames of messages, too.
            if wants.has(Capability::Links) || counts_messages {
                network.plane.meters.links.add(station, stations);
                network.plane.rules.counts_finished = true;
            }
            if wants.has(Capability::Links) {
                network.plane.interfaces.sort_arrivals();
            }
            let random = Stream::new(self.seed, &self.name_of(station.ix()), Purpose::Agent);
            let (neighbours, rank) =
                (network.plane.interfaces.peers(port).len(), network.plane.interfaces.rank(node));
            let mut agent = AgentSlot::new(agent, wants.samples(), neighbours, random, rank);
            if agent.is_forwarder() {
                network.hosts.forwarders.add(
                    (station, stations),
                    node,
                    wants.has(Capability::DeliveryRatios),
                );
            }
            let hears = agent.hears().filter(|_| wants.has(Capability::HeardHeaders));
            let hears = network.plane.headers.id(hears);
            network.plane.rules.agents_hear |= !hears.is_none();
            let wants_backlogs = wants.has(Capability::Backlogs);
            network.hosts.agents.add((station, stations), agent, (wants_backlogs, hears));
        }
    }

    /// Where and when controllers run: as the specification says, or one that runs from the start to the end, if the run's scheme has one.
    /// In the order of names and starts.
    fn controllers(&self, usable: &[Vec<Link>], name_orders: &[u32]) -> Vec<ControllerSpec> {
        let Self { spec, placed, .. } = *self;
        let mut given: Vec<_> = spec.controllers.clone();
        if given.is_empty() && placed.run.controller().is_some() {
            let default = default_controller(spec, usable, name_orders);
            given.extend(default.map(|node| ControllerSpec { node, start: Time::ZERO, stop: None }));
        }
        given.retain(|at| placed.at(at.node).controller().is_some());
        given.sort_by_key(|at| (name_orders[at.node], at.start));
        given
    }

    /// Adds the controllers that run at nodes whose schemes provide one.
    fn add_controllers(&self, network: &mut Network, controllers: &[ControllerSpec]) {
        for &ControllerSpec { node, start, stop } in controllers {
            let Some(controller) = self.placed.at(node).controller() else { continue };
            let id = &self.spec.nodes[node].id;
            // A controller that starts later has a stream of its own.
            let name = if start == Time::ZERO { id.clone() } else { format!("{id}@{}", start.as_nanos()) };
            let random = Stream::new(self.seed, &name, Purpose::Controller);
            let slot = ControllerSlot::new(controller, random, rank(self.seed, id));
            network.hosts.controllers.add(NodeIx::of(node), (start, stop), slot);
        }
    }

    /// The interfaces at which the run's scheme would act, if it fills no place in this network, though it has places that other networks
    /// would fill.
    fn idle_scheme(&self, network: &Network) -> Option<IdleScheme> {
        let scheme = &self.placed.run;
        let acts = |at: &Interface| {
            scheme.aqm(at).is_some() || scheme.agent(at).is_some() || scheme.hop(at).is_some()
        };
        let idle = network.hosts.agents.is_empty()
            && network.hosts.controllers.is_empty()
            && network.plane.interfaces.ports().all(|port| !network.plane.interfaces.pipeline(port).judges());
        if !idle {
            return None;
        }
        let acts =
            |of: &dyn Fn(&Interface) -> bool| Interface::all_kinds().iter().any(|at| of(at) && acts(at));
        let kinds = IdleScheme {
            radio: acts(&|at| at.medium == Medium::Radio && !at.access_point),
            access_point: acts(&Interface::is_access_point_radio),
            wire: acts(&|at| at.medium == Medium::Wire),
        };
        (kinds.radio || kinds.access_point || kinds.wire).then_some(kinds)
    }
}

/// Builds everything above the MAC except the flows.
pub(super) fn network(plan: Plan<'_>, agenda: &mut Agenda) -> Network {
    let Plan { spec, air, seed, .. } = plan;
    let names: Vec<&str> = spec.nodes.iter().map(|node| node.id.as_str()).collect();
    let ids: Vec<NodeId> = scheme_ids::of_names(&names).into_iter().map(NodeId).collect();
    let planned = plan.ports();
    let mut ports_of: Table<NodeIx, Vec<PortIx>> = names.iter().map(|_| Vec::new()).collect();
    let mut of_station = vec![(NodeIx(0), PortIx(0)); plan.node_of_station.len()];
    let mut of_wire = vec![PortIx(0); 2 * spec.links.len()];
    let mut by_category = vec![Vec::new(); plan.node_of_station.len()];
    for (i, port) in planned.iter().enumerate() {
        if let LinkRef::Station(station) = port.link {
            by_category[station.ix()].push((port.category.0, PortIx::of(i)));
        }
        if !port.category.1 {
            continue;
        }
        let at = PortIx::of(i);
        ports_of[port.node].push(at);
        match port.link {
            LinkRef::Station(station) => of_station[station.ix()] = (port.node, at),
            LinkRef::Wire(wire) => of_wire[wire.ix()] = at,
        }
    }
    // Schemes create their parts in the order of names, and nodes go through their wires in this order: that of a file means nothing. No
    // file has two wires between the same nodes.
    let name_of_wire = |port: PortIx| {
        let PlannedPort { link, ref name, .. } = planned[port.ix()];
        matches!(link, LinkRef::Wire(_)).then_some(name)
    };
    for ports in ports_of.iter_mut() {
        ports.sort_by(|&a, &b| match (name_of_wire(a), name_of_wire(b)) {
            (Some(one), Some(other)) => natural_cmp(one, other),
            // A node's radios precede its wires.
            _ => a.cmp(&b),
        });
    }
    let mut by_name: Vec<usize> = (0..planned.len()).collect();
    by_name.sort_by(|&a, &b| natural_cmp(&planned[a].name, &planned[b].name));
    let mut kinds = HeaderKinds::default();
    let mut filled: Vec<_> =
        by_name.into_iter().map(|i| (i, plan.fill(&planned[i], &ids, &mut kinds))).collect();
    filled.sort_unstable_by_key(|port| port.0);
    let (mut ports, rules): (Vec<_>, Vec<_>) = filled.into_iter().map(|port| port.1).unzip();
    for (port, planned) in ports.iter_mut().zip(&planned) {
        port.categories = plan.categories(planned, &by_category);
    }
    let mut backpressure = Backpressure::default();
    rules.iter().for_each(|&rules| backpressure.add_port(rules));
    let nodes = names.iter().zip(&ports_of).zip(&ids);
    let nodes = nodes.map(|((name, ports), &id)| (ports.clone(), id, rank(seed, name)));
    let interfaces = Interfaces::new(ports.into_iter(), nodes, of_station);
    let mut links = links(plan, &interfaces, &of_wire);
    let usable: Vec<_> =
        interfaces.nodes().map(|node| usable_links(node, &interfaces, &links, air)).collect();
    let name_orders = natural_orders(&names);
    let controllers = plan.controllers(&usable, &name_orders);
    if !controllers.is_empty() {
        // Its messages, and those for it, may precede the packets that wait.
        links.keep_no_queues();
    }
    let framing = interfaces.ports().map(|port| match interfaces.link(port) {
        LinkRef::Station(station) => air.framing(station),
        LinkRef::Wire(_) => spec.headers.wired,
    });
    let nodes = Nodes {
        names: &names,
        name_orders,
        ids,
        ports: ports_of.into_iter().cloned().collect(),
        framing: framing.collect(),
        links: usable,
        ends: spec.flows.iter().map(|flow| [flow.from, flow.to].map(NodeIx::of)).collect(),
    };
    let routes = Routes::new(&spec.routing, nodes, seed);
    let loss =
        |station: usize| (plan.name_of(station), spec.radios[plan.radio_of_station[station]].packet_loss);
    let packet_losses = PacketLosses::new((0..plan.radio_of_station.len()).map(loss), seed);
    let rules = RunRules {
        headers: spec.headers,
        hop_limit: u16::from(spec.hop_limit),
        warmup: Time::ZERO + spec.warmup,
        end: Time::ZERO + spec.duration,
        hops_at_wires: of_wire.iter().any(|&port| interfaces.pipeline(port).has_hop()),
        processes_received: routes.are_found()
            || packet_losses.any()
            || interfaces.ports().any(|port| interfaces.pipeline(port).wants_received()),
        counts_finished: false,
        idle_scheme: None,
        queues_label: interfaces.ports().any(|port| !interfaces.pipeline(port).queue_header().is_none()),
        queues_wait: interfaces.ports().any(|port| interfaces.pipeline(port).may_wait()),
        headers_heard: interfaces
            .ports()
            .any(|port| interfaces.pipeline(port).wants(Capability::HeardHeaders)),
        agents_hear: false,
        queues_follow_routes: interfaces
            .ports()
            .any(|port| interfaces.pipeline(port).wants(Capability::Routes)),
    };
    let plane = DataPlane {
        rules,
        arp: Arp::new(spec.arp, interfaces.ports().len()),
        interfaces,
        links,
        routes,
        packets: Packets::default(),
        headers: kinds,
        messages: Messages::default(),
        outside: Outside::default(),
        accounts: Accounts::default(),
        differentials: Differentials::default(),
        meters: Meters::default(),
        records: Records::default(),
        schedule: Schedule::default(),
        news: VecDeque::new(),
        rooms: VecDeque::new(),
        unsettled: false,
        ended_messages: Vec::new(),
    };
    let mut network = Network {
        plane,
        endpoints: Endpoints { backpressure, ..Endpoints::default() },
        hosts: Hosts::default(),
        passing: Passing::default(),
        attempts: Attempts::default(),
        link_counts: None,
        packet_losses,
        measuring: spec.warmup == Span::ZERO,
    };
    plan.add_agents(&mut network);
    network.hosts.frames = plan.placed.message_kinds().map(MessageFrames::new).unwrap_or_default();
    plan.add_controllers(&mut network, &controllers);
    network.plane.rules.idle_scheme = plan.idle_scheme(&network);
    network.plane.start_routing();
    network.start_agents(air);
    network.start_forwarders(air);
    network.start_controllers();
    network.push_scheduled(agenda);
    network.plane.interfaces.start_hops(&mut network.plane.schedule);
    network.push_scheduled(agenda);
    network
}

/// The node of a controller where the specification names none: the first access point by name; without one, the node with the least sum of
/// hops over usable links to all others, the first by name of several. A node out of reach counts as far as all nodes together.
fn default_controller(spec: &WorldSpec, usable: &[Vec<Link>], name_orders: &[u32]) -> Option<usize> {
    let wired: BTreeSet<usize> = spec.links.iter().flat_map(|link| link.ends).collect();
    let is_access_point = |&node: &usize| !spec.nodes[node].radios.is_empty() && wired.contains(&node);
    let nodes = 0..spec.nodes.len();
    let access_point = nodes.clone().filter(is_access_point).min_by_key(|&node| name_orders[node]);
    access_point.or_else(|| nodes.min_by_key(|&node| (sum_of_hops(node, usable), name_orders[node])))
}

/// Sum of the hops from a node to all others.
fn sum_of_hops(from: usize, usable: &[Vec<Link>]) -> u64 {
    let far = usable.len() as u64;
    let mut hops = vec![far; usable.len()];
    let mut reached = vec![from];
    hops[from] = 0;
    let mut next = 0;
    while let Some(&node) = reached.get(next) {
        next += 1;
        for link in &usable[node] {
            let to = link.to as usize;
            if hops[to] == far {
                hops[to] = hops[node] + 1;
                reached.push(to);
            }
        }
    }
    hops.iter().sum()
}

/// The wires. A wire keeps its port's queue itself unless another part has to know what the queue holds.
fn links(plan: Plan<'_>, interfaces: &Interfaces, of_wire: &[PortIx]) -> Links {
    let spec = plan.spec;
    let names: Vec<&str> = spec.nodes.iter().map(|node| node.id.as_str()).collect();
    let packets = (spec.headers.wired, plan.memory);
    let mut links = Links::new(&spec.links, &names, of_wire, packets, plan.seed);
    // A source that keeps a number of packets waiting has to be notified of each departure.
    let saturating = spec.flows.iter().filter(|flow| matches!(flow.traffic, Traffic::Saturating { .. }));
    let saturated: BTreeSet<NodeIx> = saturating.map(|flow| NodeIx::of(flow.from)).collect();
    // The port of a packet may be known only when the packet leaves its source: then its node's queue counts the packet.
    if matches!(spec.routing, RoutingSpec::Found(_)) {
        return links;
    }
    for (wire, &port) in of_wire.iter().enumerate() {
        if let Some(limit @ 1..) = interfaces.pipeline(port).tail_drop()
            && !saturated.contains(&interfaces.node(port))
        {
            links.keep_queue(WireIx::of(wire), limit);
        }
    }
    links
}

/// Links of a node to neighbours that can exchange data frames with it in both directions.
fn usable_links(node: NodeIx, interfaces: &Interfaces, wires: &Links, air: &Air) -> Vec<Link> {
    let of_port = |port: PortIx| -> Vec<Link> {
        let interface = port.0;
        match interfaces.link(port) {
            LinkRef::Station(station) => {
                let usable = |peer: StationIx| {
                    let forward = air.reach().delivery_ratio(station, peer, JUDGED_BYTES);
                    let backward = air.reach().delivery_ratio(peer, station, JUDGED_BYTES);
                    let to = interfaces.of_station(peer).0.0;
                    let usable = forward > LEAST_DELIVERY && backward > LEAST_DELIVERY;
                    usable.then_some(Link { to, interface, delivery: forward * backward, is_cable: false })
                };
                interfaces.peer_stations(port).filter_map(usable).collect()
            }
            LinkRef::Wire(wire) => {
                let delivery = (1.0 - wires.loss(wire)).max(1e-9);
                vec![Link { to: wires.far_end(wire).0, interface, delivery, is_cable: true }]
            }
        }
    };
    interfaces.ports_of(node).flat_map(of_port).collect()
}

/// Adds the flows with their sources (those of the run's scheme, if it has them) and pushes their starts onto the agenda.
pub(super) fn add_flows(
    network: &mut Network,
    spec: &WorldSpec,
    (run, schemes): (Box<dyn Scheme>, &Registry),
    seed: u64,
    agenda: &mut Agenda,
) -> Result<(), String> {
    let (laws, laws_of_flows) = Laws::new(spec, run, schemes)?;
    for (flow, law) in spec.flows.iter().zip(&laws_of_flows) {
        let carrier = law.map_or_else(|| laws::carrier(&flow.transport), |law| law.carrier);
        let tcp = matches!(flow.transport, Transport::Tcp { .. });
        if let Some(packets) =
            without_room(&flow.transport, &flow.traffic, || law.and_then(|law| laws.header(law)))
        {
            let what = if tcp { "an mss" } else { "a packet" };
            return Err(format!("flow {}: {what} of {} B {}", flow.id, packets.size, packets.problem()));
        }
        let ends = law.and_then(|law| laws.ends(law));
        let ends = (ends, law.is_some_and(|law| laws.reads_own_queue(law.id)));
        let repairs = carrier == Carrier::Rate;
        let of_transport = if repairs { Data::wire_len() as u32 } else { 0 };
        let lower = spec.headers.udp + spec.headers.ip + of_transport;
        let kinds = &mut network.plane.headers;
        let packets = (laws::packets(flow, carrier).packet(), repairs);
        network.endpoints.udp.add_flow(flow, ends, packets, (rank(seed, &flow.id), seed), kinds, lower);
    }
    network.endpoints.tcp = Tcp::new(laws);
    let names: Vec<&str> = spec.flows.iter().map(|flow| flow.id.as_str()).collect();
    for ((flow, law), id) in spec.flows.iter().zip(laws_of_flows).zip(scheme_ids::of_names(&names)) {
        let [from, to] = [flow.from, flow.to].map(NodeIx::of);
        let hop = |(from, to)| network.plane.routes.fixed_hop(from, to).filter(|_| from != to);
        let hops = [(from, to), (to, from)].map(hop);
        let carrier = law.map_or_else(|| laws::carrier(&flow.transport), |law| law.carrier);
        let identity = (FlowId(id), rank(seed, &flow.id));
        let mut f = Flow::new(flow, identity, carrier, hops, seed, network.plane.rules.end);
        let number = FlowIx::of(network.endpoints.flows.len());
        let (header, _) = network.endpoints.udp.label(number);
        let of_transport = network.endpoints.udp.transport_header(number);
        f.source.leave_room(network.plane.headers.wire_len(header) + of_transport);
        let over_tcp = law.filter(|law| law.carrier == Carrier::Tcp).map(|law| law.id);
        network.endpoints.tcp.add_flow(flow, over_tcp, seed, &spec.headers);
        let exempt = network.endpoints.udp.reads_own_queue(number);
        network.endpoints.backpressure.add_flow(exempt);
        if network.hosts.forwarders.any() {
            // The law of a flow would pace what forwarders take as they need it.
            let may = !f.is_tcp() && !network.endpoints.udp.controls(number);
            network.hosts.forwarders.add_flow(FlowId(id), [from, to], may, f.stop);
            f.forwarded = network.hosts.forwarders.source_of(number).map(|station| {
                let port = network.plane.interfaces.of_station(station).1;
                Box::new(Forwarded { port, waiting: VecDeque::new() })
            });
        }
        let (start, stop, order) = (f.start, f.stop, f.order());
        network.plane.routes.watch([from, to], (start.max(network.plane.rules.warmup), stop));
        network.endpoints.flows.push(f);
        if start < stop {
            agenda.push(start, order, EventKind::FlowStart(number));
        }
    }
    // A wire that keeps its queue itself knows departures in advance: nothing can precede what waits there.
    if network.endpoints.flows.places().any(|flow| network.endpoints.udp.reports_go_ahead(flow)) {
        network.plane.links.keep_no_queues();
        network.plane.interfaces.sort_arrivals();
    }
    let limited = |port| network.endpoints.backpressure.rules(port).local_limit.is_some();
    network.endpoints.backpressure.limits_tcp = network.plane.interfaces.ports().any(limited)
        && network.endpoints.flows.iter().any(|flow| flow.is_tcp());
    network.notify_agents_of_routes();
    network.plane.links.rate_changes(&spec.links).for_each(|due| agenda.push_if(Some(due)));
    if !network.measuring {
        agenda.push(network.plane.rules.warmup, Order::new(class::WARMUP, 0), EventKind::Warmup);
    }
    Ok(())
}
