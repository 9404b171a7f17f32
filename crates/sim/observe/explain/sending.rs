//! The reasons for which a TCP sender waits, while its connection is open.

use std::collections::{BTreeMap, BTreeSet};

use airfair_transport::Limit;
use airfair_units::Time;

use super::view::{self, ConnectionView};
use super::{RunningTimer, TcpExplanation};
use crate::ids::ConnectionRef;
use crate::node::Network;

/// Reason for which a connection's sender does not send more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Sending {
    /// Data are outstanding, no packet of the connection is in flight in either direction, and no acknowledgement is due: only the
    /// retransmission timer can resume the sender.
    Timeout,
    /// As `Timeout`, but the receiver delays an acknowledgement.
    DelayedAck,
    /// The own node's queue has no room.
    Queue,
    /// The packets in the own node have reached the interface's limit.
    LocalLimit,
    /// The congestion window is full, and packets are in flight.
    Window,
    /// The window is full at its configured maximum.
    WindowLimit,
    /// The receiver's window is full.
    PeerWindow,
    /// The time of the next paced segment is still ahead.
    Pacing,
    /// The connection is being opened.
    Handshake,
    /// The application has provided no more data.
    Application,
    /// No reason; it is about to send.
    Nothing,
}

impl Sending {
    /// All states.
    pub const ALL: [Self; 11] = [
        Self::Timeout,
        Self::DelayedAck,
        Self::Queue,
        Self::LocalLimit,
        Self::Window,
        Self::WindowLimit,
        Self::PeerWindow,
        Self::Pacing,
        Self::Handshake,
        Self::Application,
        Self::Nothing,
    ];

    /// Name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "rto_wait",
            Self::DelayedAck => "delayed_ack",
            Self::Queue => "own_queue",
            Self::LocalLimit => "local_limit",
            Self::Window => "congestion_window",
            Self::WindowLimit => "window_limit",
            Self::PeerWindow => "receiver_window",
            Self::Pacing => "pacing",
            Self::Handshake => "handshake",
            Self::Application => "application",
            Self::Nothing => "nothing",
        }
    }

    fn of(view: &ConnectionView, under_way: u32) -> Self {
        if under_way == 0 && view.outstanding && !view.blocked && view.limit != Limit::Pacing {
            return if view.acknowledgement_due { Self::DelayedAck } else { Self::Timeout };
        }
        if view.blocked {
            return Self::Queue;
        }
        match view.limit {
            Limit::Handshake => Self::Handshake,
            Limit::Application => Self::Application,
            Limit::Window => Self::Window,
            Limit::WindowLimit => Self::WindowLimit,
            Limit::PeerWindow => Self::PeerWindow,
            Limit::Pacing => Self::Pacing,
            Limit::Nothing if view.held => Self::LocalLimit,
            Limit::Nothing => Self::Nothing,
        }
    }
}

#[derive(Debug)]
struct Connection {
    /// Packets of the connection in flight in both directions: their number now, and before the present event.
    under_way: u32,
    were_under_way: u32,
    reasons: [u64; 3],
    syns: u64,
    opened: bool,
    waits: Sending,
    /// Start of the wait for its timer, ns.
    waits_from: u64,
}

impl Connection {
    /// True if a SYN has timed out, and none was answered.
    const fn is_unopened(&self) -> bool {
        !self.opened && self.syns > 1
    }
}

/// Connections of the explained flow.
#[derive(Debug, Default)]
pub(super) struct Senders {
    live: BTreeMap<(u32, u32), Connection>,
    /// Number of connections in each state.
    waiting: [u64; Sending::ALL.len()],
    /// Connections with an event in the present step.
    touched: BTreeSet<(u32, u32)>,
    summary: TcpExplanation,
}

fn key(id: ConnectionRef) -> (u32, u32) {
    (id.place, id.generation)
}

impl Senders {
    pub fn on_made(&mut self, id: ConnectionRef) {
        let connection = self.live.entry(key(id)).or_insert_with(|| {
            self.waiting[Sending::Handshake as usize] += 1;
            self.summary.connections += 1;
            Connection {
                under_way: 0,
                were_under_way: 0,
                reasons: [0; 3],
                syns: 0,
                opened: false,
                waits: Sending::Handshake,
                waits_from: 0,
            }
        });
        connection.under_way += 1;
        self.touched.insert(key(id));
    }

