//! Sources and receivers of flows over UDP, or over the transport with a rate: the state machines of a scheme at both ends of a flow.

use airfair_host::{Firing, HeaderId, HeaderKinds, ReportCounts, UdpReceiver, UdpSource};
use airfair_schemes::places::{
    Arrived, FlowSetup, Header, MOST_REPORT_BYTES, ReceiverEffects, ReportBytes, SourceEffects, Timer,
    UdpEnds, Waiting,
};
use airfair_transport::rate;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};
use airfair_wire::rate::{Arrivals, Data};

use crate::event::{EventKind, Order, Schedule, class};
use crate::ids::{FlowIx, Table};
use crate::node::endpoints::tcp::TransportTotals;
use crate::spec::FlowSpec;

/// A flow with a scheme at both its ends.
struct UdpFlow {
    source: UdpSource,
    receiver: Option<UdpReceiver>,
    setup: FlowSetup,
    /// Header of its datagrams.
    header: HeaderId,
    /// Reports precede the packets that wait, at every hop.
    reports_go_ahead: bool,
    /// The law reads the backlog of the node's queue.
    reads_own_queue: bool,
    /// Due time of the pending event for the next datagram.
    armed: Time,
    /// The application has a packet to send; its source waits for the pacing or for room in the node's queue.
    pending: bool,
    /// The source waits for room in its node's queue.
    blocked: bool,
    /// Number of the next report.
    next_report: u32,
    /// Reports that have arrived at the source.
    received: u64,
    /// Counts at the end of the warm-up: of the receiver, and `received`.
    warmup: (ReportCounts, u64),
    /// Sends again what is lost, over the transport with a rate.
    repair: Option<Box<Repair>>,
}

/// Both ends of the transport with a rate.
#[derive(Default)]
struct Repair {
    sender: rate::Sender,
    receiver: rate::Receiver,
    /// Due time of the pending event for the sender's deadline.
    armed: Option<Time>,
    /// Reports made since the last one of the law, which tell more of what has arrived; 0: none is due.
    parts: usize,
    warmup: TransportTotals,
}

impl Repair {
    /// A law's report behind what has arrived; alone, if it leaves no room for that.
    fn with_arrivals(&mut self, report: &ReportBytes, now: Time) -> ReportBytes {
        let law = report.as_slice();
        self.parts = 1;
        let receiver = &self.receiver;
        let whole = ReportBytes::written(|buffer| {
            let len = receiver.arrivals(0, buffer.len() - law.len(), now)?.encode(buffer).ok()?;
            buffer.get_mut(len..len + law.len())?.copy_from_slice(law);
            Some(len + law.len())
        });
        whole.unwrap_or(*report)
    }

    /// A further report after one of the law, if that could not tell all that has arrived.
    fn next_part(&mut self, now: Time) -> Option<ReportBytes> {
        let part = std::mem::take(&mut self.parts);
        let arrivals = self.receiver.arrivals(part, MOST_REPORT_BYTES, now).filter(|_| part > 0)?;
        self.parts = part + 1;
        ReportBytes::written(|buffer| arrivals.encode(buffer).ok())
    }

    fn totals(&self) -> TransportTotals {
        let &rate::Stats { retransmissions, round_trips, round_trip_ns, .. } = self.sender.stats();
        TransportTotals { retransmissions, round_trips, round_trip_ns }
    }
}

/// Takes the first of a receiver's reports.
fn next(reports: &mut Vec<ReportBytes>) -> Option<ReportBytes> {
    (!reports.is_empty()).then(|| reports.remove(0))
}

/// The data of a datagram about to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextData {
    /// The next packet of the application.
    New,
    /// Data that were sent before: number and payload of their datagram.
    Again(u32, u32),
}

/// Counts of a flow's reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ReportTotals {
    pub receiver: ReportCounts,
    /// Reports that have arrived at the source.
    pub received: u64,
    /// True if the receiver counts loss events.
    pub counts_losses: bool,
}

/// Flows over UDP that a scheme controls.
#[derive(Default)]
pub(crate) struct Udp {
    flows: Table<FlowIx, Option<Box<UdpFlow>>>,
    effects: SourceEffects,
    receiver_effects: ReceiverEffects,
    firings: Vec<Firing>,
    /// The first flow whose source has failed.
    pub failed: Option<FlowIx>,
    any: bool,
}

