//! An observed radio: its activity at each moment, and the signals that it receives.

use std::collections::VecDeque;

use super::view::{self, Owner};
use crate::air::{Air, MacWait, ReceivedSignal, StationView};
use crate::ids::{CopyRef, FlowIx, NodeIx, StationIx};
use crate::node::Network;
use crate::record::{FrameKind, FrameView};

/// Time for which signals are remembered after their end, ns: longer than any frame, so that a frame's interferers can be determined.
const REMEMBERED: u64 = 1_000_000_000;

/// Activity of a station. The first condition that holds counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Activity {
    /// The station transmits an RTS or data frame of its own; a wire transmits a packet.
    Transmit,
    /// The station sends a CTS or an ACK.
    Answer,
    /// The station waits a SIFS before its next frame, a response included.
    Sifs,
    /// The station waits for the CTS after its RTS.
    AwaitCts,
    /// The station waits for the ACK after its data frame.
    AwaitAck,
    /// Signals of others keep the medium busy.
    Busy,
    /// The medium is idle, but reserved by a duration field.
    Nav,
    /// The station waits for an EIFS after a frame that it could not receive.
    Eifs,
    /// The station waits for a DIFS.
    Difs,
    /// The station counts back-off slots.
    Backoff,
    /// The address of its neighbour is not known yet.
    Address,
}

impl Activity {
    /// All activities.
    pub const ALL: [Self; 11] = [
        Self::Transmit,
        Self::Answer,
        Self::Sifs,
        Self::AwaitCts,
        Self::AwaitAck,
        Self::Busy,
        Self::Nav,
        Self::Eifs,
        Self::Difs,
        Self::Backoff,
        Self::Address,
    ];

    /// Name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transmit => "transmit",
            Self::Answer => "answer",
            Self::Sifs => "sifs",
            Self::AwaitCts => "await_cts",
            Self::AwaitAck => "await_ack",
            Self::Busy => "busy",
            Self::Nav => "nav",
            Self::Eifs => "eifs",
            Self::Difs => "difs",
            Self::Backoff => "backoff",
            Self::Address => "address",
        }
    }
}

/// A transmitting node, and the flow that its frame serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Holder {
    /// The node; `None`: unknown.
    pub node: Option<NodeIx>,
    pub owner: Owner,
}

impl Holder {
    pub const UNKNOWN: Self = Self { node: None, owner: Owner::Other };

    pub fn flow(&self) -> Option<FlowIx> {
        match self.owner {
            Owner::Flow(flow, _) => Some(flow),
            Owner::Other => None,
        }
    }
}

/// An interval of one activity; `holders` is a range of the list beside it.
#[derive(Debug, Clone)]
pub(super) struct ActivityInterval {
    pub doing: Activity,
    pub ns: u64,
    pub holders: std::ops::Range<usize>,
}

/// Activities of a station in an interval.
#[derive(Debug, Default)]
pub(super) struct ActivityIntervals {
    pub list: Vec<ActivityInterval>,
    pub holders: Vec<Holder>,
}

/// A frame's signal at a station.
#[derive(Debug, Clone, Copy)]
struct Signal {
    start: u64,
    end: u64,
    power: u64,
    number: u32,
    /// Time that its duration field reserves after its end, ns.
    reserves: u64,
    rts: bool,
    /// Set if the signal is a CTS or ACK for this station: the wait that it ends.
    responds_to: Option<Activity>,
    holder: Holder,
}

impl Signal {
    fn is_on(&self, at: u64) -> bool {
        (self.start..self.end).contains(&at)
    }
}

