//! A world: a value, self-contained, many in one process. It takes events from its agenda, gives each to the part that it belongs to, lets
//! the parts settle, and gives what they have recorded to those who observe.
//!
//! | file | contents |
//! |---|---|
//! | `setup` | a world from its specification |
//! | `warnings` | what lets doubt before anything happens |

mod setup;
mod warnings;

use airfair_schemes::places::Timer;
use airfair_units::{Span, Time};

use crate::air::{Air, Relation};
use crate::engine::Agenda;
use crate::engine::drive::Surface;
use crate::event::What;
use crate::measure::files::Completion;
use crate::measure::samples::{FlowProgress, Snapshot};
use crate::measure::summary::RunResult;
use crate::net::{Injected, Net, Output};
use crate::observe::capture::{Capture, CaptureSpec, Columns};
use crate::observe::explain::{Explainer, Explanation};
use crate::observe::series::{Sampler, Series};
use crate::observe::windows::{Fairness, WindowFairness};
use crate::observe::{Observed, Observers, Run};
use crate::record::{Names, Trace};
use crate::spec::WorldSpec;

/// A network that lives in virtual time. `Send`; no thread, file or clock inside.
pub struct World {
    agenda: Agenda,
    air: Air,
    net: Net,
    run: Run,
    observers: Observers,
}

impl World {
    /// The loop of events. Kept out of line, and the only place that handles events: with a second one the compiler would not merge the
    /// parts' functions into the loop.
    #[inline(never)]
    fn handle_events(&mut self, limit: u64) {
        let recorded = self.net.records.are_wanted();
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
                    What::Release(packet) => net.end_control(packet),
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
    }

    /// Observers get what the parts have recorded in the present event.
    #[cold]
    #[inline(never)]
    fn event_done(&mut self) {
        let Self { agenda, air, net, run, observers } = self;
        observers.take(air.records());
        observers.take(&mut net.links.records);
        observers.take(&mut net.records);
        // The next event, too, is to be observed before another one happens.
        net.unsettled = true;
        let world = Observed { now: Time(agenda.now), air, net, run, events: agenda.popped };
        observers.event_done(&world);
    }

