//! Flows over TCP: their settings, files, and transport counters.

use airfair_host::HeaderId;
use airfair_schemes::Carrier;
use airfair_transport::{SenderStats, SharedConfig, TcpConfig};
use airfair_units::Time;
use airfair_units::random::name_hash;

use super::Tcp;
use crate::ids::{ConnectionRef, FlowIx, Table};
use crate::measure::files::{Completion, Files};
use crate::node::endpoints::laws::{FlowLaw, LawId, Laws};
use crate::spec::{FlowSpec, HeaderSpec, Traffic, Transport};
use crate::traffic::{FileSource, NextFile};

/// Properties that only flows over TCP have.
pub(super) struct TcpFlow {
    pub(super) config: SharedConfig,
    pub(super) law: LawId,
    /// True if the flow's law reads the backlog of its node, so that no limit applies.
    pub(super) reads_own_queue: bool,
    /// Header that the packets of its connections carry; none before the first one opens.
    pub(super) header: HeaderId,
    pub(super) traffic: Traffic,
    /// The flow's connection, unless the flow sends files.
    pub(super) connection: ConnectionRef,
    /// Source of the flow's files.
    pub(super) files: Option<FileSource>,
    /// Size of the next file, bytes.
    pub(super) next_size: u64,
    pub(super) done: Files,
    /// Number of connections opened.
    pub(super) opened: u64,
    /// Totals of closed connections, and those of all connections at the end of the warm-up.
    pub(super) ended: TransportTotals,
    pub(super) warmup: TransportTotals,
    /// Number of connections that have found routers which do not support their scheme.
    pub(super) fallbacks: u64,
    /// Seed and identity of the connections' random streams.
    pub(super) seed: u64,
    pub(super) hash: u64,
}

/// Transport totals of a flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TransportTotals {
    /// Segments retransmitted.
    pub retransmissions: u64,
    /// Number of measured round trips, and their sum.
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

airfair_units::fieldwise!(Sub::sub for TransportTotals { retransmissions, round_trips, round_trip_ns });

/// Action of a flow over TCP at its start.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FlowStartAction {
    /// Files are sent; this is the first.
    Files(Option<NextFile>),
    /// One connection is opened; the application writes without end, or when its packets are due.
    Connection { endless: bool },
}

impl Tcp {
    pub fn new(laws: Laws) -> Self {
        Self { laws, ..Self::default() }
    }

