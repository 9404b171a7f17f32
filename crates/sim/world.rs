//! A world: a value, self-contained, many in one process.

use std::collections::BTreeSet;

use airfair_schemes::places::{Interface, Timer};
use airfair_schemes::{Registry, Scheme};
use airfair_units::{Dbm, Time};

use crate::air;
use crate::air::{Air, CutOff, Kind, Relation, StationSpec, TooFast};
use crate::engine::Agenda;
use crate::engine::drive::Surface;
use crate::event::What;
use crate::ids::{NodeIx, StationIx};
use crate::measure::files::Completion;
use crate::measure::samples::{FlowProgress, Gauges, Snapshot, StationSample};
use crate::measure::summary::{Ends, FlowResult, RunResult, StationResult};
use crate::names::natural_cmp;
use crate::net::fault::Fault;
use crate::net::{Behind, Injected, Net, Output, Placed};
use crate::observe::capture::{Capture, Columns, Watch};
use crate::observe::explain::{self, Explanation};
use crate::record::{Names, Trace};
use crate::spec::{FlowSpec, RoutingSpec, Transport, WorldSpec};

/// A network that lives in virtual time. `Send`; no thread, file or clock inside.
pub struct World {
    agenda: Agenda,
    air: Air,
    net: Net,
    end: u64,
    warmup: u64,
    scheme: String,
    /// Schemes of nodes that have their own, and window laws of flows that follow them, by place in the specification.
    own_schemes: Vec<(usize, String)>,
    own_laws: Vec<(usize, String)>,
    seed: u64,
    names: Names,
    radios: Vec<String>,
    warnings: Vec<String>,
    /// What the present event has done.
    happened: Trace,
    /// What happened and was not handed out yet, if a trace was asked for.
    trace: Option<Trace>,
    /// By station.
    tx_power: Vec<Dbm>,
    capture: Option<Box<Capture>>,
    explain: Option<Box<explain::Watch>>,
}

impl World {
    /// Sets a world up whose flows' window laws are the tree's.
    ///
    /// # Errors
    /// Says what in the specification contradicts itself; a scenario that the reader accepts never does.
    pub fn new(
        spec: &WorldSpec,
        scheme_name: &str,
        scheme: Box<dyn Scheme>,
        seed: u64,
    ) -> Result<Self, String> {
        Self::with_schemes(spec, scheme_name, scheme, seed, Registry::built_in())
    }