    /// The world as observers see it.
    const fn observed(&self) -> Observed<'_> {
        let Self { agenda, air, net, run, observers: _ } = self;
        Observed { now: Time(agenda.now), air, net, run, events: agenda.popped }
    }

    fn is_over(&self) -> bool {
        self.now() >= self.run.end
    }

    /// From now on parts record what happens.
    fn keep_records(&mut self) {
        self.air.records().keep();
        self.net.links.records.keep();
        self.net.records.keep();
        self.net.unsettled = true;
    }

    /// Asks for a trace from now on; [`World::take_trace`] fetches it. The run stays the same, here and with every other observer.
    pub fn start_trace(&mut self) {
        self.observers.trace.get_or_insert_default();
        self.keep_records();
    }

    /// What happened since the last call, in order of time, whatever the steps in which the world is advanced: what is
    /// younger than a band's width (4 us) waits for the next call, since something earlier may still be recorded. At the end of the run
    /// all is handed out.
    pub fn take_trace(&mut self) -> Trace {
        let (now, over) = (self.now(), self.is_over());
        self.observers.trace.as_mut().map(|trace| trace.take(now, over)).unwrap_or_default()
    }

    /// Captures what interfaces send and receive, and makes the table of frames. To be called at the start of the run.
    pub fn capture(&mut self, spec: CaptureSpec) {
        let targets = self.queues();
        let capture = Capture::new(spec, &self.run.names, &targets, &mut self.air, &self.net);
        self.observers.capture = Some(Box::new(capture));
        self.keep_records();
    }

    /// Blocks of capture files, each with its node, that belong behind those of the last call. A file of fewer than `least` bytes waits for
    /// more, until the run ends.
    pub fn take_captures(&mut self, least: usize) -> Vec<(u32, Vec<u8>)> {
        let (now, over) = (self.agenda.now, self.is_over());
        let Some(capture) = &mut self.observers.capture else { return Vec::new() };
        capture.take_captures(now, over, least, &self.run.names)
    }

    /// Rows of the table of frames that belong behind those of the last call. Fewer than `least` wait for more, until the run ends.
    pub fn take_frames(&mut self, least: usize) -> Option<Columns> {
        let (now, over) = (self.agenda.now, self.is_over());
        self.observers.capture.as_mut()?.take_rows(now, over, least)
    }

    /// Asks, before the world is advanced, that a flow of the specification (by its place) be explained;
    /// [`World::explanation`] tells. The run takes longer.
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
        let explainer = Explainer::new(flow as u32, traffic, &self.observed());
        self.observers.explain = Some(Box::new(explainer));
        self.keep_records();
        Ok(())
    }

    /// Why the flow gets what it gets, up to the present; none if [`World::explain`] was not called.
    #[must_use]
    pub fn explanation(&self) -> Option<Explanation> {
        Some(self.observers.explain.as_ref()?.explanation(&self.observed()))
    }

    /// Samples counters at the end of each interval from the present on, and at the end of the run; [`World::take_series`] fetches what
    /// has become of it. An interval of nothing counts as one nanosecond.
    pub fn sample(&mut self, interval: Span) {
        self.observers.series = Some(Sampler::new(&self.observed(), interval));
    }

    /// The series up to the present, if [`World::sample`] was called; sampling ends.
    pub fn take_series(&mut self) -> Option<Series> {
        self.observers.series.take().map(Sampler::finish)
    }

    /// Measures fairness in windows of these lengths from the end of the warm-up on, which has not come yet; [`World::take_fairness`]
    /// fetches it. A length of nothing counts as one nanosecond.
    pub fn measure_fairness(&mut self, lengths: &[Span]) {
        self.observers.fairness = Some(Fairness::new(self.run.warmup, lengths));
    }

    /// Fairness in the windows that have ended, in the order of the lengths given to [`World::measure_fairness`]; none if that was not
    /// called. Measuring ends.
    pub fn take_fairness(&mut self) -> Vec<WindowFairness> {
        self.observers.fairness.take().map(Fairness::finish).unwrap_or_default()
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
        self.net.take_completion_block(files, self.is_over())
    }

    /// The agenda's pushes (true) and pops so far, for the benchmark of the back ends.
    #[cfg(feature = "record-agenda")]
    pub fn take_agenda(&mut self) -> Vec<(bool, crate::event::Event)> {
        std::mem::take(&mut self.agenda.record)
    }

    /// Names of nodes, stations and flows.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.run.names
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
        let nodes = self.run.names.nodes.len() as u32;
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
        self.observed().queues()
    }

    /// Node and radio of every station.
    #[must_use]
    pub fn stations(&self) -> Vec<(String, String)> {
        self.observed().stations()
    }

    /// When the warm-up ends.
    #[must_use]
    pub const fn warmup_end(&self) -> Time {
        self.run.warmup
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
        (0..self.run.names.flows.len()).map(|flow| self.net.path(flow)).collect()
    }

    /// Counters from the start of the run to the present, warm-up included.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.observed().snapshot()
    }

    /// The numbers up to the present.
    #[must_use]
    pub fn result(&self) -> RunResult {
        self.observed().result()
    }

    /// The error that a scheme has made, if it has made one: scheme, place and error. The numbers of such a run are of no use; a result
    /// names it first among its warnings.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.observed().fault()
    }

    /// The flow whose source has failed, if one has.
    #[must_use]
    pub fn faulty_flow(&self) -> Option<&str> {
        self.observed().faulty_flow()
    }
}

impl Surface for World {
    fn advance(&mut self, until: Time) {
        let limit = until.min(self.run.end);
        loop {
            let stop = self.observers.next_moment().max(self.now()).min(limit);
            self.handle_events(stop.as_nanos());
            let Self { agenda, air, net, run, observers } = self;
            let world = Observed { now: Time(agenda.now), air, net, run, events: agenda.popped };
            observers.time_passed(&world);
            if stop >= limit {
                return;
            }
        }
    }

    fn next_deadline(&mut self) -> Option<Time> {
        self.agenda.next_time().map(Time)
    }

    fn end(&self) -> Time {
        self.run.end
    }
}
