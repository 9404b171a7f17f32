//! TCP at its hosts: connections are opened, poll for segments, take in what arrives, and set timers.
//!
//! Sender and receiver are the state machines of `airfair-transport`; what lies between them is the network.
//!
//! | file | contents |
//! |---|---|
//! | `connections` | the connections that live |
//! | `flows` | the flows that open them |
//! | `laws` | the window laws of a run |

mod connections;
mod flows;
mod laws;

use airfair_host::{Firing, HeaderId, HeaderKinds};
use airfair_schemes::places::{Context, FlowId, Header, HeaderKind, SourceEffects, Timer};
use airfair_transport::{Receiver, Segment, Sender, State};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Time};

use super::flow::Flow;
use super::scheme_ids;
use crate::event::{Order, Schedule, What, class};
use crate::ids::{ConnectionRef, FlowIx, Table};
use crate::measure::files::Completion;
use crate::packet::NO_FLOW;
use crate::record::{Record, TcpCause};
use crate::traffic::NextFile;
pub(crate) use connections::Connection;
use connections::Connections;
use flows::TcpFlow;
pub(crate) use flows::{Start, TransportTotals};
pub(crate) use laws::Laws;

/// Which end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Sender,
    Receiver,
}

/// What a connection's packets have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label {
    pub flow: FlowIx,
    /// See [`Packet::scheme_flow`](crate::packet::Packet::scheme_flow) and [`Payload::Tcp`](crate::packet::Payload::Tcp).
    pub scheme_flow: FlowId,
    pub opening: u32,
    /// The scheme's header that they carry.
    pub header: HeaderId,
}

/// What has become of a sender that has heard something or whose time was up.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Heard {
    /// Why it has slowed down, if that was asked for: a time-out, a loss told by acknowledgements, a mark.
    pub slowed: [bool; 3],
    /// Its law has begun to follow TCP's, because routers do not speak its scheme.
    pub fell_back: bool,
    /// It has given up.
    pub gave_up: bool,
}

/// TCP at all hosts of a world.
#[derive(Default)]
pub(crate) struct Tcp {
    laws: Laws,
    flows: Table<FlowIx, Option<Box<TcpFlow>>>,
    connections: Connections,
    /// Connections for files opened so far.
    opened: u32,
    /// Files that have ended, with their flows, if somebody wants them one by one.
    completions: Option<Vec<(FlowIx, Completion)>>,
    /// What laws have asked for.
    effects: SourceEffects,
    /// The first flow whose source has failed ([`SourceEffects::failed`]): the run is in error.
    pub failed: Option<FlowIx>,
}

