//! TCP at the hosts: opens connections, polls them for segments, passes received segments to them, and schedules their timers.
//!
//! Sender and receiver are the state machines of `airfair-transport`; the simulated network connects them.
//!
//! | file | contents |
//! |---|---|
//! | `connections` | open connections |
//! | `flows` | flows that open them |

mod connections;
mod flows;

use airfair_host::{Firing, HeaderId, HeaderKinds, Slot, scheme_ids};
use airfair_schemes::places::{
    FlowId, Header, HeaderKind, Source, SourceContext, SourceEffects, Timer, Waiting,
};
use airfair_transport::{Receiver, Segment, Sender, State};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Time};

use super::flow::Flow;
use super::laws::{LawId, Laws};
use crate::event::{EventKind, Order, Schedule, class};
use crate::ids::{ConnectionRef, FlowIx, Table};
use crate::measure::files::Completion;
use crate::packet::NO_FLOW;
use crate::record::{Record, TcpCause};
use crate::traffic::NextFile;
use connections::Connections;
pub(crate) use connections::{Connection, reasons};
use flows::TcpFlow;
pub(crate) use flows::{FlowStartAction, TransportTotals};

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    Sender,
    Receiver,
}

/// Common properties of a connection's packets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PacketLabel {
    pub flow: FlowIx,
    /// See [`Packet::scheme_flow`](crate::packet::Packet::scheme_flow) and [`Payload::Tcp`](crate::packet::Payload::Tcp).
    pub scheme_flow: FlowId,
    pub opening: u32,
    /// Scheme header that they carry.
    pub header: HeaderId,
}

/// Result of a segment or a timer at a sender.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SenderReport {
    /// Reasons for which the sender has reduced its rate, if observed: a time-out, a loss indicated by acknowledgements, a mark.
    pub slowed: [bool; 3],
    /// True if its law has switched to TCP's, because routers do not support its scheme.
    pub fell_back: bool,
    /// True if the sender has given up.
    pub gave_up: bool,
}

/// TCP at all hosts of a world.
#[derive(Default)]
pub(crate) struct Tcp {
    laws: Laws,
    flows: Table<FlowIx, Option<Box<TcpFlow>>>,
    connections: Connections,
    /// Number of connections opened for files.
    opened: u32,
    /// Completed files with their flows, if they are kept one by one.
    completions: Option<Vec<(FlowIx, Completion)>>,
    /// Effects that a law's hook requests.
    effects: SourceEffects,
    firings: Vec<Firing>,
    /// The first flow whose source has failed ([`SourceEffects::failed`]), which makes the run invalid.
    pub failed: Option<FlowIx>,
}

/// Connections.
impl Tcp {
    /// Opens a connection of a flow; `size`: bytes of its file, none if unlimited.
    pub fn open(
        &mut self,
        (flow, f): (FlowIx, &Flow),
        size: Option<u64>,
        headers: &mut HeaderKinds,
        now: Time,
        schedule: &mut Schedule,
    ) -> Option<ConnectionRef> {
        let tcp = self.flows[flow].as_deref_mut()?;
        let law = self.laws.source(tcp.law)?;
        let number = tcp.opened;
        tcp.opened += 1;
        let random = Stream::of_hash(tcp.seed, tcp.hash ^ number, Purpose::Source);
        let sender = Slot::new(Sender::new(&tcp.config, law), random, f.rank);
        let mut connection = Box::new(Connection::new((sender, Receiver::new(&tcp.config)), (flow, f.from)));
        connection.opened = now;
        connection.header = headers.id(connection.sender.machine.law().header());
        tcp.header = connection.header;
        connection.scheme_flow = f.id;
        if size.is_some() {
            connection.scheme_flow = scheme_ids::of_connection(tcp.hash, number);
            connection.opening = self.opened % NO_FLOW;
            self.opened = self.opened.wrapping_add(1);
        }
        connection.size = size;
        connection.number = number;
        let id = self.connections.add(connection);
        if size.is_none() {
            tcp.connection = id;
        }
        self.call(id, now, schedule, |sender, context| {
            sender.open(context);
            if let Some(size) = size {
                sender.write(size);
                sender.close();
            }
        })?;
        Some(id)
    }