/// State of an observed station.
#[derive(Debug)]
pub(super) struct Station {
    pub number: StationIx,
    heard: Vec<Option<ReceivedSignal>>,
    /// Time for which a NAV set by an RTS lasts provisionally, ns.
    nav_check: u64,
    pub view: StationView,
    /// End of its own frame on the air; true if that is a response.
    own: Option<(u64, bool)>,
    /// The node and flow that its last frame served.
    pub served: Holder,
    /// Signals that make the medium busy and have not ended.
    sensed: Vec<Signal>,
    /// All signals of the last second, weak ones included.
    recent: VecDeque<Signal>,
    nav_by: Holder,
    eifs_by: Holder,
    /// The copy in its MAC, the receiving station, and the packet's owner.
    head: Option<(CopyRef, StationIx, Owner)>,
}

impl Station {
    pub fn new(number: StationIx, air: &Air) -> Self {
        Self {
            number,
            heard: air.signals_at(number),
            nav_check: air.phy(number).nav_reset_after,
            view: air.view(number),
            own: None,
            served: Holder::UNKNOWN,
            sensed: Vec::new(),
            recent: VecDeque::new(),
            nav_by: Holder::UNKNOWN,
            eifs_by: Holder::UNKNOWN,
            head: None,
        }
    }

    /// Recomputes all signals after a movement.
    pub fn recompute_signals(&mut self, air: &Air) {
        self.heard = air.signals_at(self.number);
    }

    /// Owner of the packet in its MAC.
    pub fn owner(&self) -> Option<Owner> {
        self.head.map(|(_, _, owner)| owner)
    }

    /// True if the packet in the station's MAC belongs to `own` and is addressed to station `to`.
    pub fn has(&self, own: Owner, to: StationIx) -> bool {
        self.head.is_some_and(|(_, for_station, owner)| (for_station, owner) == (to, own))
    }

    /// Handles the start of a frame at any station.
    pub fn on_start(&mut self, frame: &FrameView, holder: Holder, air: &Air) {
        if frame.sender == self.number {
            let is_response = matches!(frame.kind, FrameKind::Cts | FrameKind::Ack);
            self.own = Some((frame.end.0, is_response && frame.receiver != Some(frame.sender)));
            self.served = holder;
            return;
        }
        if air.gains_vary() {
            self.heard[frame.sender.ix()] = air.signal_at(frame.sender, self.number);
        }
        let Some(heard) = self.heard[frame.sender.ix()] else { return };
        let delay = u64::from(heard.delay);
        let signal = Signal {
            start: frame.start.0 + delay,
            end: frame.end.0 + delay,
            power: heard.power,
            number: frame.number,
            reserves: u64::from(frame.nav_us) * 1000,
            rts: frame.kind == FrameKind::Rts,
            responds_to: match frame.kind {
                FrameKind::Cts => Some(Activity::AwaitCts),
                FrameKind::Ack => Some(Activity::AwaitAck),
                _ => None,
            }
            .filter(|_| frame.receiver == Some(self.number)),
            holder,
        };
        if heard.sensed {
            self.sensed.push(signal);
        }
        while self.recent.front().is_some_and(|s| s.end + REMEMBERED < frame.start.0) {
            self.recent.pop_front();
        }
        self.recent.push_back(signal);
    }

    /// Records the state after an event.
    pub fn observe(&mut self, air: &Air, network: &Network) {
        let view = air.view(self.number);
        if view.nav_until > self.view.nav_until {
            let made = |s: &&Signal| {
                let check = if s.rts { self.nav_check } else { s.reserves };
                view.nav_until == s.end + s.reserves || view.nav_until == s.end + check
            };
            let by = self.recent.iter().rev().find(made);
            self.nav_by = by.map_or(Holder::UNKNOWN, |s| s.holder);
        }
        if view.eifs_from != self.view.eifs_from && view.eifs_from > 0 {
            let by = self.recent.iter().rev().find(|s| s.end == view.eifs_from);
            self.eifs_by = by.map_or(Holder::UNKNOWN, |s| s.holder);
        }
        if view.head.map(|head| (head.copy, head.to)) != self.head.map(|(copy, to, _)| (copy, to)) {
            let owner = |packet| view::owner(network, packet).unwrap_or(Owner::Other);
            self.head = view.head.map(|head| (head.copy, head.to, owner(head.packet)));
        }
        self.view = view;
    }