    /// Sets a world up; the window laws that its flows name are found among `schemes`.
    ///
    /// # Errors
    /// As [`World::new`].
    pub fn with_schemes(
        spec: &WorldSpec,
        scheme_name: &str,
        scheme: Box<dyn Scheme>,
        seed: u64,
        schemes: &Registry,
    ) -> Result<Self, String> {
        if spec.radios.len() > usize::from(u8::MAX) {
            return Err("at most 255 kinds of radio".to_string());
        }
        let placed = Placed::new(spec, scheme, schemes)?;
        let kinds = spec.radios.iter().map(|r| Kind::new(r, &spec.headers)).collect::<Result<Vec<_>, _>>()?;
        let mut stations = Vec::new();
        let mut radio_of_station = Vec::new();
        for (node, n) in spec.nodes.iter().enumerate() {
            for (i, &radio) in n.radios.iter().enumerate() {
                let r = spec.radios.get(radio).ok_or_else(|| format!("node {}: no such radio", n.id))?;
                let interface = placed.radio(spec, node, radio);
                stations.push(StationSpec {
                    node,
                    node_id: n.id.clone(),
                    // The first radio has the node's name: a second one does not rename it.
                    name: if i == 0 { n.id.clone() } else { format!("{}/{}", n.id, r.name) },
                    position: n.position,
                    kind: radio as u8,
                    tx_power: r.phy.tx_power,
                    cutoff: r.phy.cutoff,
                    propagation: r.propagation.clone(),
                    overhears: placed.at(node).wants(&interface).overheard,
                });
                radio_of_station.push(radio);
            }
        }
        for flow in &spec.flows {
            if flow.from >= spec.nodes.len() || flow.to >= spec.nodes.len() {
                return Err(format!("flow {}: no such node", flow.id));
            }
        }
        placed.check(spec, scheme_name)?;
        air::check_memory(&stations, &kinds, &spec.gains, spec.memory_limit)?;
        let mut air = Air::new(kinds, &stations, &spec.gains, seed);
        let mut agenda = Agenda::default();
        air.let_move(&spec.movement, &stations, seed, &mut agenda)?;
        let node_of_station: Vec<u32> = stations.iter().map(|s| s.node as u32).collect();
        let names = Names {
            stations: stations.iter().map(|s| s.name.clone()).collect(),
            node_of_station: node_of_station.iter().copied().map(NodeIx).collect(),
            nodes: spec.nodes.iter().map(|n| n.id.clone()).collect(),
            flows: spec.flows.iter().map(|f| f.id.clone()).collect(),
        };
        let only_marks = Interface::sorts().iter().any(|at| placed.run.wants(at).ecn);
        let for_all = placed.run.source().is_some();
        let own_law = |(i, flow): (usize, &FlowSpec)| match &flow.transport {
            Transport::Tcp { law, pinned, .. } if *pinned || !for_all => Some((i, law.clone())),
            _ => None,
        };
        let own_laws = spec.flows.iter().enumerate().filter_map(own_law).collect();
        let net =
            Net::new(spec, &air, node_of_station, &radio_of_station, (placed, schemes), seed, &mut agenda)?;
        // One after the other by their names, not by their places in the file.
        let by_name = |a: usize, b: usize| natural_cmp(&names.flows[a], &names.flows[b]);
        let mut unreachable: Vec<_> = net.unreachable().collect();
        unreachable.sort_by(|a, b| by_name(a.0, b.0));
        let routeless = unreachable.into_iter().map(|f| {
            format!("flow {}: no route from {} to {}", names.flows[f.0], names.nodes[f.1], names.nodes[f.2])
        });
        let mut too_long: Vec<_> = net.too_long().collect();
        too_long.sort_by(|a, b| by_name(a.0, b.0));
        let too_long = too_long.into_iter().map(|(flow, from, to, hops)| {
            let most = if hops > 255 { "a shorter route, of 255 hops at most" } else { "a greater routing.hop_limit" };
            format!(
                "flow {}: nothing arrives: the route from {} to {} has {hops} hops, and packets live for {}; expected {most}",
                names.flows[flow], names.nodes[from], names.nodes[to], spec.hop_limit
            )
        });
        let only_law = schemes.find(scheme_name).is_some_and(|entry| *entry.places == ["source"]);
        let useless = useless(spec, scheme_name, (only_marks, only_law, net.nowhere));
        let too_fast = too_fast(&air, &net, spec, &names);
        let mut cut_off = air.cut_off();
        let radio = |cut: &CutOff| &spec.radios[cut.kind].name;
        cut_off.sort_by(|a, b| natural_cmp(radio(a), radio(b)).then(a.mode.cmp(&b.mode)));
        let cut_off = cut_off.iter().map(|cut| cut.told(radio(cut)));
        let mut crowders = net.crowders(&names.flows);
        crowders.sort_by(|a, b| by_name(a.0 as usize, b.0 as usize));
        let crowders = crowders.into_iter().map(|(flow, node, other)| {
            let [flow, other] = [flow, other].map(|flow| &names.flows[flow as usize]);
            let node = &names.nodes[node as usize];
            format!(
                "flow {flow}: it may starve what {node} forwards, such as flow {other}: a full queue holds it back (backpressure), and \
                 nothing limits how much of the queue it fills (local_limit = \"off\")"
            )
        });
        let warnings =
            routeless.chain(too_long).chain(too_fast).chain(cut_off).chain(useless).chain(crowders).collect();
        Ok(Self {
            agenda,
            air,
            net,
            end: spec.duration.as_nanos(),
            warmup: spec.warmup.as_nanos(),
            scheme: scheme_name.to_string(),
            own_schemes: spec.schemes.iter().map(|own| (own.node, own.scheme.clone())).collect(),
            own_laws,
            seed,
            radios: radio_of_station.iter().map(|&r| spec.radios[r].name.clone()).collect(),
            names,
            warnings,
            happened: Trace::new(),
            trace: None,
            tx_power: stations.iter().map(|s| s.tx_power).collect(),
            capture: None,
            explain: None,
        })
    }