    /// Calls a hook of a connection's sender, and thereby of its law, if the connection is open. Requested effects are applied before it
    /// returns.
    #[inline(always)]
    fn call<R>(
        &mut self,
        id: ConnectionRef,
        now: Time,
        schedule: &mut Schedule,
        hook: impl FnOnce(&mut Sender, &mut SourceContext<'_>) -> R,
    ) -> Option<R> {
        let connection = self.connections.get_mut(id)?;
        let answer = connection.sender.call(now, &mut self.effects, &mut self.firings, hook);
        self.check_law_effects(id, schedule);
        Some(answer)
    }

    #[inline(always)]
    fn check_law_effects(&mut self, id: ConnectionRef, schedule: &mut Schedule) {
        if !self.firings.is_empty() || self.effects.failed {
            self.apply_law_effects(id, schedule);
        }
    }

    #[cold]
    #[inline(never)]
    fn apply_law_effects(&mut self, id: ConnectionRef, schedule: &mut Schedule) {
        let Self { connections, effects, firings, failed, .. } = self;
        let Some(connection) = connections.get(id) else { return };
        let order = Order::new(class::TIMER, connection.sender.rank);
        for Firing { at, timer, generation } in firings.drain(..) {
            schedule.add(at, order, EventKind::LawTimer { connection: id, generation, timer: timer.0 });
        }
        if std::mem::take(&mut effects.failed) {
            failed.get_or_insert(connection.flow);
        }
    }

    /// A source of the run's scheme, if it has one.
    pub fn source_of_run(&self) -> Option<Box<dyn Source>> {
        self.laws.source(LawId::OF_RUN)
    }

    /// An open connection, to read.
    #[inline(always)]
    pub fn get(&self, id: ConnectionRef) -> Option<&Connection> {
        self.connections.get(id)
    }

    /// Number of open connections, and the largest number that were open at once.
    pub fn count(&self) -> (u64, u64) {
        self.connections.count()
    }

    /// Common properties of a connection's packets.
    #[inline(always)]
    pub fn label(&self, id: ConnectionRef) -> Option<PacketLabel> {
        let connection = self.connections.get(id)?;
        let &Connection { flow, scheme_flow, opening, header, .. } = connection;
        Some(PacketLabel { flow, scheme_flow, opening, header })
    }

    /// Pacing rate of a connection's sender, or its estimate; `None` before the first round-trip time.
    pub fn pacing(&self, id: ConnectionRef, now: Time) -> Option<Rate> {
        self.connections.get(id)?.sender.machine.pacing_rate(now)
    }

    /// True if a sender has negotiated ECN.
    pub fn uses_ecn(&self, id: ConnectionRef) -> bool {
        self.connections.get(id).is_some_and(|connection| connection.sender.machine.peer().ecn)
    }

    /// True if all data of a sender are delivered and acknowledged.
    #[inline(always)]
    pub fn is_done(&self, id: ConnectionRef) -> bool {
        self.connections.get(id).is_some_and(|connection| connection.sender.machine.is_done())
    }

    /// True if a sender has nothing more to send now.
    #[inline(always)]
    pub fn is_spent(&self, id: ConnectionRef) -> bool {
        self.connections.get(id).is_some_and(|connection| connection.sender.machine.is_spent())
    }

    /// True if a connection is open and carries a file.
    pub fn has_file(&self, id: ConnectionRef) -> bool {
        self.connections.get(id).is_some_and(|connection| connection.size.is_some())
    }

    /// Gives a sender data of the application; the largest number means data without end. Returns false if the connection is closed.
    pub fn write(&mut self, id: ConnectionRef, bytes: u64) -> bool {
        let connection = self.connections.get_mut(id);
        connection.map(|connection| connection.sender.machine.write(bytes)).is_some()
    }

    /// Ends the application's data. Returns false if the connection is closed.
    pub fn stop(&mut self, id: ConnectionRef) -> bool {
        self.connections.get_mut(id).map(|connection| connection.sender.machine.stop()).is_some()
    }

    /// The next segment of a sender.
    #[inline(always)]
    pub fn poll(&mut self, id: ConnectionRef, now: Time, schedule: &mut Schedule) -> Option<Segment> {
        let connection = self.connections.get_mut(id)?;
        let slot = &mut connection.sender;
        let departure =
            slot.call(now, &mut self.effects, &mut self.firings, |sender, context| sender.poll(context));
        // Built here: moving a segment from one option to another is slow, since it is large.
        let segment = match &departure {
            Some(departure) => Some(slot.machine.segment(departure, now)),
            None => None,
        };
        self.check_law_effects(id, schedule);
        segment
    }

    /// The next segment of a receiver.
    #[inline(always)]
    pub fn poll_receiver(&mut self, id: ConnectionRef, now: Time) -> Option<Segment> {
        self.connections.get_mut(id)?.receiver.poll(now)
    }

    /// True if the packet that one of the ends is about to send carries the header of the connection's scheme.
    pub fn carries_header(&mut self, id: ConnectionRef, end: ConnectionEnd, now: Time) -> bool {
        let Some(connection) = self.connections.get_mut(id) else { return false };
        match end {
            ConnectionEnd::Sender => connection.sender.machine.law_mut().carries_header(now),
            ConnectionEnd::Receiver => connection.echo.has_answer(),
        }
    }

    /// Fills the header of a packet that one of the ends sends.
    pub fn fill_header(
        &mut self,
        id: ConnectionRef,
        kind: &HeaderKind,
        end: ConnectionEnd,
        now: Time,
        header: &mut Header,
    ) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        match end {
            ConnectionEnd::Sender => {
                *header = Header::default();
                connection.sender.machine.law_mut().stamp(header, now);
            }
            ConnectionEnd::Receiver => *header = connection.echo.answer(kind),
        }
    }