    /// Activities from `from` to `until`, between which no event happens.
    pub fn add_activities(&self, from: u64, until: u64, into: &mut ActivityIntervals) {
        into.list.clear();
        into.holders.clear();
        let mut at = from;
        while at < until {
            let first = into.holders.len();
            let doing = self.activity_at(at, &mut into.holders);
            let StationView { nav_until, eifs_until, count_from, .. } = self.view;
            let own_end = self.own.map_or(0, |(end, _)| end);
            let turns = [own_end, nav_until, eifs_until, count_from].into_iter();
            let next = turns
                .chain(self.sensed.iter().flat_map(|s| [s.start, s.end]))
                .filter(|&turn| turn > at)
                .fold(until, u64::min);
            into.list.push(ActivityInterval { doing, ns: next - at, holders: first..into.holders.len() });
            at = next;
        }
    }

    /// Removes signals that have ended before `now` from those that make the medium busy.
    pub fn remove_ended(&mut self, now: u64) {
        self.sensed.retain(|s| s.end > now);
        self.own = self.own.filter(|&(end, _)| end > now);
    }

    fn activity_at(&self, at: u64, holders: &mut Vec<Holder>) -> Activity {
        if let Some((_, is_response)) = self.own.filter(|&(end, _)| at < end) {
            return if is_response { Activity::Answer } else { Activity::Transmit };
        }
        // The MAC continues when the response has left its sender: a propagation delay before the last bit arrives here.
        if let Some(awaited) = self.sensed.iter().filter(|s| s.is_on(at)).find_map(|s| s.responds_to) {
            return awaited;
        }
        match self.view.waits {
            MacWait::Cts => return Activity::AwaitCts,
            MacWait::Ack => return Activity::AwaitAck,
            MacWait::SifsBeforeData | MacWait::SifsBeforeResponse => return Activity::Sifs,
            MacWait::Access => {}
        }
        let first = holders.len();
        holders.extend(self.sensed.iter().filter(|s| s.is_on(at)).map(|s| s.holder));
        if holders.len() > first {
            return Activity::Busy;
        }
        if at < self.view.nav_until {
            holders.push(self.nav_by);
            return Activity::Nav;
        }
        if at < self.view.eifs_until {
            holders.push(self.eifs_by);
            return Activity::Eifs;
        }
        if at < self.view.count_from { Activity::Difs } else { Activity::Backoff }
    }

    /// True if a station's signal makes the medium busy here.
    pub fn senses(&self, station: usize) -> bool {
        self.heard[station].is_some_and(|heard| heard.sensed)
    }

    /// Sender of a received frame, by the frame's number.
    pub fn sender_of(&self, number: u32) -> Option<Holder> {
        self.recent.iter().rev().find(|s| s.number == number).map(|s| s.holder)
    }

    /// Sender of the strongest signal that overlaps a frame.
    pub fn strongest_beside(&self, frame: &FrameView) -> Option<Holder> {
        let delay = self.heard[frame.sender.ix()].map_or(0, |h| u64::from(h.delay));
        let (start, end) = (frame.start.0 + delay, frame.end.0 + delay);
        let beside =
            self.recent.iter().filter(|s| s.number != frame.number && s.start < end && s.end > start);
        beside.max_by_key(|s| (s.power, s.number)).map(|s| s.holder)
    }

    /// Reason for a withheld CTS: true for a reservation, and the node whose frame caused it.
    pub fn withholds(&self, at: u64) -> (bool, Option<Holder>) {
        if self.view.nav_until > at {
            return (true, Some(self.nav_by));
        }
        let on = self.sensed.iter().filter(|s| s.is_on(at));
        let eifs = (self.view.eifs_until > at).then_some(self.eifs_by);
        (false, on.max_by_key(|s| (s.power, s.number)).map(|s| s.holder).or(eifs))
    }
}