    /// Captures what interfaces send and receive, and makes the table of frames, in place of [`World::start_trace`]. To be called at the
    /// start of the run; changes nothing of it.
    pub fn observe(&mut self, watch: Watch) {
        let (targets, powers) = (self.queues(), self.tx_power.clone());
        let capture = Capture::new(watch, &self.names, &targets, powers, &mut self.air, &mut self.net);
        self.capture = Some(Box::new(capture));
        self.keep_records();
    }

    /// Blocks of capture files, each with its node, that belong behind those of the last call. A file of fewer than `least` bytes waits for
    /// more, until the run ends.
    pub fn take_captures(&mut self, least: usize) -> Vec<(u32, Vec<u8>)> {
        let (now, over) = (self.agenda.now, self.agenda.now >= self.end);
        let Some(capture) = &mut self.capture else { return Vec::new() };
        capture.take_captures(now, over, least, &self.names)
    }

    /// Rows of the table of frames that belong behind those of the last call. Fewer than `least` wait for more, until the run ends.
    pub fn take_frames(&mut self, least: usize) -> Option<Columns> {
        let (now, over) = (self.agenda.now, self.agenda.now >= self.end);
        self.capture.as_mut()?.take_rows(now, over, least)
    }

    /// The loop of events. Kept out of line, and the only place that handles events: with a second one the compiler would not merge the
    /// parts' functions into the loop.
    #[inline(never)]
    fn run(&mut self, limit: u64) {
        let observed = self.air.records().are_wanted();
        loop {
            let Self { agenda, air, net, .. } = self;
            let mut done = true;
            while let Some(event) = agenda.next_before(limit, air) {
                let now = agenda.now;
                match event.what {
                    What::FrameEnd { .. }
                    | What::BandStart { .. }
                    | What::BandEnd { .. }
                    | What::Reply(_)
                    | What::Timeout { .. }
                    | What::Access(_)
                    | What::Move(_)
                    | What::Renew(_) => {
                        air.handle(event.what, agenda);
                        if air.has_indications() {
                            net.take_up(air, agenda);
                        }
                    }
                    What::FlowStart(flow) => net.flow_start(flow.0, now, agenda),
                    What::FlowStop(flow) => net.tcp_stop(flow.0, now),
                    What::Source(flow) => net.source_due(flow.0, now, agenda),
                    What::File(flow) => net.file_arrives(flow.0, now),
                    What::SenderTimer(connection) => net.sender_timer(connection, now),
                    What::ReceiverTimer(connection) => net.receiver_timer(connection, now),
                    What::LawTimer { connection, generation, timer } => {
                        net.law_timer(connection, generation, Timer(timer), now);
                    }
                    What::LocalRoom(connection) => net.local_room(connection, now),
                    What::Room(port) => net.room(port.0, now),
                    What::ArpRetry { port, target } => net.arp_retry(port.0, target.0, now),
                    What::Release(packet) => net.end_control(packet.0),
                    What::Inject(number) => net.injection_due(number, now),
                    What::AgentTimer { station, generation, timer } => {
                        net.agent_timer(station.0, generation, Timer(timer), now);
                    }
                    What::Sample(station) => net.sample(station.0, air, agenda),
                    What::HopTimer { port, generation, timer } => {
                        net.hop_timer(port.0, generation, Timer(timer), now);
                    }
                    What::RoutingTimer(node) => net.routing_timer(node.0, now),
                    What::WireFree(wire) => net.wire_free(wire, agenda),
                    What::WireArrival(wire) => net.wire_arrival(wire, agenda),
                    What::RateChange { link, rate } => net.link_rate_changes(link, rate),
                    What::Warmup => net.warmed_up(now),
                }
                if net.unsettled {
                    net.settle(air, agenda);
                    if observed {
                        done = false;
                        break;
                    }
                }
            }
            if done {
                break;
            }
            self.observe_event();
        }
        if limit > self.agenda.now {
            self.agenda.now = limit;
        }
        if let Some(explain) = &mut self.explain {
            explain.pass(limit);
        }
    }

