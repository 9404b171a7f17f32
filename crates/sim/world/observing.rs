//! Observers of a world: their starts, and what they have recorded.

use airfair_schemes::places::HeaderKind;
use airfair_units::{Span, Time};

use super::World;
use crate::ids::{FlowIx, NodeIx};
use crate::measure::files::Completion;
use crate::observe::WorldView;
use crate::observe::capture::{Capture, CaptureSpec, Columns};
use crate::observe::explain::{Explainer, Explanation};
use crate::observe::series::{Sampler, Series};
use crate::observe::states::{StateColumns, States, StatesSpec};
use crate::observe::windows::{Fairness, WindowFairness};
use crate::record::Trace;
use crate::spec::WorldSpec;

impl World {
    /// Starts a trace; [`World::take_trace`] returns it. Like every observer, it does not change the run.
    pub fn start_trace(&mut self) {
        self.observers.trace.get_or_insert_default();
        self.enable_records();
    }

    /// The longest time between the time of a record and the event that makes it: from the end of a frame to the end of its propagation.
    #[must_use]
    pub fn settling_time(&self) -> Span {
        self.air.max_delay_after_end()
    }

    /// The time before which all records are known.
    pub(super) fn settled(&self) -> Time {
        if self.is_over() {
            return Time::NEVER;
        }
        Time(self.now().0.saturating_sub(self.settling_time().0))
    }

    /// The trace since the last call, in order of time regardless of the steps in which the world is advanced: records younger than
    /// [`World::settling_time`] are kept for the next call, since an earlier one may still follow. At the end of the run all are returned.
    pub fn take_trace(&mut self) -> Trace {
        let settled = self.settled();
        self.observers.trace.as_mut().map(|trace| trace.take(settled)).unwrap_or_default()
    }

    /// Captures the frames of interfaces, and builds the table of frames. Must be called at the start of the run.
    pub fn capture(&mut self, spec: CaptureSpec) {
        let names = (&self.run.names, &self.run.radios[..]);
        let capture = Capture::new(spec, names, &mut self.air, &self.network);
        self.observers.capture = Some(Box::new(capture));
        self.enable_records();
    }

    /// Blocks of capture files, each with its node, to append to those of the last call. Fewer than `least` bytes of a file are kept for a
    /// later call, until the run ends.
    pub fn take_captures(&mut self, least: usize) -> Vec<(NodeIx, Vec<u8>)> {
        let (now, over) = (self.agenda.now, self.is_over());
        let Some(capture) = &mut self.observers.capture else { return Vec::new() };
        capture.take_captures(now, over, least, &self.run.names)
    }

    /// Rows of the table of frames to append to those of the last call. Fewer than `least` rows are kept, until the run ends.
    pub fn take_frames(&mut self, least: usize) -> Option<Columns> {
        let (settled, over) = (self.settled(), self.is_over());
        let least = if over { 1 } else { least };
        self.observers.capture.as_mut()?.take_rows(settled, least, &self.run.names)
    }

