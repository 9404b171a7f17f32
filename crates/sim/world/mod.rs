//! A world: a self-contained value; many may exist in one process. Its loop pops events from the agenda and passes each to the part to
//! which it belongs, serves the links that may have a packet to send, pushes the later events onto the agenda, and passes the parts'
//! records to the observers.
//!
//! | file | contents |
//! |---|---|
//! | `radio` | between the data plane and the MACs of radios |
//! | `sources` | sources of flows: their packets, and room for them |
//! | `delivery` | packets at the ends of links, and the end of an event |
//! | `host_events` | agents, controllers and forwarders: what they learn |
//! | `hosts` | the network as hosts of schemes use it |
//! | `observing` | observers: their starts, and what they have recorded |
//! | `setup`, `build` | creation of a world from its specification |
//! | `scheme_placement` | the scheme of each node's interfaces |
//! | `warnings` | doubtful settings, reported before the run |

mod build;
mod delivery;
mod host_events;
mod hosts;
mod observing;
mod radio;
mod radio_counters;
mod scheme_placement;
mod setup;
mod sources;
mod warnings;

pub use radio_counters::{count_links, link_counters, radio_counters};
pub use scheme_placement::offered;

use airfair_host::{agents, controllers};
use airfair_schemes::places::{PacketClass, Source, Timer};
use airfair_units::{Rate, Time};

use crate::air::{Air, Relation};
use crate::engine::Agenda;
use crate::engine::drive::Steppable;
use crate::event::{EventKind, Order, class};
use crate::ids::{LinkRef, NodeIx, PortIx, StationIx};
use crate::measure::samples::{FlowProgress, Snapshot};
use crate::measure::summary::RunResult;
use crate::node::Network;
use crate::node::plane::DataPlane;
use crate::node::plane::outside::{Egress, Ingress, Injection};
use crate::observe::capture::Addresses;
use crate::observe::{Observers, RunInfo, WorldView, paths};
use crate::optimum::{NoOptimum, Optimum, OptimumSpec, Unmodelled, optimum};
use crate::record::Names;
use crate::spec::WorldSpec;

/// A network in virtual time. `Send`; no thread, file or clock inside.
pub struct World {
    agenda: Agenda,
    air: Air,
    network: Network,
    run: RunInfo,
    observers: Observers,
}

/// The largest IP packet, bytes.
const LARGEST_PACKET: u32 = 65_535;

/// The far side of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortEnd {
    /// A radio.
    Radio(StationIx),
    /// A wire, with the node at its far end.
    Wire(NodeIx),
}

/// A static route of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteEntry {
    /// The node.
    pub node: NodeIx,
    /// Where packets are to go.
    pub destination: NodeIx,
    /// The port by which they leave.
    pub port: PortIx,
    /// The node that passes them on, or the destination.
    pub next_hop: NodeIx,
}

/// Events between two looks at the memory of packets, and at whether the caller wants the loop back.
const BETWEEN_LOOKS: u64 = 1 << 12;