    /// Asks, before the world is advanced, that the links of all radios be measured, for [`World::snapshot`]: packets acknowledged and
    /// how long they took. The run stays the same.
    pub fn measure_links(&mut self) {
        self.net.measure_links();
    }

    /// Asks that the headers of explicit-rate schemes become bytes and are read again at every hop from now on: a check of what
    /// travels, which changes no result.
    pub fn check_headers(&mut self) {
        self.net.check_headers();
    }

    /// Asks that files which end from now on be kept one by one; [`World::take_completions`] fetches them.
    pub fn keep_completions(&mut self) {
        self.net.keep_completions();
    }

    /// The files that ended since the last call, each with its flow (as an index), in the order of their ends.
    pub fn take_completions(&mut self) -> Vec<(usize, Completion)> {
        self.net.take_completions()
    }

    /// The next `files` of them, or `None` if fewer have ended: so a long run is written in blocks that do not hang on the steps in
    /// which it is advanced. At the end of the run those that are left, once; never any where no flow sends files.
    pub fn take_completion_block(&mut self, files: usize) -> Option<Vec<(usize, Completion)>> {
        self.net.take_completion_block(files, self.agenda.now >= self.end)
    }

    /// Asks for a trace from now on; [`World::take_trace`] fetches it.
    pub fn start_trace(&mut self) {
        self.trace.get_or_insert_default();
        self.keep_records();
    }

    fn keep_records(&mut self) {
        self.air.records().keep();
        self.net.records.keep();
        self.net.unsettled = true;
    }

    /// Asks, before the world is advanced, that a flow of the specification (by its place) be explained;
    /// [`World::explanation`] tells. The run stays the same, but takes longer.
    ///
    /// # Errors
    /// If there is no such flow, or time has passed already.
    pub fn explain(&mut self, spec: &WorldSpec, flow: usize) -> Result<(), String> {
        let Some(traffic) = spec.flows.get(flow).map(|f| &f.traffic) else {
            return Err(format!("there are {} flows", spec.flows.len()));
        };
        if self.agenda.now > 0 {
            return Err("what has passed cannot be explained: ask at time 0".to_string());
        }
        let nodes = &self.names.node_of_station;
        let watch = explain::Watch::new(flow as u32, traffic, self.warmup, &self.air, &self.net, nodes);
        self.explain = Some(Box::new(watch));
        self.keep_records();
        Ok(())
    }

    /// Why the flow gets what it gets, up to the present; none if [`World::explain`] was not called.
    #[must_use]
    pub fn explanation(&self) -> Option<Explanation> {
        let explain = self.explain.as_ref()?;
        let names = (&self.names, &self.radios[..]);
        Some(explain.explanation(names, &self.net, &self.result(), self.agenda.now))
    }