    /// Hands a received segment to the receiver, with the header of a scheme and its hops, if it carries one. Returns the bytes thereby
    /// delivered to the application.
    #[inline(always)]
    pub fn on_data(
        &mut self,
        id: ConnectionRef,
        segment: &Segment,
        header: Option<(&mut Header, u16)>,
        headers: &HeaderKinds,
        now: Time,
    ) -> Option<u64> {
        let connection = self.connections.get_mut(id)?;
        if let Some(kind) = headers.of(connection.header) {
            match header {
                Some((header, hops)) => connection.echo.keep(kind, header, hops),
                None => connection.echo.note_bare(),
            }
        }
        let before = connection.receiver.delivered();
        connection.receiver.on_segment(segment, now);
        Some(connection.receiver.delivered() - before)
    }

    /// Hands a segment to the sender, with the header of a scheme, if it carries one. `watched`: reasons for rate reductions are needed.
    #[inline(always)]
    pub fn on_acknowledgement(
        &mut self,
        id: ConnectionRef,
        segment: &Segment,
        header: Option<&Header>,
        watched: bool,
        now: Time,
        schedule: &mut Schedule,
    ) -> Option<SenderReport> {
        let (slowed, falls) = self.call(id, now, schedule, |sender, context| {
            let before = if watched { reasons(sender) } else { [0; 3] };
            if let Some(header) = header {
                sender.on_header(header, context);
            }
            sender.on_segment(segment, context);
            let slowed = if watched { slowed(sender, before) } else { [false; 3] };
            (slowed, header.is_some() && sender.law().fell_back())
        })?;
        let fell_back = header.is_some() && self.record_fallback(id, falls);
        Some(SenderReport { slowed, fell_back, gave_up: false })
    }

    /// Records that a connection's law has switched to TCP's; true the first time.
    #[inline(never)]
    fn record_fallback(&mut self, id: ConnectionRef, falls: bool) -> bool {
        let Some(connection) = self.connections.get_mut(id) else { return false };
        let fell_back = !std::mem::replace(&mut connection.fell_back, falls) && falls;
        if fell_back && let Some(tcp) = &mut self.flows[connection.flow] {
            tcp.fallbacks += 1;
        }
        fell_back
    }

    /// Notifies a sender that its node's link layer has given up a segment. Returns false if the connection is closed.
    pub fn on_link_drop(
        &mut self,
        id: ConnectionRef,
        sequence: u64,
        now: Time,
        schedule: &mut Schedule,
    ) -> bool {
        self.call(id, now, schedule, |sender, context| sender.on_link_drop(sequence, context)).is_some()
    }

    /// Handles the sender's timer, if its deadline has not moved. The sender may then have segments to send.
    pub fn on_sender_timer(
        &mut self,
        id: ConnectionRef,
        watched: bool,
        now: Time,
        schedule: &mut Schedule,
    ) -> Option<SenderReport> {
        let connection = self.connections.get_mut(id).filter(|c| c.sender_armed == now)?;
        connection.sender_armed = Time::NEVER;
        if connection.sender.machine.deadline().is_none_or(|deadline| deadline > now) {
            self.arm(id, ConnectionEnd::Sender, schedule);
            return None;
        }
        let (slowed, gave_up) = self.call(id, now, schedule, |sender, context| {
            let before = if watched { reasons(sender) } else { [0; 3] };
            sender.on_timer(context);
            let slowed = if watched { slowed(sender, before) } else { [false; 3] };
            (slowed, sender.state() == State::Failed)
        })?;
        Some(SenderReport { slowed, fell_back: false, gave_up })
    }