impl World {
    /// The event loop. Kept out of line, and the only place that handles events: with a second one the compiler would not inline the parts'
    /// functions into the loop.
    ///
    /// Returns false if it ends before `limit`: once some `most_popped` events of the run are handled, or where packets lack memory.
    #[inline(never)]
    fn handle_events(&mut self, limit: Time, most_popped: u64) -> bool {
        let recorded = self.network.plane.records.are_enabled();
        loop {
            let Self { agenda, air, network, .. } = self;
            let mut done = true;
            loop {
                if agenda.popped.is_multiple_of(BETWEEN_LOOKS) {
                    network.plane.links.is_full |= network.plane.lacks_memory();
                    if agenda.popped >= most_popped || network.plane.links.is_full {
                        return false;
                    }
                }
                let Some(event) = agenda.next_before(limit, air) else { break };
                let now = agenda.now;
                match event.kind {
                    EventKind::FrameEnd { .. }
                    | EventKind::BandStart { .. }
                    | EventKind::BandEnd { .. }
                    | EventKind::Reply(_)
                    | EventKind::Timeout { .. }
                    | EventKind::Access(_)
                    | EventKind::Move(_)
                    | EventKind::GainChange(_)
                    | EventKind::Renew(_) => {
                        air.handle(event.kind, agenda);
                        if air.has_indications() {
                            network.handle_indications(air, agenda);
                        }
                    }
                    EventKind::FlowStart(flow) => sources::start(network, flow, agenda),
                    EventKind::FlowStop(flow) => network.endpoints.flow_stop(&mut network.plane, flow, now),
                    EventKind::Source(flow) => sources::due(network, flow, agenda),
                    EventKind::File(flow) => network.endpoints.file_arrives(&mut network.plane, flow, now),
                    EventKind::SenderTimer(connection) => {
                        network.endpoints.sender_timer(&mut network.plane, connection, now)
                    }
                    EventKind::ReceiverTimer(connection) => {
                        network.endpoints.receiver_timer(&mut network.plane, connection, now)
                    }
                    EventKind::LawTimer { connection, generation, timer } => {
                        network.endpoints.law_timer(
                            &mut network.plane,
                            connection,
                            (Timer(timer), generation),
                            now,
                        );
                    }
                    EventKind::LocalRoom(connection) => {
                        network.endpoints.on_local_room(&mut network.plane, connection, now)
                    }
                    EventKind::RoomAtPort(port) => sources::resume(network, port, now),
                    EventKind::QueueWakes(port) => network.plane.queue_wakes(port, now),
                    EventKind::ArpRetry { port, target } => network.plane.arp_retry(port, target, now),
                    EventKind::Release(copy) => network.plane.end_control(copy, now),
                    EventKind::Inject(number) => network.injection_due(number, now),
                    EventKind::Paced(flow) => network.endpoints.paced(&mut network.plane, flow, now),
                    EventKind::Repair(flow) => network.endpoints.repair_due(&mut network.plane, flow, now),
                    EventKind::UdpSourceTimer { flow, generation, timer } => {
                        network.endpoints.udp_source_timer(
                            &mut network.plane,
                            flow,
                            (Timer(timer), generation),
                            now,
                        );
                    }
                    EventKind::UdpReceiverTimer { flow, generation, timer } => {
                        network.endpoints.udp_receiver_timer(
                            &mut network.plane,
                            flow,
                            (Timer(timer), generation),
                            now,
                        );
                    }
                    EventKind::AgentTimer { station, generation, timer } => {
                        agents::timer(network, station, (Timer(timer), generation), now);
                    }
                    EventKind::Sample(station) => network.sample(station, air, now),
                    EventKind::HopTimer { port, generation, timer } => {
                        let DataPlane { interfaces, links, schedule, .. } = &mut network.plane;
                        interfaces.hop_timer(port, (Timer(timer), generation), links, now, schedule);
                    }
                    EventKind::RoutingTimer(node) => network.plane.routing_timer(node, now),
                    EventKind::ControllerStart(controller) => network.start_controller(controller, now),
                    EventKind::ControllerStop(controller) => controllers::stop(network, controller, now),
                    EventKind::ControllerTimer { controller, generation, timer } => {
                        controllers::timer(network, controller, (Timer(timer), generation), now);
                    }
                    EventKind::LocalMessage(copy) => network.local_message(copy, now),
                    EventKind::WireFree(wire) => network.wire_free(wire, agenda),
                    EventKind::WireArrival(wire) => {
                        if let Some(arrival) = network.plane.wire_arrival(wire, agenda) {
                            network.deliver_packet(arrival, now);
                        }
                    }
                    EventKind::RateChange { link, rate } => network.plane.on_rate_change(link, rate),
                    EventKind::Warmup => network.warmed_up(now),
                }
                if recorded | network.plane.schedule.pending {
                    network.finish_event(air, agenda);
                    if recorded {
                        done = false;
                        break;
                    }
                }
            }
            if done {
                break;
            }
            self.event_done();
        }
        if limit > self.agenda.now {
            self.agenda.now = limit;
        }
        true
    }

    /// Gives the observers the records of the present event.
    #[cold]
    #[inline(never)]
    fn event_done(&mut self) {
        let Self { agenda, air, network, run, observers } = self;
        observers.collect(air.records());
        observers.collect(&mut network.plane.links.records);
        observers.collect(&mut network.plane.records);
        let world = WorldView { now: agenda.now, air, network, run, events: agenda.popped };
        observers.event_done(&world);
    }