impl Udp {
    /// Adds a flow; `ends`: its source and receiver, if a scheme controls it; `mss`: mean payload of its datagrams; `repairs`: what is lost
    /// is sent again; `lower`: bytes of the headers below the law's.
    pub fn add_flow(
        &mut self,
        flow: &FlowSpec,
        (ends, reads_own_queue): (Option<UdpEnds>, bool),
        (mss, repairs): (Bytes, bool),
        (rank, seed): (u32, u64),
        headers: &mut HeaderKinds,
        lower: u32,
    ) {
        let controlled = ends.map(|UdpEnds { source, receiver }| {
            let stream = |purpose| Stream::new(seed, &flow.id, purpose);
            let source = UdpSource::new(source, stream(Purpose::Source), rank);
            let receiver =
                receiver.map(|receiver| UdpReceiver::new(receiver, stream(Purpose::Receiver), rank));
            let reports_go_ahead = receiver.as_ref().is_some_and(UdpReceiver::reports_go_ahead);
            // RFC 3390, equation 1.
            let initial_window = Bytes((4 * mss.get()).min((2 * mss.get()).max(4380)));
            let window_limit = Bytes(u64::MAX);
            let of_law = source.header().map_or(0, |kind| kind.wire_len);
            let header = headers.id(source.header());
            Box::new(UdpFlow {
                source,
                receiver,
                setup: FlowSetup {
                    mss,
                    headers: Bytes(u64::from(lower) + u64::from(of_law)),
                    initial_window,
                    window_limit,
                    rtt: None,
                    syn_lost: false,
                    link: None,
                },
                header,
                reports_go_ahead,
                reads_own_queue,
                armed: Time::NEVER,
                pending: false,
                blocked: false,
                next_report: 0,
                received: 0,
                warmup: (ReportCounts::default(), 0),
                repair: repairs.then(Box::default),
            })
        });
        self.any |= controlled.is_some();
        self.flows.push(controlled);
    }

