//! Flows over TCP: what they have beside what every flow has, their files, and what their transport has counted.

use airfair_transport::{SenderStats, SharedConfig};
use airfair_units::Time;
use airfair_units::random::name_hash;

use super::Tcp;
use super::laws::{LawId, Laws};
use crate::ids::{ConnectionRef, FlowIx, Table};
use crate::measure::files::{Completion, Files};
use crate::spec::{FlowSpec, Traffic, Transport};
use crate::traffic::{FileSource, NextFile};

/// What a flow over TCP has beside what every flow has.
pub(super) struct TcpFlow {
    pub(super) config: SharedConfig,
    pub(super) law: LawId,
    /// Its law reads what waits in its node: no limit holds for that.
    pub(super) reads_own_queue: bool,
    pub(super) traffic: Traffic,
    /// Its connection, unless it sends files.
    pub(super) connection: ConnectionRef,
    /// Where its files come from.
    pub(super) files: Option<FileSource>,
    /// Size of the file that is to come.
    pub(super) next_size: u64,
    pub(super) done: Files,
    /// Connections opened so far.
    pub(super) opened: u64,
    /// What the connections that have ended had measured and sent again, and what all had at the end of the warm-up.
    pub(super) ended: TransportTotals,
    pub(super) warmup: TransportTotals,
    /// Connections that have met routers which do not speak their scheme.
    pub(super) fallbacks: u64,
    /// The connections' random streams: seed and identity.
    pub(super) seed: u64,
    pub(super) hash: u64,
}

/// What the transport of a flow has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TransportTotals {
    /// Segments sent again.
    pub retransmissions: u64,
    /// Round trips measured, and their sum.
    pub round_trips: u64,
    pub round_trip_ns: u64,
}

impl TransportTotals {
    pub(super) fn of(stats: &SenderStats) -> Self {
        let &SenderStats { retransmissions, round_trips, round_trip_ns, .. } = stats;
        Self { retransmissions, round_trips, round_trip_ns }
    }
}

impl std::ops::AddAssign for TransportTotals {
    fn add_assign(&mut self, more: Self) {
        self.retransmissions += more.retransmissions;
        self.round_trips += more.round_trips;
        self.round_trip_ns += more.round_trip_ns;
    }
}

impl std::ops::Sub for TransportTotals {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            retransmissions: self.retransmissions - earlier.retransmissions,
            round_trips: self.round_trips - earlier.round_trips,
            round_trip_ns: self.round_trip_ns - earlier.round_trip_ns,
        }
    }
}

/// What a flow over TCP does when it starts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Start {
    /// It sends files, of which this is the first.
    Files(Option<NextFile>),
    /// It has one connection, and writes into that without end or, if not, when its application's packets are due.
    Connection { endless: bool },
}

impl Tcp {
    pub fn new(laws: Laws) -> Self {
        Self { laws, ..Self::default() }
    }