    /// The world as observers read it.
    const fn observed(&self) -> WorldView<'_> {
        let Self { agenda, air, network, run, observers: _ } = self;
        WorldView { now: agenda.now, air, network, run, events: agenda.popped }
    }

    fn is_over(&self) -> bool {
        self.now() >= self.run.end
    }

    /// Starts the recording of events in all parts.
    fn enable_records(&mut self) {
        self.air.records().enable();
        self.network.plane.links.records.enable();
        self.network.plane.records.enable();
    }

    /// Names of nodes, stations and flows.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.run.names
    }

    /// The air, for its counters.
    #[must_use]
    pub fn air(&self) -> &Air {
        &self.air
    }

    /// Present time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.agenda.now
    }

    /// Events handled so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.agenda.popped
    }

    /// Lets a packet from outside enter, now or later. Its copies leave through [`World::drain_outputs`].
    ///
    /// # Errors
    /// States which value is none: a node or a port that does not exist, a wire's port and a node that is not at its far end, a size, DSCP,
    /// or class, a header that is longer than the packet; or that the time has passed.
    pub fn inject(&mut self, mut packet: Injection, at: Time) -> Result<(), String> {
        if at < self.agenda.now {
            return Err(format!("{at} has passed, it is {}", self.agenda.now));
        }
        if let Some(problem) = self.memory_full() {
            return Err(problem);
        }
        let node = self.check_injection(&packet)?;
        if let Ingress::Port(port, next) = &mut packet.at {
            // A wire has one receiver.
            if let LinkRef::Wire(wire) = self.network.plane.interfaces.link(*port) {
                *next = Some(self.network.plane.links.far_end(wire));
            }
            // So that the port is known by which it is received.
            self.network.plane.rules.processes_received = true;
        }
        let rank = self.network.plane.interfaces.rank(node);
        let number = self.network.plane.outside.add(packet, at);
        self.agenda.push(at, Order::new(class::TRAFFIC, rank), EventKind::Inject(number));
        Ok(())
    }

    /// The node at which a packet enters, if all its values are right.
    fn check_injection(&self, packet: &Injection) -> Result<NodeIx, String> {
        let (nodes, interfaces) = (self.run.names.nodes.len(), &self.network.plane.interfaces);
        let next = match packet.at {
            Ingress::Node(node) => Some(node),
            Ingress::Port(_, next) => next,
        };
        if packet.ends.into_iter().chain(next).any(|node| node.ix() >= nodes) {
            return Err(format!("there are {nodes} nodes"));
        }
        if !(1..=LARGEST_PACKET).contains(&packet.size) {
            return Err(format!("a packet of {} bytes: expected 1 to {LARGEST_PACKET}", packet.size));
        }
        if packet.dscp >= 64 {
            return Err(format!("DSCP {}: expected a number below 64", packet.dscp));
        }
        if packet.class == PacketClass::Control {
            return Err(
                "a packet from outside is data or an acknowledgement, not a control packet".to_string()
            );
        }
        if packet.header.is_some_and(|(kind, _)| kind.wire_len > packet.size) {
            return Err(format!("a packet of {} bytes has no room for its header", packet.size));
        }
        match packet.at {
            Ingress::Node(node) => Ok(node),
            // Those of further access categories are none of a node's own.
            Ingress::Port(port, _)
                if port.ix() >= interfaces.ports().len()
                    || interfaces.ports_of(interfaces.node(port)).all(|of| of != port) =>
            {
                Err(format!("port {} belongs to no node", port.0))
            }
            Ingress::Port(port, next) => match (interfaces.link(port), next) {
                (LinkRef::Wire(wire), Some(next)) if self.network.plane.links.far_end(wire) != next => {
                    let far = &self.run.names.nodes[self.network.plane.links.far_end(wire).ix()];
                    Err(format!("the wire of port {} leads to node {far}", port.0))
                }
                (LinkRef::Station(_), Some(next)) if interfaces.node(port) == next => {
                    Err(format!("node {} is no next hop of its own", self.run.names.nodes[next.ix()]))
                }
                (LinkRef::Station(_), Some(next)) if interfaces.first_station(next).is_none() => {
                    Err(format!("node {} has no radio", self.run.names.nodes[next.ix()]))
                }
                _ => Ok(interfaces.node(port)),
            },
        }
    }

    /// Copies of packets from outside that have left since the last call.
    pub fn drain_outputs(&mut self) -> Vec<Egress> {
        self.network.plane.outside.take_outputs()
    }

    /// The ports of a node: its radios in their order, then its wires in the order of the names at their far ends; with the station of a
    /// radio, or the node at the far end of a wire.
    #[must_use]
    pub fn ports_of(&self, node: NodeIx) -> Vec<(PortIx, PortEnd)> {
        let DataPlane { interfaces, links, .. } = &self.network.plane;
        let end = |port| match interfaces.link(port) {
            LinkRef::Station(station) => PortEnd::Radio(station),
            LinkRef::Wire(wire) => PortEnd::Wire(links.far_end(wire)),
        };
        interfaces.ports_of(node).map(|port| (port, end(port))).collect()
    }

    /// A source of the run's scheme over TCP, if it has one, and the nominal rate of the link of a port: for a stack outside, whose
    /// connections are none of the world's.
    #[must_use]
    pub fn source_at(&self, port: PortIx) -> Option<(Box<dyn Source>, Rate)> {
        let rate = self.network.plane.interfaces.pipeline(port).at().rate;
        Some((self.network.endpoints.tcp.source_of_run()?, rate))
    }

    /// Addresses of nodes and interfaces, those of captures.
    #[must_use]
    pub fn addresses(&self) -> Addresses {
        let interfaces = &self.network.plane.interfaces;
        Addresses::new(&self.run.names.nodes, interfaces.ports().map(|port| interfaces.node(port)))
    }

    /// Number of open TCP connections, and the largest number that were open at once.
    #[must_use]
    pub fn connections(&self) -> (u64, u64) {
        self.network.endpoints.tcp.count()
    }

    /// Node and target of every queue. The target is the radio that the queue feeds, or the node at the far end of its wired link.
    #[must_use]
    pub fn queues(&self) -> Vec<(String, String)> {
        self.observed().queues()
    }

    /// Node and radio of every station.
    #[must_use]
    pub fn stations(&self) -> Vec<(String, String)> {
        self.observed().stations()
    }

    /// End of the warm-up.
    #[must_use]
    pub const fn warmup_end(&self) -> Time {
        self.run.warmup
    }

    /// Progress of each flow, in the order of the scenario.
    #[must_use]
    pub fn progress(&self) -> Vec<FlowProgress> {
        self.observed().progress()
    }

    /// Reception between stations on an otherwise silent air, pair by pair: senders in the order of [`World::stations`], hearers too.
    pub fn relations(&self) -> impl Iterator<Item = Relation> + '_ {
        self.air.stations().flat_map(|station| self.air.reach().relations(station))
    }

    /// The best rates that the air allows the flows, by the links that they use; `spec`: the specification of this world.
    ///
    /// # Errors
    /// The network has something that the model cannot describe.
    pub fn optimum(&self, spec: &WorldSpec, what: &OptimumSpec) -> Result<Optimum, Unmodelled> {
        self.optimum_until(spec, what, &|| false).map_err(|error| match error {
            NoOptimum::Unmodelled(reason) | NoOptimum::OverLimit(reason) => reason,
            NoOptimum::Stopped => Unmodelled("the computation was stopped".to_string()),
        })
    }

    /// The same, unless `stop` is true, which is called again and again: of thousands of cliques the rates take long.
    ///
    /// # Errors
    /// `stop` was true, or the network has something that the model cannot describe.
    pub fn optimum_until(
        &self,
        spec: &WorldSpec,
        what: &OptimumSpec,
        stop: &dyn Fn() -> bool,
    ) -> Result<Optimum, NoOptimum> {
        optimum(spec, (&self.air, &self.network), self.names(), what, stop)
    }

    /// Nodes on the path of each flow, source and destination included; none without a route.
    #[must_use]
    pub fn paths(&self) -> Vec<Option<Vec<NodeIx>>> {
        self.network.endpoints.flows.places().map(|flow| paths::nodes(&self.network, flow)).collect()
    }

    /// Static routes between all nodes, source by source and then by destination: the nodes of each route, source and destination
    /// included. A pair without a route is left out; so are all pairs where a routing protocol finds the routes during the run.
    #[must_use]
    pub fn routes_between_all(&mut self) -> Vec<Vec<NodeIx>> {
        if self.network.plane.routes.are_found() {
            return Vec::new();
        }
        let nodes: Vec<NodeIx> = self.network.plane.interfaces.nodes().collect();
        self.network.plane.routes.find_all_fixed(&nodes);
        let ends = nodes.iter().flat_map(|&from| nodes.iter().map(move |&to| (from, to)));
        let paths =
            ends.filter(|(from, to)| from != to).filter_map(|ends| paths::between(&self.network, ends));
        paths.collect()
    }

    /// Static routes of all nodes: for each node and destination the port and the next hop. A pair without a route is left out; so are all
    /// pairs where a routing protocol finds the routes during the run.
    #[must_use]
    pub fn next_hops(&mut self) -> Vec<RouteEntry> {
        if self.network.plane.routes.are_found() {
            return Vec::new();
        }
        let nodes: Vec<NodeIx> = self.network.plane.interfaces.nodes().collect();
        self.network.plane.routes.find_all_fixed(&nodes);
        let ends = nodes.iter().flat_map(|&from| nodes.iter().map(move |&to| (from, to)));
        let entry = |(from, to)| {
            let next = self.network.plane.routes.next_hop(from, to)?;
            Some(RouteEntry { node: from, destination: to, port: next.port, next_hop: next.node })
        };
        ends.filter(|(from, to)| from != to).filter_map(entry).collect()
    }

    /// Counters from the start of the run to the present, warm-up included.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.observed().snapshot()
    }

    /// Results up to the present.
    #[must_use]
    pub fn result(&self) -> RunResult {
        self.observed().result()
    }

    /// The first error of a scheme, if any: scheme, place and error. The numbers of such a run are meaningless; its result lists the error
    /// first among the warnings.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.observed().fault()
    }

    /// The error if the run needs more memory than the scenario allows: nothing happens any more, and the numbers are meaningless.
    #[must_use]
    pub fn memory_full(&self) -> Option<String> {
        let links = &self.network.plane.links;
        links.is_full.then(|| links.memory_full(|node| self.run.names.nodes[node.ix()].clone()))
    }

    /// Advances as [`Steppable::advance`] does, but no further than by some `most` events: their number at one moment has no bound. Returns
    /// false if events before `until` may be left.
    pub fn advance_part(&mut self, until: Time, most: u64) -> bool {
        let (limit, most_popped) = (until.min(self.run.end), self.agenda.popped.saturating_add(most));
        loop {
            if self.network.plane.links.is_full {
                self.agenda.now = limit.max(self.agenda.now);
                return true;
            }
            let moment = self.observers.next_moment().max(self.now());
            if !self.handle_events(moment.min(limit), most_popped) {
                if self.network.plane.links.is_full {
                    continue;
                }
                return false;
            }
            if moment > limit {
                return true;
            }
            let Self { agenda, air, network, run, observers } = self;
            let world = WorldView { now: agenda.now, air, network, run, events: agenda.popped };
            observers.moment_reached(&world);
        }
    }

    /// The flow whose source has failed, if any.
    #[must_use]
    pub fn faulty_flow(&self) -> Option<&str> {
        self.observed().faulty_flow()
    }
}

impl Steppable for World {
    fn advance(&mut self, until: Time) {
        self.advance_part(until, u64::MAX);
    }

    fn now(&self) -> Time {
        self.agenda.now
    }

    fn next_deadline(&mut self) -> Option<Time> {
        self.agenda.next_time()
    }

    fn is_stuck(&self) -> bool {
        self.network.plane.links.is_full
    }

    /// The end of a frame on the air, the arrival of a packet by wire, or the next event with the shortest frame or delay after it.
    fn next_output(&mut self) -> Option<Time> {
        let next = self.agenda.next_time()?;
        let by_wire = self.network.plane.links.next_arrival().unwrap_or(Time::NEVER);
        let by_radio = self.air.next_end().unwrap_or(Time::NEVER);
        let later =
            next.saturating_add(self.air.shortest_frame().min(self.network.plane.links.shortest_delay()));
        let local = self.network.plane.outside.next_local().unwrap_or(Time::NEVER);
        // A frame that has ended at near hearers arrives at distant ones by a later event.
        Some(later.min(by_wire).min(by_radio).min(local).max(next))
    }

    fn end(&self) -> Time {
        self.run.end
    }
}