    /// Those who observe get the records of the present event.
    #[cold]
    #[inline(never)]
    fn observe_event(&mut self) {
        let Self { agenda, air, net, names, happened, trace, capture, explain, .. } = self;
        happened.extend(air.records().drain());
        happened.extend(net.records.drain());
        if let Some(explain) = explain {
            explain.look(agenda.now, air, net, happened);
        }
        if let Some(capture) = capture {
            let sent = net.links.take_sent();
            capture.see((happened, &sent), names, air, net, agenda.now);
        }
        if let Some(trace) = trace {
            trace.extend(happened.iter().filter(|(_, record)| record.is_traced()));
        }
        happened.clear();
        // The next event, too, is not done before it was looked at.
        net.unsettled = true;
    }

    /// What happened since the last call, in order of time, whatever the steps in which the world is advanced: what is
    /// younger than a band's width (4 us) waits for the next call, since something earlier may still be told. At the end of the run
    /// all is handed out.
    pub fn take_trace(&mut self) -> Trace {
        let Some(trace) = &mut self.trace else { return Trace::new() };
        trace.sort_by_key(|(at, record)| (*at, !record.is_of_the_air()));
        let settled =
            if self.agenda.now >= self.end { u64::MAX } else { self.agenda.now.saturating_sub(air::BAND_NS) };
        let young = trace.split_off(trace.partition_point(|r| r.0.0 < settled));
        std::mem::replace(trace, young)
    }

    /// The agenda's pushes (true) and pops so far, for the benchmark of the back ends.
    #[cfg(feature = "record-agenda")]
    pub fn take_agenda(&mut self) -> Vec<(bool, crate::event::Event)> {
        std::mem::take(&mut self.agenda.record)
    }