    /// Adds a flow; `law`: if TCP carries it.
    pub fn add_flow(&mut self, flow: &FlowSpec, law: Option<LawId>, seed: u64) {
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
                warmup: TransportTotals::default(),
                fallbacks: 0,
                seed,
                hash: name_hash(&flow.id),
            })),
            _ => None,
        };
        self.flows.push(tcp);
    }

    pub(super) fn flow(&self, flow: FlowIx) -> Option<&TcpFlow> {
        self.flows[flow].as_deref()
    }

    /// The parameters of a flow's connections.
    pub fn config(&self, flow: FlowIx) -> Option<&SharedConfig> {
        self.flow(flow).map(|tcp| &tcp.config)
    }

    /// Whether a flow's law reads what waits in its node.
    pub fn reads_own_queue(&self, flow: FlowIx) -> bool {
        self.flow(flow).is_some_and(|tcp| tcp.reads_own_queue)
    }

    /// A flow starts.
    pub fn start(&mut self, flow: FlowIx, now: Time) -> Option<Start> {
        let tcp = self.flows[flow].as_deref_mut()?;
        Some(match &mut tcp.files {
            Some(files) => Start::Files(files.start(now)),
            None => {
                let endless = matches!(tcp.traffic, Traffic::Endless | Traffic::Saturating { .. });
                Start::Connection { endless }
            }
        })
    }

    /// The only connection of a flow that does not send files.
    pub fn connection_of(&self, flow: FlowIx) -> ConnectionRef {
        self.flow(flow).map_or(ConnectionRef::NONE, |tcp| tcp.connection)
    }

    /// A flow's next file is to come.
    pub fn expect(&mut self, flow: FlowIx, file: NextFile) {
        if let Some(tcp) = &mut self.flows[flow] {
            tcp.next_size = file.size;
        }
    }

    /// A file of a flow arrives: its size, and the next file, if that does not wait for the end of this one.
    pub fn file_arrives(&mut self, flow: FlowIx, now: Time) -> Option<(u64, Option<NextFile>)> {
        let tcp = self.flows[flow].as_deref_mut()?;
        tcp.done.started += 1;
        Some((tcp.next_size, tcp.files.as_mut().and_then(|files| files.after_arrival(now))))
    }

    /// What the transport of every flow has counted so far, in connections that have ended and in those that live.
    pub fn totals(&self) -> Table<FlowIx, TransportTotals> {
        let ended = |tcp: &Option<Box<TcpFlow>>| tcp.as_ref().map(|tcp| tcp.ended).unwrap_or_default();
        let mut totals: Table<FlowIx, TransportTotals> = self.flows.iter().map(ended).collect();
        for connection in self.connections.iter() {
            totals[connection.flow] += TransportTotals::of(connection.sender.machine.stats());
        }
        totals
    }

    /// What a flow's had counted at the end of the warm-up.
    pub fn totals_at_warmup(&self, flow: FlowIx) -> TransportTotals {
        self.flow(flow).map(|tcp| tcp.warmup).unwrap_or_default()
    }

    /// What is measured starts.
    pub fn warmed_up(&mut self) {
        let totals = self.totals();
        for (tcp, &totals) in self.flows.iter_mut().zip(&totals) {
            tcp.iter_mut().for_each(|tcp| tcp.warmup = totals);
        }
    }

    /// Connections of a flow that have met routers which do not speak their scheme.
    pub fn fallbacks(&self, flow: FlowIx) -> u64 {
        self.flow(flow).map_or(0, |tcp| tcp.fallbacks)
    }

    /// What became of a flow's files, if it sends files.
    pub fn files(&self, flow: FlowIx) -> Option<&Files> {
        self.flow(flow).filter(|tcp| tcp.files.is_some()).map(|tcp| &tcp.done)
    }

    /// When a flow's only file was complete, after its start, s.
    pub fn completion_s(&self, flow: FlowIx) -> Option<f64> {
        let tcp = self.flow(flow).filter(|tcp| matches!(tcp.traffic, Traffic::File { .. }))?;
        tcp.done.all.mean_s()
    }

    /// Files that end from now on are kept one by one, if any flow sends files.
    pub fn keep_completions(&mut self) {
        if self.flows.iter().flatten().any(|tcp| tcp.files.is_some()) {
            self.completions.get_or_insert_default();
        }
    }

    /// The files that ended since the last call, each with its flow.
    pub fn take_completions(&mut self) -> Vec<(FlowIx, Completion)> {
        self.completions.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// So many of them, or none if there are fewer. When the run is over, those that are left, once.
    pub fn take_completion_block(&mut self, files: usize, over: bool) -> Option<Vec<(FlowIx, Completion)>> {
        let list = self.completions.as_mut()?;
        if over && list.len() <= files {
            return self.completions.take();
        }
        (list.len() >= files).then(|| list.drain(..files).collect())
    }
}