    /// Adds a flow; `law`: the window law of a flow over TCP.
    pub fn add_flow(&mut self, flow: &FlowSpec, law: Option<LawId>, seed: u64, headers: &HeaderSpec) {
        // RFC 7323: each segment has the option of 12 bytes.
        let lower = |timestamps| headers.ip + headers.tcp.unwrap_or(if timestamps { 32 } else { 20 });
        let tcp = match (&flow.transport, law) {
            (Transport::Tcp { config, .. }, Some(law)) => Some(Box::new(TcpFlow {
                config: SharedConfig::from(&TcpConfig { headers: lower(config.timestamps), ..*config }),
                law,
                reads_own_queue: self.laws.reads_own_queue(law),
                header: HeaderId::NONE,
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

    /// TCP settings of a flow's connections.
    pub fn config(&self, flow: FlowIx) -> Option<&SharedConfig> {
        self.flow(flow).map(|tcp| &tcp.config)
    }

    /// Bytes of the header that a flow's law puts into each packet.
    pub fn header_bytes(&self, flow: FlowIx) -> u32 {
        let kind =
            self.flow(flow).and_then(|tcp| self.laws.header(FlowLaw { id: tcp.law, carrier: Carrier::Tcp }));
        kind.map_or(0, |kind| kind.wire_len)
    }

    /// Header that the packets of a flow's connections carry.
    pub fn header(&self, flow: FlowIx) -> HeaderId {
        self.flow(flow).map_or(HeaderId::NONE, |tcp| tcp.header)
    }

    /// True if a flow's law reads the backlog of its node.
    pub fn reads_own_queue(&self, flow: FlowIx) -> bool {
        self.flow(flow).is_some_and(|tcp| tcp.reads_own_queue)
    }

    /// Starts a flow.
    pub fn start(&mut self, flow: FlowIx, now: Time) -> Option<FlowStartAction> {
        let tcp = self.flows[flow].as_deref_mut()?;
        Some(match &mut tcp.files {
            Some(files) => FlowStartAction::Files(files.start(now)),
            None => {
                let endless = matches!(tcp.traffic, Traffic::Endless | Traffic::Saturating { .. });
                FlowStartAction::Connection { endless }
            }
        })
    }

    /// The connection of a flow that does not send files.
    pub fn connection_of(&self, flow: FlowIx) -> ConnectionRef {
        self.flow(flow).map_or(ConnectionRef::NONE, |tcp| tcp.connection)
    }

    /// Registers a flow's next file.
    pub fn set_next_file(&mut self, flow: FlowIx, file: NextFile) {
        if let Some(tcp) = &mut self.flows[flow] {
            tcp.next_size = file.size;
        }
    }

    /// Starts a flow's file. Returns its size, and the next file unless that waits for the end of this one.
    pub fn file_arrives(&mut self, flow: FlowIx, now: Time) -> Option<(u64, Option<NextFile>)> {
        let tcp = self.flows[flow].as_deref_mut()?;
        tcp.done.started += 1;
        Some((tcp.next_size, tcp.files.as_mut().and_then(|files| files.after_arrival(now))))
    }

    /// Transport totals of every flow, of closed and open connections.
    pub fn totals(&self) -> Table<FlowIx, TransportTotals> {
        let ended = |tcp: &Option<Box<TcpFlow>>| tcp.as_ref().map(|tcp| tcp.ended).unwrap_or_default();
        let mut totals: Table<FlowIx, TransportTotals> = self.flows.iter().map(ended).collect();
        for connection in self.connections.iter() {
            totals[connection.flow] += TransportTotals::of(connection.sender.machine.stats());
        }
        totals
    }

    /// Transport totals of a flow at the end of the warm-up.
    pub fn totals_at_warmup(&self, flow: FlowIx) -> TransportTotals {
        self.flow(flow).map(|tcp| tcp.warmup).unwrap_or_default()
    }

    /// Stores the totals at the end of the warm-up.
    pub fn warmed_up(&mut self) {
        let totals = self.totals();
        for (tcp, &totals) in self.flows.iter_mut().zip(&totals) {
            tcp.iter_mut().for_each(|tcp| tcp.warmup = totals);
        }
    }

    /// Number of a flow's connections that have found routers which do not support their scheme.
    pub fn fallbacks(&self, flow: FlowIx) -> u64 {
        self.flow(flow).map_or(0, |tcp| tcp.fallbacks)
    }

    /// Counters of a flow's files, if it sends files.
    pub fn files(&self, flow: FlowIx) -> Option<&Files> {
        self.flow(flow).filter(|tcp| tcp.files.is_some()).map(|tcp| &tcp.done)
    }

    /// Completion time of a flow's only file, s after the flow's start.
    pub fn completion_s(&self, flow: FlowIx) -> Option<f64> {
        let tcp = self.flow(flow).filter(|tcp| matches!(tcp.traffic, Traffic::File { .. }))?;
        tcp.done.all.mean_s()
    }

    /// Keeps one record per file completed from now on, if any flow sends files.
    pub fn keep_completions(&mut self) {
        if self.flows.iter().flatten().any(|tcp| tcp.files.is_some()) {
            self.completions.get_or_insert_default();
        }
    }

    /// Files completed since the last call, each with its flow.
    pub fn take_completions(&mut self) -> Vec<(FlowIx, Completion)> {
        self.completions.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The next block of `files` completed files, or `None` if there are fewer; at the end of the run the remaining files, at most `files`
    /// and possibly none, once.
    pub fn take_completion_block(&mut self, files: usize, over: bool) -> Option<Vec<(FlowIx, Completion)>> {
        let list = self.completions.as_mut()?;
        if over && list.len() <= files {
            return self.completions.take();
        }
        (list.len() >= files).then(|| list.drain(..files).collect())
    }
}