/// Connections.
impl Tcp {
    /// Opens a connection of a flow, for a file of `size` bytes if it has an end.
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
        let ends = (Sender::new(&tcp.config, law), Receiver::new(&tcp.config));
        let mut connection = Connection::new(ends, flow, (f.from, f.rank), random);
        connection.opened = now;
        connection.header = headers.id(connection.sender.header());
        connection.scheme_flow = f.id;
        if size.is_some() {
            connection.scheme_flow = scheme_ids::of_connection(tcp.hash, number);
            connection.opening = self.opened % NO_FLOW;
            self.opened = self.opened.wrapping_add(1);
        }
        connection.size = size;
        connection.number = number;
        connection.sender.open(&mut Context { now, random: &mut connection.random, out: &mut self.effects });
        if let Some(size) = size {
            connection.sender.write(size);
            connection.sender.close();
        }
        let id = self.connections.add(connection);
        if size.is_none() {
            tcp.connection = id;
        }
        self.law_effects(id, now, schedule);
        Some(id)
    }

    /// A connection, if it lives, to look at.
    #[inline(always)]
    pub fn get(&self, id: ConnectionRef) -> Option<&Connection> {
        self.connections.get(id)
    }

    /// How many connections live, and the most that have lived at once.
    pub fn count(&self) -> (u64, u64) {
        self.connections.count()
    }

    /// What a connection's packets have in common.
    #[inline(always)]
    pub fn label(&self, id: ConnectionRef) -> Option<Label> {
        let connection = self.connections.get(id)?;
        let &Connection { flow, scheme_flow, opening, header, .. } = connection;
        Some(Label { flow, scheme_flow, opening, header })
    }

    /// The rate at which a connection's sender paces itself, if it does.
    pub fn pacing(&self, id: ConnectionRef, now: Time) -> Option<Rate> {
        self.connections.get(id)?.sender.pacing_rate(now)
    }

    /// Whether a sender has agreed on ECN.
    pub fn speaks_ecn(&self, id: ConnectionRef) -> bool {
        self.connections.get(id).is_some_and(|connection| connection.sender.speaks_ecn())
    }

    /// Whether everything that a sender had was delivered and acknowledged.
    #[inline(always)]
    pub fn is_done(&self, id: ConnectionRef) -> bool {
        self.connections.get(id).is_some_and(|connection| connection.sender.is_done())
    }

    /// Whether a sender has nothing more to send now.
    #[inline(always)]
    pub fn is_spent(&self, id: ConnectionRef) -> bool {
        self.connections.get(id).is_some_and(|connection| connection.sender.is_spent())
    }

    /// Whether a connection lives and carries a file.
    pub fn has_file(&self, id: ConnectionRef) -> bool {
        self.connections.get(id).is_some_and(|connection| connection.size.is_some())
    }

    /// The application writes without end.
    pub fn write_endless(&mut self, id: ConnectionRef) {
        self.connections.get_mut(id).into_iter().for_each(|connection| connection.sender.write_endless());
    }

    /// The application writes. Whether the connection lives.
    pub fn write(&mut self, id: ConnectionRef, bytes: u64) -> bool {
        let connection = self.connections.get_mut(id);
        connection.map(|connection| connection.sender.write(bytes)).is_some()
    }

    /// The application hands over no more. Whether the connection lives.
    pub fn stop(&mut self, id: ConnectionRef) -> bool {
        self.connections.get_mut(id).map(|connection| connection.sender.stop()).is_some()
    }

    /// The next segment of a sender.
    #[inline(always)]
    pub fn poll(&mut self, id: ConnectionRef, now: Time, schedule: &mut Schedule) -> Option<Segment> {
        let connection = self.connections.get_mut(id)?;
        let mut context = Context { now, random: &mut connection.random, out: &mut self.effects };
        let polled = connection.sender.poll(&mut context);
        self.law_effects(id, now, schedule);
        polled
    }

    /// The next segment of a receiver.
    #[inline(always)]
    pub fn poll_receiver(&mut self, id: ConnectionRef, now: Time) -> Option<Segment> {
        self.connections.get_mut(id)?.receiver.poll(now)
    }

    /// Fills the header of a packet that leaves one of the ends.
    pub fn stamp(&mut self, id: ConnectionRef, kind: &HeaderKind, end: End, now: Time, header: &mut Header) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        match end {
            End::Sender => {
                *header = Header::default();
                connection.sender.stamp(header, now);
            }
            End::Receiver => *header = connection.echo.answer(kind),
        }
    }

    /// A segment has reached the receiver, with the header of a scheme after so many hops, if it carries one. Returns the bytes that the
    /// application has got by it.
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
        if let Some((header, hops)) = header
            && let Some(kind) = headers.of(connection.header)
        {
            connection.echo.keep(kind, header, hops);
        }
        let before = connection.receiver.delivered();
        connection.receiver.on_segment(segment, now);
        Some(connection.receiver.delivered() - before)
    }

    /// A segment has reached the sender, with the header of a scheme, if it carries one. `watched`: reasons to slow down are wanted.
    #[inline(always)]
    pub fn on_acknowledgement(
        &mut self,
        id: ConnectionRef,
        segment: &Segment,
        header: Option<&Header>,
        watched: bool,
        now: Time,
        schedule: &mut Schedule,
    ) -> Option<Heard> {
        let connection = self.connections.get_mut(id)?;
        let before = if watched { connection.reasons() } else { [0; 3] };
        let mut context = Context { now, random: &mut connection.random, out: &mut self.effects };
        if let Some(header) = header {
            connection.sender.on_header(header, &mut context);
        }
        connection.sender.on_segment(segment, &mut context);
        let slowed = if watched { connection.slowed(before) } else { [false; 3] };
        let mut fell_back = false;
        if header.is_some() {
            let falls = connection.sender.law().fell_back();
            fell_back = !std::mem::replace(&mut connection.fell_back, falls) && falls;
        }
        if fell_back && let Some(tcp) = &mut self.flows[connection.flow] {
            tcp.fallbacks += 1;
        }
        self.law_effects(id, now, schedule);
        Some(Heard { slowed, fell_back, gave_up: false })
    }

    /// The own node's link layer has given a sender's segment up. Whether the connection lives.
    pub fn on_link_drop(
        &mut self,
        id: ConnectionRef,
        sequence: u64,
        now: Time,
        schedule: &mut Schedule,
    ) -> bool {
        let Some(connection) = self.connections.get_mut(id) else { return false };
        let mut context = Context { now, random: &mut connection.random, out: &mut self.effects };
        connection.sender.on_link_drop(sequence, &mut context);
        self.law_effects(id, now, schedule);
        true
    }

    /// The event of a sender's deadline, if that has not moved. Then the sender may have something to send.
    pub fn on_sender_timer(
        &mut self,
        id: ConnectionRef,
        watched: bool,
        now: Time,
        schedule: &mut Schedule,
    ) -> Option<Heard> {
        let connection = self.connections.get_mut(id).filter(|c| c.sender_armed == now)?;
        connection.sender_armed = Time::NEVER;
        if connection.sender.deadline().is_none_or(|deadline| deadline > now) {
            self.arm(id, End::Sender, schedule);
            return None;
        }
        let before = if watched { connection.reasons() } else { [0; 3] };
        let mut context = Context { now, random: &mut connection.random, out: &mut self.effects };
        connection.sender.on_timer(&mut context);
        let slowed = if watched { connection.slowed(before) } else { [false; 3] };
        let gave_up = connection.sender.state() == State::Failed;
        self.law_effects(id, now, schedule);
        Some(Heard { slowed, fell_back: false, gave_up })
    }

    /// The event of a receiver's deadline, if that has not moved. Whether the receiver may have something to send.
    pub fn on_receiver_timer(&mut self, id: ConnectionRef, now: Time, schedule: &mut Schedule) -> bool {
        let Some(connection) = self.connections.get_mut(id).filter(|c| c.receiver_armed == now) else {
            return false;
        };
        connection.receiver_armed = Time::NEVER;
        if connection.receiver.deadline().is_none_or(|deadline| deadline > now) {
            self.arm(id, End::Receiver, schedule);
            return false;
        }
        connection.receiver.on_timer(now);
        true
    }

    /// A timer of a law is due, unless it was moved meanwhile. Whether the sender may have something to send.
    pub fn on_law_timer(
        &mut self,
        id: ConnectionRef,
        (timer, generation): (Timer, u32),
        now: Time,
        schedule: &mut Schedule,
    ) -> bool {
        let Some(connection) = self.connections.get_mut(id) else { return false };
        if !connection.timers.fires(timer, generation) {
            return false;
        }
        let mut context = Context { now, random: &mut connection.random, out: &mut self.effects };
        connection.sender.law_mut().on_timer(timer, &mut context);
        self.law_effects(id, now, schedule);
        true
    }

    /// Makes sure that a timer event comes no later than the deadline of one of the ends.
    #[inline(always)]
    pub fn arm(&mut self, id: ConnectionRef, end: End, schedule: &mut Schedule) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let (deadline, armed) = match end {
            End::Sender => (connection.sender.deadline(), connection.sender_armed),
            End::Receiver => (connection.receiver.deadline(), connection.receiver_armed),
        };
        if let Some(deadline) = deadline.filter(|&deadline| deadline < armed) {
            self.arm_for(id, end, deadline, schedule);
        }
    }

    #[inline(never)]
    fn arm_for(&mut self, id: ConnectionRef, end: End, deadline: Time, schedule: &mut Schedule) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let (armed, what) = match end {
            End::Sender => (&mut connection.sender_armed, What::SenderTimer(id)),
            End::Receiver => (&mut connection.receiver_armed, What::ReceiverTimer(id)),
        };
        *armed = deadline;
        schedule.add(deadline, Order::new(class::TIMER, connection.rank), what);
    }

    /// Carries out what a law has asked for in the hook that was called.
    #[inline(always)]
    fn law_effects(&mut self, id: ConnectionRef, now: Time, schedule: &mut Schedule) {
        if !self.effects.is_empty() {
            self.law_timers(id, now, schedule);
        }
    }

    #[inline(never)]
    fn law_timers(&mut self, id: ConnectionRef, now: Time, schedule: &mut Schedule) {
        let failed = std::mem::take(&mut self.effects.failed);
        let Some(connection) = self.connections.get_mut(id) else {
            self.effects.timers.clear();
            return;
        };
        for (timer, at) in self.effects.timers.drain(..) {
            let Firing { at, generation, .. } = connection.timers.set(timer, at, now);
            let order = Order::new(class::TIMER, connection.rank);
            schedule.add(at, order, What::LawTimer { connection: id, generation, timer: timer.0 });
        }
        if failed {
            self.failed.get_or_insert(connection.flow);
        }
    }

    /// A connection ends: everything is delivered and acknowledged, or the sender has given up. Returns its flow, and the file after
    /// this one, if that waited for it.
    pub fn close(&mut self, id: ConnectionRef, now: Time) -> Option<(FlowIx, Option<NextFile>)> {
        let connection = self.connections.remove(id)?;
        let (flow, done, stats) = (connection.flow, connection.sender.is_done(), connection.sender.stats());
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

    /// What a trace says of a sender that slows down.
    pub fn record(&self, id: ConnectionRef, cause: TcpCause, now: Time) -> Option<Record> {
        let connection = self.connections.get(id)?;
        let sender = &connection.sender;
        Some(Record::Tcp {
            node: connection.from,
            flow: connection.flow,
            cause,
            sequence: sender.unacknowledged() as u32,
            window: Bytes(sender.window(now)),
            rto: sender.rto(),
        })
    }
}