    pub fn on_ended(&mut self, id: ConnectionRef) {
        if let Some(connection) = self.live.get_mut(&key(id)) {
            connection.under_way = connection.under_way.saturating_sub(1);
            self.touched.insert(key(id));
        }
    }

    pub fn on_touched(&mut self, id: ConnectionRef) {
        self.touched.insert(key(id));
    }

    /// Accounts for the time since the last event.
    pub fn add(&mut self, ns: u64) {
        for (summary, waiting) in self.summary.waited.iter_mut().zip(self.waiting) {
            *summary += ns * waiting;
            self.summary.observed += ns * waiting;
        }
    }

    /// Records the state after an event. `window`: start and end of the explained time.
    pub fn observe(&mut self, network: &Network, now: u64, window: (u64, u64)) {
        while let Some(key) = self.touched.pop_first() {
            let Some(connection) = self.live.get_mut(&key) else { continue };
            let view =
                view::connection(network, ConnectionRef { place: key.0, generation: key.1 }, Time(now));
            let waits = view.as_ref().map(|view| Sending::of(view, connection.under_way));
            if let Some(view) = &view
                && (window.0..=window.1).contains(&now)
            {
                count_reasons(&mut self.summary, connection, view, now);
            }
            if let Some(view) = &view {
                (connection.reasons, connection.syns) = (view.reasons, view.syns);
                connection.opened |= view.limit != Limit::Handshake;
            }
            connection.were_under_way = connection.under_way;
            if waits == Some(connection.waits) {
                continue;
            }
            if connection.waits == Sending::Timeout {
                list_wait(&mut self.summary, connection.waits_from, now, window);
            }
            self.waiting[connection.waits as usize] -= 1;
            match waits {
                Some(waits) => {
                    self.waiting[waits as usize] += 1;
                    (connection.waits, connection.waits_from) = (waits, now);
                }
                None => {
                    self.summary.unopened += u64::from(connection.is_unopened());
                    self.live.remove(&key);
                }
            }
        }
    }

    /// The explanation up to `now`.
    pub fn explanation(&self, network: &Network, now: u64, window: (u64, u64)) -> TcpExplanation {
        let mut summary = self.summary.clone();
        summary.unopened += self.live.values().filter(|connection| connection.is_unopened()).count() as u64;
        let waiting = self.live.iter().filter(|(_, connection)| connection.waits == Sending::Timeout);
        for (&(place, generation), &Connection { waits_from: from, .. }) in waiting {
            list_wait(&mut summary, from, now, window);
            let view = view::connection(network, ConnectionRef { place, generation }, Time(now));
            let timer = view.and_then(|view| {
                let (until, expiries) = view.timer?;
                Some(RunningTimer { from, until: until.0, expiries, doublings: view.doublings })
            });
            if timer.map(|timer| timer.until) > summary.timer.map(|timer| timer.until) {
                summary.timer = timer;
            }
        }
        summary
    }
}

/// Counts the reasons for which a sender has reduced its rate since the last event.
fn count_reasons(summary: &mut TcpExplanation, connection: &Connection, view: &ConnectionView, now: u64) {
    let [timeouts, losses, marks] = [0, 1, 2].map(|i| view.reasons[i] - connection.reasons[i]);
    summary.timeouts += timeouts;
    summary.fast_losses += losses;
    summary.marks += marks;
    // The first SYN follows no time-out.
    summary.syn_timeouts += view.syns.saturating_sub(1) - connection.syns.saturating_sub(1);
    if timeouts > 0 {
        summary.timeouts_under_way += u64::from(connection.were_under_way > 0);
        if summary.timeout_times.len() < TcpExplanation::LISTED {
            summary.timeout_times.push(now);
        }
    }
}

fn list_wait(summary: &mut TcpExplanation, from: u64, until: u64, window: (u64, u64)) {
    let (from, until) = (from.max(window.0), until.min(window.1));
    if from < until && summary.timeout_waits.len() < TcpExplanation::LISTED {
        summary.timeout_waits.push((from, until));
    }
}