    /// Handles the receiver's timer, if its deadline has not moved. Returns true if the receiver may have segments to send.
    pub fn on_receiver_timer(&mut self, id: ConnectionRef, now: Time, schedule: &mut Schedule) -> bool {
        let Some(connection) = self.connections.get_mut(id).filter(|c| c.receiver_armed == now) else {
            return false;
        };
        connection.receiver_armed = Time::NEVER;
        if connection.receiver.deadline().is_none_or(|deadline| deadline > now) {
            self.arm(id, ConnectionEnd::Receiver, schedule);
            return false;
        }
        connection.receiver.on_timer(now);
        true
    }

    /// Handles a law's timer, unless it was moved in the meantime. Returns true if the sender may have segments to send.
    pub fn on_law_timer(
        &mut self,
        id: ConnectionRef,
        (timer, generation): (Timer, u32),
        now: Time,
        schedule: &mut Schedule,
    ) -> bool {
        let Some(connection) = self.connections.get_mut(id) else { return false };
        connection.sender.timers.fires(timer, generation)
            && self.call(id, now, schedule, |sender, context| sender.on_law_timer(timer, context)).is_some()
    }

    /// Hands a connection's law the packets that wait at the node for its destination. Returns true if the law goes by them, so that no
    /// other limit of the node applies.
    pub fn on_own_queue(&mut self, id: ConnectionRef, waiting: &Waiting) -> bool {
        self.connections.get_mut(id).is_some_and(|connection| {
            let law = connection.sender.machine.law_mut();
            law.on_own_queue(waiting);
            law.goes_by_own_queue()
        })
    }

    /// Schedules a timer event no later than the deadline of one of the ends.
    #[inline(always)]
    pub fn arm(&mut self, id: ConnectionRef, end: ConnectionEnd, schedule: &mut Schedule) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let (deadline, armed) = match end {
            ConnectionEnd::Sender => (connection.sender.machine.deadline(), connection.sender_armed),
            ConnectionEnd::Receiver => (connection.receiver.deadline(), connection.receiver_armed),
        };
        if let Some(deadline) = deadline.filter(|&deadline| deadline < armed) {
            self.arm_for(id, end, deadline, schedule);
        }
    }

    #[inline(never)]
    fn arm_for(&mut self, id: ConnectionRef, end: ConnectionEnd, deadline: Time, schedule: &mut Schedule) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let (armed, kind) = match end {
            ConnectionEnd::Sender => (&mut connection.sender_armed, EventKind::SenderTimer(id)),
            ConnectionEnd::Receiver => (&mut connection.receiver_armed, EventKind::ReceiverTimer(id)),
        };
        *armed = deadline;
        schedule.add(deadline, Order::new(class::TIMER, connection.sender.rank), kind);
    }

    /// Closes a connection whose data are delivered and acknowledged, or whose sender has given up. Returns its flow, and the next file, if
    /// that waited for this one.
    pub fn close(&mut self, id: ConnectionRef, now: Time) -> Option<(FlowIx, Option<NextFile>)> {
        let connection = self.connections.remove(id)?;
        let (flow, done, stats) =
            (connection.flow, connection.sender.machine.is_done(), connection.sender.machine.stats());
        let tcp = self.flows[flow].as_deref_mut()?;
        tcp.ended += TransportTotals::of(stats);
        let Some(bytes) = connection.size else { return Some((flow, None)) };
        let duration = now.since(connection.opened);
        if done {
            tcp.done.add(bytes, duration);
        } else {
            tcp.done.failed += 1;
        }
        if let Some(list) = self.completions.as_mut().filter(|_| done) {
            let completion = Completion {
                file: connection.number,
                start: connection.opened,
                bytes,
                duration,
                timeouts: stats.timeouts + stats.syns.saturating_sub(1),
                retransmissions: stats.retransmissions,
            };
            list.push((flow, completion));
        }
        Some((flow, tcp.files.as_mut().and_then(|files| files.after_end(now))))
    }

    /// Record of a sender's rate reduction.
    pub fn record(&self, id: ConnectionRef, cause: TcpCause, now: Time) -> Option<Record> {
        let connection = self.connections.get(id)?;
        let sender = &connection.sender.machine;
        Some(Record::Tcp {
            node: connection.from,
            flow: connection.flow,
            cause,
            sequence: sender.unacknowledged() as u32,
            window: Bytes(sender.window(now)),
            rto: sender.round_trips().time_out,
        })
    }
}

/// Reasons that a sender has had more often than in `before`.
fn slowed(sender: &Sender, before: [u64; 3]) -> [bool; 3] {
    let now = reasons(sender);
    std::array::from_fn(|i| now[i] > before[i])
}