    /// The error that a scheme has made, if it has made one: scheme, place and error. The numbers of such a run are of no use; a result
    /// names it first among its warnings.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let of = |list: &[(usize, String)], at: u32| {
            let own = list.iter().find(|own| own.0 == at as usize);
            own.map_or(&self.scheme, |own| &own.1).clone()
        };
        Some(match self.net.fault? {
            Fault::FailedSource { flow } => {
                let (scheme, flow) = (of(&self.own_laws, flow), &self.names.flows[flow as usize]);
                format!("scheme {scheme}: its source of flow {flow} has failed")
            }
            Fault::StrangeNode { node } => format!(
                "scheme {}: its agent at node {} sent a message to a node that does not exist; expected a node of the scenario",
                of(&self.own_schemes, node),
                self.names.nodes[node as usize]
            ),
        })
    }

    /// The flow whose source has failed, if one has.
    #[must_use]
    pub fn faulty_flow(&self) -> Option<&str> {
        let Fault::FailedSource { flow } = self.net.fault? else { return None };
        self.names.flows.get(flow as usize).map(String::as_str)
    }

    /// Names of nodes, stations and flows.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The air, for what it counts.
    #[must_use]
    pub fn air(&self) -> &Air {
        &self.air
    }

    /// The present.
    #[must_use]
    pub fn now(&self) -> Time {
        Time(self.agenda.now)
    }

    /// Events handled so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.agenda.popped
    }

    /// Lets a packet from outside enter at a node, at the present or later.
    ///
    /// # Errors
    /// If a node does not exist, or the time has passed.
    pub fn inject(&mut self, packet: Injected, at: Time) -> Result<(), String> {
        let nodes = self.names.nodes.len() as u32;
        if packet.from >= nodes || packet.to >= nodes {
            return Err(format!("there are {nodes} nodes"));
        }
        if at.0 < self.agenda.now {
            return Err(format!("{at} has passed, it is {}", Time(self.agenda.now)));
        }
        self.net.inject(packet, at.0, &mut self.agenda);
        Ok(())
    }

    /// Injected packets that have ended since the last call.
    pub fn drain_outputs(&mut self) -> Vec<Output> {
        let mut outputs = Vec::new();
        self.net.drain_outputs(&mut outputs);
        outputs
    }

    /// TCP connections that live, and the most that have lived at once.
    #[must_use]
    pub fn connections(&self) -> (u64, u64) {
        self.net.connections()
    }

    /// Node and target of every queue: the radio that it feeds, or the node at the far end of its wired link.
    #[must_use]
    pub fn queues(&self) -> Vec<(String, String)> {
        self.net.queue_names(&self.names, &self.radios)
    }

    /// Node and radio of every station.
    #[must_use]
    pub fn stations(&self) -> Vec<(String, String)> {
        let node = |station: usize| self.names.nodes[self.names.node_of_station[station].ix()].clone();
        self.radios.iter().enumerate().map(|(station, radio)| (node(station), radio.clone())).collect()
    }

    /// When the warm-up ends.
    #[must_use]
    pub const fn warmup_end(&self) -> Time {
        Time(self.warmup)
    }

    /// How far each flow has come, in the order of the scenario.
    #[must_use]
    pub fn progress(&self) -> Vec<FlowProgress> {
        self.net.progress()
    }

    /// Whom each station's frames reach on an otherwise silent air, pair by pair: senders in the order of
    /// [`World::stations`], hearers too.
    pub fn relations(&self) -> impl Iterator<Item = Relation> + '_ {
        self.air.stations().flat_map(|station| self.air.relations(station))
    }

    /// Nodes that the packets of each flow pass, its source and its destination included; none without a route.
    #[must_use]
    pub fn paths(&self) -> Vec<Option<Vec<u32>>> {
        (0..self.names.flows.len()).map(|flow| self.net.path(flow)).collect()
    }

    /// Counters from the start of the run to the present, warm-up included.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let now = self.agenda.now;
        let station = |s: StationIx| {
            let counters = self.air.counters(s);
            StationSample {
                airtime: self.air.airtime(s, Time(now)),
                frames: counters.sent.iter().sum(),
                no_answer: counters.no_cts + counters.no_ack,
                given_up: counters.given_up,
                held: self.air.held(s).count() as u64,
            }
        };
        let told = |gauges: &Gauges| !gauges.1.is_empty();
        let agent = |s: u32| Some((s as usize, self.net.gauges(s))).filter(told);
        let hop = |port: u32| Some((port as usize, self.net.hop_gauges(port))).filter(told);
        Snapshot {
            flows: self.net.flow_samples(Time(now)),
            queues: self.net.queue_samples(now),
            stations: self.air.stations().map(station).collect(),
            agents: self.air.stations().map(|s| s.0).filter_map(agent).collect(),
            hops: (0..self.net.port_count()).filter_map(hop).collect(),
        }
    }

    /// The numbers up to the present.
    #[must_use]
    pub fn result(&self) -> RunResult {
        let now = self.agenda.now;
        let seconds = |ns: u64| Time(ns).as_secs_f64();
        let flows: Vec<FlowResult> = self.net.flow_results(&self.names, self.warmup, now);
        let stations = self
            .air
            .stations()
            .map(|s| StationResult {
                node: self.names.nodes[self.names.node_of_station[s.ix()].ix()].clone(),
                radio: self.radios[s.ix()].clone(),
                airtime: self.air.airtime(s, Time(now)),
                counters: self.air.counters(s),
                messages: self.net.message_counts(s.0),
                routing: self.net.routing_counts(s.0),
            })
            .collect();
        let ends: Ends = self.net.ends(&self.air, now);
        let fallbacks = flows.iter().filter(|flow| flow.fallbacks > 0).map(|flow| {
            let what = if flow.files.is_some() {
                format!("{} of its connections", flow.fallbacks)
            } else {
                "it".to_string()
            };
            format!(
                "flow {}: {what} met interfaces that do not speak its scheme and followed TCP's law",
                flow.id
            )
        });
        let warnings =
            self.fault().into_iter().chain(self.warnings.iter().cloned()).chain(fallbacks).collect();
        RunResult {
            scheme: self.scheme.clone(),
            seed: self.seed,
            duration_s: seconds(now),
            warmup_s: seconds(self.warmup),
            flows,
            drops: ends.dropped.clone(),
            marks: self.net.marks(),
            ends,
            queues: self.net.queue_results(&self.names, &self.radios, now),
            stations,
            warnings,
            events: self.agenda.popped,
            transmissions: self.air.transmissions(),
        }
    }
}