    /// The header that packets carry whose queues announce their sizes in it ([`Columns::announced`]), if there are such queues. A packet
    /// from outside is one of them with this header only.
    #[must_use]
    pub fn queue_header(&self) -> Option<&'static HeaderKind> {
        let interfaces = &self.network.plane.interfaces;
        let kind = |port| self.network.plane.headers.of(interfaces.pipeline(port).queue_header());
        interfaces.ports().filter_map(kind).find(|kind| kind.queue.is_some())
    }

    /// True if forwarders carry flows: [`Columns::held`].
    #[must_use]
    pub fn has_forwarders(&self) -> bool {
        self.network.hosts.forwarders.any()
    }

    /// Observes the states of stations. Must be called at the start of the run.
    pub fn observe_states(&mut self, spec: StatesSpec) {
        self.observers.states = Some(Box::new(States::new(spec, &self.run.names, &self.air)));
        self.enable_records();
    }

    /// Intervals of states to append to those of the last call, in the order of their ends. Fewer than `least` are kept, until the run
    /// ends.
    pub fn take_states(&mut self, least: usize) -> Option<StateColumns> {
        let over = self.is_over();
        let Self { agenda, air, network, run, observers } = self;
        let world = WorldView { now: agenda.now, air, network, run, events: agenda.popped };
        observers.states.as_mut()?.take(over, least, &world)
    }

    /// Prepares the explanation of a flow of the specification, before the world is advanced; [`World::explanation`] returns it. The run
    /// takes longer.
    ///
    /// # Errors
    /// If there is no such flow, forwarders carry it, or time has passed already.
    pub fn explain(&mut self, spec: &WorldSpec, flow: FlowIx) -> Result<(), String> {
        let Some(traffic) = spec.flows.get(flow.ix()).map(|f| &f.traffic) else {
            return Err(format!("there are {} flows", spec.flows.len()));
        };
        if self.agenda.now > Time::ZERO {
            return Err("an explanation has to be requested at time 0, before the run starts".to_string());
        }
        if self.network.hosts.forwarders.source_of(flow).is_some() {
            return Err(format!(
                "flow {} is carried by broadcasts of forwarders, which have no path that could be explained; `airfair trace` shows its batches",
                spec.flows[flow.ix()].id
            ));
        }
        let explainer = Explainer::new(flow, traffic, &self.observed());
        self.observers.explain = Some(Box::new(explainer));
        self.enable_records();
        Ok(())
    }

    /// The explanation of the flow's throughput up to the present; none without [`World::explain`].
    #[must_use]
    pub fn explanation(&mut self) -> Option<Explanation> {
        let Self { agenda, air, network, run, observers } = self;
        let world = WorldView { now: agenda.now, air, network, run, events: agenda.popped };
        Some(observers.explain.as_mut()?.explanation(&world))
    }

    /// Samples counters at the end of each interval from the present on, and at the end of the run; [`World::take_series`] returns the
    /// series. An interval of zero counts as one nanosecond.
    pub fn sample(&mut self, interval: Span) {
        self.observers.series = Some(Sampler::new(&self.observed(), interval));
    }

    /// The series up to the present, the interval that has begun included, if [`World::sample`] was called; sampling ends.
    pub fn take_series(&mut self) -> Option<Series> {
        let sampler = self.observers.series.take()?;
        Some(sampler.finish(&self.observed()))
    }

    /// Measures fairness in windows of these lengths from the end of the warm-up on, which must lie ahead; [`World::take_fairness`] returns
    /// it. A length of zero counts as one nanosecond.
    pub fn measure_fairness(&mut self, lengths: &[Span]) {
        self.observers.fairness = Some(Fairness::new(self.run.warmup, lengths));
    }

    /// Fairness in the completed windows, in the order of the lengths given to [`World::measure_fairness`]; empty without that call. Ends
    /// the measurement.
    pub fn take_fairness(&mut self) -> Vec<WindowFairness> {
        self.observers.fairness.take().map(Fairness::finish).unwrap_or_default()
    }

    /// Measures the links of all radios for [`World::snapshot`]: packets acknowledged and their service times. Must be called before the
    /// world is advanced; the run stays the same.
    pub fn measure_links(&mut self) {
        let stations = self.air.len();
        self.air.stations().for_each(|station| self.network.plane.meters.uses.add(station, stations));
        let rules = &mut self.network.plane.rules;
        (rules.processes_received, rules.counts_finished) = (true, true);
    }

    /// Encodes the headers of explicit-rate schemes to bytes and decodes them at every hop from now on: a check of the encoding, which
    /// changes no result.
    pub fn check_headers(&mut self) {
        self.network.plane.headers.enable_check();
    }

    /// Keeps one record per file completed from now on; [`World::take_completions`] returns them.
    pub fn keep_completions(&mut self) {
        self.network.endpoints.tcp.keep_completions();
    }

    /// The files completed since the last call, each with its flow, in the order of completion.
    pub fn take_completions(&mut self) -> Vec<(FlowIx, Completion)> {
        self.network.endpoints.tcp.take_completions()
    }

    /// The next block of `files` completed files, or `None` if fewer are completed: blocks of a long run do not depend on the steps in
    /// which it is advanced. At the end of the run the remaining files, at most `files` and possibly none, are returned once; `None` if no
    /// flow sends files.
    pub fn take_completion_block(&mut self, files: usize) -> Option<Vec<(FlowIx, Completion)>> {
        let over = self.is_over();
        self.network.endpoints.tcp.take_completion_block(files, over)
    }

    /// The agenda's pushes (true) and pops so far, for the benchmark of agendas.
    #[cfg(feature = "record-agenda")]
    pub fn take_agenda(&mut self) -> Vec<(bool, crate::event::Event)> {
        std::mem::take(&mut self.agenda.record)
    }
}