    /// True if a flow has a receiver, or a source that expects reports.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.any
    }

    fn get(&self, flow: FlowIx) -> Option<&UdpFlow> {
        self.flows[flow].as_deref()
    }

    /// True if a scheme controls a flow.
    #[inline(always)]
    pub fn controls(&self, flow: FlowIx) -> bool {
        self.any && self.flows[flow].is_some()
    }

    /// True if a flow's receiver sends reports.
    pub fn reports(&self, flow: FlowIx) -> bool {
        self.get(flow).is_some_and(|udp| udp.receiver.is_some())
    }

    /// Header of a flow's datagrams, and true if they can be marked.
    pub fn label(&self, flow: FlowIx) -> (HeaderId, bool) {
        self.get(flow).map_or((HeaderId::NONE, false), |udp| (udp.header, udp.source.ecn_capable()))
    }

    /// True if a flow's law reads the backlog of its node.
    pub fn reads_own_queue(&self, flow: FlowIx) -> bool {
        self.get(flow).is_some_and(|udp| udp.reads_own_queue)
    }

    /// Tells a flow's source how many packets wait at the node for its destination. Returns true if its law goes by them, so that no other
    /// limit of the node applies.
    pub fn on_own_queue(&mut self, flow: FlowIx, waiting: &Waiting) -> bool {
        self.flows[flow].as_mut().is_some_and(|udp| udp.source.on_own_queue(waiting))
    }

    /// True if a flow's reports precede the packets that wait, at every hop.
    pub fn reports_go_ahead(&self, flow: FlowIx) -> bool {
        self.get(flow).is_some_and(|udp| udp.reports_go_ahead)
    }

    /// Starts a flow's source; `link`: nominal rate of its first hop's link.
    pub fn start(&mut self, flow: FlowIx, link: Option<Rate>, now: Time, schedule: &mut Schedule) {
        let Self { flows, effects, firings, .. } = self;
        if let Some(udp) = &mut flows[flow] {
            udp.setup.link = link;
            udp.source.on_start(&udp.setup, now, effects, firings);
            self.apply(flow, schedule);
        }
    }

    /// Fills the header of a datagram that is about to leave.
    pub fn stamp(&mut self, flow: FlowIx, header: &mut Header, now: Time) {
        if let Some(udp) = &mut self.flows[flow] {
            udp.source.stamp(header, now);
        }
    }

    /// Bytes of the transport's header in a flow's datagrams, beside that of UDP.
    pub fn transport_header(&self, flow: FlowIx) -> u32 {
        if self.get(flow).is_some_and(|udp| udp.repair.is_some()) { Data::wire_len() as u32 } else { 0 }
    }

    /// Data that leave next, if there are any: lost ones first, then a packet with which the application waits.
    pub fn next_data(&self, flow: FlowIx) -> Option<NextData> {
        let udp = self.get(flow)?;
        let new = udp.pending.then_some(NextData::New);
        match &udp.repair {
            None => new,
            Some(repair) => match repair.sender.to_send() {
                rate::Next::Again(number, bytes) => Some(NextData::Again(number, bytes)),
                rate::Next::New => new,
                rate::Next::Nothing => None,
            },
        }
    }

    /// Handles a datagram that the source has made; `again`: its data were sent before.
    pub fn on_sent(&mut self, flow: FlowIx, (bytes, again): (u32, bool), now: Time, schedule: &mut Schedule) {
        let Self { flows, effects, firings, .. } = self;
        if let Some(udp) = &mut flows[flow] {
            udp.pending &= again;
            if let Some(repair) = &mut udp.repair {
                if again {
                    repair.sender.sent_again(now);
                } else {
                    repair.sender.sent_new(bytes, now);
                }
            }
            udp.source.on_sent((Bytes(u64::from(bytes)), again), now, effects, firings);
            self.apply(flow, schedule);
            self.arm_repair(flow, schedule);
        }
    }

    /// Schedules an event no later than the deadline of a flow's sender.
    fn arm_repair(&mut self, flow: FlowIx, schedule: &mut Schedule) {
        let Some(udp) = self.flows[flow].as_deref_mut() else { return };
        let rank = udp.source.rank();
        let Some(repair) = &mut udp.repair else { return };
        let deadline = repair.sender.deadline();
        if let Some(at) = deadline.filter(|&at| repair.armed.is_none_or(|armed| at < armed)) {
            repair.armed = Some(at);
            schedule.add(at, Order::new(class::TIMER, rank), EventKind::Repair(flow));
        }
    }

    /// Handles the event for the deadline of a flow's sender, which may have moved.
    pub fn on_repair(&mut self, flow: FlowIx, now: Time, schedule: &mut Schedule) {
        let repair = self.flows[flow].as_deref_mut().and_then(|udp| udp.repair.as_deref_mut());
        let Some(repair) = repair.filter(|repair| repair.armed == Some(now)) else { return };
        repair.armed = None;
        repair.sender.on_timer(now);
        self.arm_repair(flow, schedule);
    }

    /// Handles a datagram that has arrived at its flow's destination. Returns the bytes that the transport with a rate delivers to the
    /// application thereby; `None` for a flow over UDP, where each datagram is delivered.
    pub fn on_data(
        &mut self,
        flow: FlowIx,
        (number, data): (Data, Arrived),
        hops: u16,
        now: Time,
        schedule: &mut Schedule,
    ) -> Option<u64> {
        let Self { flows, receiver_effects, firings, .. } = self;
        let udp = flows[flow].as_deref_mut()?;
        let delivered = udp.repair.as_mut().map(|repair| {
            repair
                .receiver
                .on_data(number, u32::try_from(data.bytes.get()).unwrap_or(u32::MAX), now)
                .delivered
        });
        if let Some(receiver) = &mut udp.receiver {
            receiver.on_data(data, hops, now, receiver_effects, firings);
            self.apply_receiver(flow, schedule);
        }
        delivered
    }

    /// The next report that a flow's receiver has made, with its number: over the transport with a rate behind what has arrived.
    pub fn next_report(&mut self, flow: FlowIx, now: Time) -> Option<(ReportBytes, u32)> {
        let Self { flows, receiver_effects, .. } = self;
        let udp = flows[flow].as_deref_mut()?;
        let report = match &mut udp.repair {
            None => next(&mut receiver_effects.reports)?,
            Some(repair) => match repair.next_part(now) {
                Some(report) => report,
                None => repair.with_arrivals(&next(&mut receiver_effects.reports)?, now),
            },
        };
        let number = udp.next_report;
        udp.next_report = number.wrapping_add(1);
        Some((report, number))
    }

    /// Handles a report that has arrived at its flow's source. One whose front says what cannot be counts for nothing.
    pub fn on_report(&mut self, flow: FlowIx, mut report: &[u8], now: Time, schedule: &mut Schedule) {
        let Self { flows, effects, firings, .. } = self;
        if let Some(udp) = &mut flows[flow] {
            let mut of_law = true;
            if let Some(repair) = &mut udp.repair {
                let Ok((arrivals, rest)) = Arrivals::decode(report) else { return };
                if repair.sender.on_arrivals(&arrivals, now).is_none() {
                    return;
                }
                report = rest;
                // A further report has no part of the law.
                of_law = !rest.is_empty();
            }
            if of_law {
                udp.received += 1;
                udp.source.on_report(report, now, effects, firings);
            }
            self.apply(flow, schedule);
            self.arm_repair(flow, schedule);
        }
    }

    /// Handles a timer of a flow's source, unless it was moved.
    pub fn on_source_timer(&mut self, flow: FlowIx, timer: (Timer, u32), now: Time, schedule: &mut Schedule) {
        let Self { flows, effects, firings, .. } = self;
        if let Some(udp) = &mut flows[flow] {
            udp.source.on_timer(timer, now, effects, firings);
            self.apply(flow, schedule);
        }
    }

    /// Handles a timer of a flow's receiver, unless it was moved.
    pub fn on_receiver_timer(
        &mut self,
        flow: FlowIx,
        timer: (Timer, u32),
        now: Time,
        schedule: &mut Schedule,
    ) {
        let Self { flows, receiver_effects, firings, .. } = self;
        let Some(udp) = &mut flows[flow] else { return };
        if let Some(receiver) = &mut udp.receiver {
            receiver.on_timer(timer, now, receiver_effects, firings);
            self.apply_receiver(flow, schedule);
        }
    }

    fn apply(&mut self, flow: FlowIx, schedule: &mut Schedule) {
        if std::mem::take(&mut self.effects.failed) {
            self.failed.get_or_insert(flow);
        }
        let Some(udp) = &self.flows[flow] else { return };
        let order = Order::new(class::TIMER, udp.source.rank());
        for Firing { at, timer, generation } in self.firings.drain(..) {
            schedule.add(at, order, EventKind::UdpSourceTimer { flow, generation, timer: timer.0 });
        }
    }

    fn apply_receiver(&mut self, flow: FlowIx, schedule: &mut Schedule) {
        let rank = self.get(flow).and_then(|udp| udp.receiver.as_ref()).map_or(0, UdpReceiver::rank);
        let order = Order::new(class::TIMER, rank);
        for Firing { at, timer, generation } in self.firings.drain(..) {
            schedule.add(at, order, EventKind::UdpReceiverTimer { flow, generation, timer: timer.0 });
        }
    }

    /// The earliest time of a flow's next datagram, by its pacing.
    pub fn due(&self, flow: FlowIx, now: Time) -> Time {
        self.get(flow).map_or(Time::NEVER, |udp| udp.source.due(now))
    }

    /// Schedules the event for a flow's next datagram, unless an earlier one is pending.
    pub fn arm(&mut self, flow: FlowIx, at: Time, order: Order, schedule: &mut Schedule) {
        if let Some(udp) = self.flows[flow].as_deref_mut().filter(|udp| at < udp.armed) {
            udp.armed = at;
            schedule.add(at, order, EventKind::Paced(flow));
        }
    }

    /// Handles the event for a flow's next datagram. Returns false if an earlier one has replaced it.
    pub fn fires(&mut self, flow: FlowIx, now: Time) -> bool {
        let udp = self.flows[flow].as_deref_mut().filter(|udp| udp.armed == now);
        udp.map(|udp| udp.armed = Time::NEVER).is_some()
    }

    /// Registers that the application has a packet to send.
    pub fn request(&mut self, flow: FlowIx) {
        if let Some(udp) = &mut self.flows[flow] {
            udp.pending = true;
        }
    }

    /// True if the application waits with a packet.
    pub fn is_pending(&self, flow: FlowIx) -> bool {
        self.get(flow).is_some_and(|udp| udp.pending)
    }

    /// Sets whether a flow's source waits for room in its node's queue. Returns the earlier value.
    pub fn set_blocked(&mut self, flow: FlowIx, blocked: bool) -> bool {
        self.flows[flow].as_deref_mut().is_some_and(|udp| std::mem::replace(&mut udp.blocked, blocked))
    }

    /// True if a flow's source waits for room in its node's queue.
    pub fn is_blocked(&self, flow: FlowIx) -> bool {
        self.get(flow).is_some_and(|udp| udp.blocked)
    }

    /// The smoothed round-trip time of a flow over the transport with a rate.
    pub fn round_trip(&self, flow: FlowIx) -> Option<Span> {
        self.get(flow)?.repair.as_ref()?.sender.round_trip()
    }

    /// Transport totals of a flow over the transport with a rate, and those at the end of the warm-up.
    pub fn transport_totals(&self, flow: FlowIx) -> Option<[TransportTotals; 2]> {
        let repair = self.get(flow)?.repair.as_ref()?;
        Some([repair.totals(), repair.warmup])
    }

    /// Counts of a flow's reports from the end of the warm-up on, if it has a receiver.
    pub fn totals(&self, flow: FlowIx) -> Option<ReportTotals> {
        let udp = self.get(flow)?;
        let receiver = udp.receiver.as_ref()?;
        Some(ReportTotals {
            receiver: receiver.counts() - udp.warmup.0,
            received: udp.received - udp.warmup.1,
            counts_losses: receiver.loss_events().is_some(),
        })
    }

    /// Stores the counts at the end of the warm-up.
    pub fn warmed_up(&mut self) {
        for udp in self.flows.iter_mut().flatten() {
            let counts = udp.receiver.as_ref().map(UdpReceiver::counts).unwrap_or_default();
            udp.warmup = (counts, udp.received);
            udp.repair.iter_mut().for_each(|repair| repair.warmup = repair.totals());
        }
    }
}