/// The first, by name, of the radio links on the flows' routes that lose nothing by decree, at a rate that their power does not carry; with
/// routes that are found as the world runs, of all links.
fn too_fast(air: &Air, net: &Net, spec: &WorldSpec, names: &Names) -> Option<String> {
    let on_routes = |flow: usize| {
        let flow = flow as u32;
        let hops = net.hops_of(flow, true).into_iter().chain(net.hops_of(flow, false));
        hops.filter_map(|hop| match hop.behind {
            Behind::Station(station) => Some((StationIx(station), StationIx(hop.peer))),
            Behind::Wire(_) => None,
        })
    };
    let links: BTreeSet<(StationIx, StationIx)> = if matches!(spec.routing, RoutingSpec::Found(_)) {
        let all = air.stations().flat_map(|from| air.neighbours(from).map(move |(to, _)| (from, to)));
        all.collect()
    } else {
        (0..spec.flows.len()).flat_map(on_routes).collect()
    };
    let found: Vec<TooFast> = links.into_iter().filter_map(|(from, to)| air.too_fast(from, to)).collect();
    let name = |station: StationIx| &names.stations[station.ix()];
    let by_name = |a: &&TooFast, b: &&TooFast| {
        natural_cmp(name(a.from), name(b.from)).then_with(|| natural_cmp(name(a.to), name(b.to)))
    };
    let &TooFast { from, to, power, needed } = found.iter().min_by(by_name)?;
    let more = match found.len() - 1 {
        0 => String::new(),
        1 => " (1 more such link)".to_string(),
        n => format!(" ({n} more such links)"),
    };
    Some(format!(
        "{} from {} to {} arrives with {:.1} dBm and needs {:.1} dBm: a link that loses nothing here and, by the error curves, \
         more than a tenth of its frames{more}; radio.sensitivity = \"per-rate\", another error_model, a lower data_rate or a shorter \
         distance make it true",
        air.phy(from).data_rate(),
        name(from),
        name(to),
        power.0,
        needed.0
    ))
}

/// Why the run's scheme does nothing, if it does nothing.
fn useless(
    spec: &WorldSpec,
    scheme: &str,
    (only_marks, only_law, nowhere): (bool, bool, bool),
) -> Option<String> {
    let speaks_ecn = |flow: &FlowSpec| matches!(&flow.transport, Transport::Tcp { config, .. } if config.ecn);
    if nowhere {
        return Some(format!(
            "scheme {scheme} acts at no interface of this scenario; its line in `airfair schemes` says where it does"
        ));
    }
    let follows = |flow: &FlowSpec| matches!(flow.transport, Transport::Tcp { pinned: false, .. });
    if only_law && !spec.flows.iter().any(follows) {
        let tcp = spec.flows.iter().any(|flow| matches!(flow.transport, Transport::Tcp { .. }));
        let why = if tcp { "every TCP flow names a scheme of its own" } else { "no flow runs TCP" };
        return Some(format!("scheme {scheme} is a window law, and {why}: it does nothing"));
    }
    (only_marks && !spec.flows.iter().any(speaks_ecn)).then(|| {
        format!(
            "scheme {scheme} only marks packets, and no flow speaks ECN (tcp.ecn = true): it does nothing"
        )
    })
}

impl Surface for World {
    fn advance(&mut self, until: Time) {
        let limit = until.0.min(self.end);
        self.run(limit);
    }

    fn next_deadline(&mut self) -> Option<Time> {
        self.agenda.next_time().map(Time)
    }

    fn end(&self) -> Time {
        Time(self.end)
    }
}
