//! An observed radio: its activity at each moment, and the signals that it receives.

use std::collections::VecDeque;

use super::view::{self, Owner};
use crate::air::{Air, CategoryView, Countdown, MacWait, ReceivedSignal, StationView};
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
    /// The station waits for a DIFS, the category of the flow's packet for its AIFS.
    Difs,
    /// The station counts back-off slots.
    Backoff,
    /// The address of its neighbour is not known yet.
    Address,
    /// The queue holds the flow's packets back, and none is in the MAC: it compares itself with those of other nodes (DiffQ), or the link
    /// may send no more (the airtime allocator). Where such a node looks for an address, that counts here too.
    Held,
    /// The station exchanges frames of another access category.
    Category,
}

impl Activity {
    /// All activities.
    pub const ALL: [Self; 13] = [
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
        Self::Held,
        Self::Category,
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
            Self::Held => "held",
            Self::Category => "category",
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
    /// The medium is busy with a frame of a higher access category than that of the packet that waits.
    pub outranked: bool,
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
    /// After an RTS, the time for which a NAV lasts provisionally, ns; else `reserves`.
    provisional: u64,
    /// Set if the signal is a CTS or ACK for this station: the wait that it ends.
    responds_to: Option<Activity>,
    /// Access category of its packet, at a station with several.
    category: Option<u8>,
    holder: Holder,
}

impl Signal {
    fn is_on(&self, at: u64) -> bool {
        (self.start..self.end).contains(&at)
    }
}

/// State of an observed station.
#[derive(Debug)]
pub(super) struct ObservedStation {
    pub number: StationIx,
    heard: Vec<Option<ReceivedSignal>>,
    pub view: StationView,
    /// The station's categories, the lowest priority first; the DCF has one.
    categories: Vec<Category>,
    access: Access,
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
}

/// A category of a station after the last event.
#[derive(Debug, Default)]
struct Category {
    /// The copy in its MAC, the receiving station, and the packet's owner.
    head: Option<(CopyRef, StationIx, Owner)>,
    countdown: Option<Countdown>,
}

/// An access of a category to the medium: the present one, or the last.
#[derive(Debug, Default)]
struct Access {
    category: u8,
    /// True while the category exchanges frames.
    open: bool,
    /// Categories that have lost this access in an internal collision, a bit for each.
    lost_by: u8,
    /// True if a data frame was sent, and if the exchange of the first packet is over.
    sent: bool,
    further: bool,
}

/// Reason for which another category of a station exchanges frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precedence {
    /// It has won access to the medium.
    Access,
    /// It continues its TXOP.
    Txop,
    /// It has won access in an internal collision.
    Collision,
}

impl Category {
    /// Records the state after an event.
    fn observe(&mut self, view: CategoryView, network: &Network) {
        if view.head.map(|head| (head.copy, head.to)) != self.head.map(|(copy, to, _)| (copy, to)) {
            let owner = |packet| view::owner(network, packet).unwrap_or(Owner::Other);
            self.head = view.head.map(|head| (head.copy, head.to, owner(head.packet)));
        }
        if !self.countdown.zip(view.countdown).is_some_and(|(now, next)| now.goes_on_in(next)) {
            self.countdown = view.countdown;
        }
    }
}

impl ObservedStation {
    pub fn new(number: StationIx, air: &Air) -> Self {
        Self {
            number,
            heard: air.reach().signals_at(number),
            view: air.view(number),
            categories: (0..air.mac(number).category_count).map(|_| Category::default()).collect(),
            access: Access::default(),
            own: None,
            served: Holder::UNKNOWN,
            sensed: Vec::new(),
            recent: VecDeque::new(),
            nav_by: Holder::UNKNOWN,
            eifs_by: Holder::UNKNOWN,
        }
    }

    /// Recomputes all signals after a movement.
    pub fn recompute_signals(&mut self, air: &Air) {
        self.heard = air.reach().signals_at(self.number);
    }

    /// Number of categories.
    pub fn category_count(&self) -> usize {
        self.categories.len()
    }

    /// The category that exchanges frames, or has done so last.
    pub fn sending(&self) -> u8 {
        self.view.sends.unwrap_or(self.access.category)
    }

    /// Owner of the first packet of a category in the MAC.
    pub fn owner(&self, category: u8) -> Option<Owner> {
        self.categories.get(usize::from(category))?.head.map(|(_, _, owner)| owner)
    }

    /// True if the first packet of a category in the station's MAC belongs to `own` and is addressed to station `to`.
    pub fn has(&self, category: u8, own: Owner, to: StationIx) -> bool {
        let head = self.categories.get(usize::from(category)).and_then(|category| category.head);
        head.is_some_and(|(_, for_station, owner)| (for_station, owner) == (to, own))
    }

    /// Categories of the station: the one that exchanges frames, then the others from the highest priority on.
    pub fn by_precedence(&self) -> impl Iterator<Item = u8> + '_ {
        let all = (0..self.categories.len() as u8).rev();
        self.view.sends.into_iter().chain(all.filter(|&category| self.view.sends != Some(category)))
    }

    /// The category that decides what the station does: the one that exchanges frames, else that whose back-off ends first, the highest of
    /// these.
    pub fn leading(&self) -> u8 {
        let end = |category: &u8| {
            let Category { head, countdown } = &self.categories[usize::from(*category)];
            (head.is_none(), countdown.map_or(u64::MAX, |countdown| countdown.until))
        };
        self.view.sends.or_else(|| self.by_precedence().min_by_key(end)).unwrap_or(0)
    }

    /// Another category than `own` that exchanges frames, and why it precedes.
    pub fn precedes(&self, own: u8) -> (u8, Precedence) {
        let Access { lost_by, further, .. } = self.access;
        let why = match further {
            _ if lost_by & 1 << own != 0 => Precedence::Collision,
            true => Precedence::Txop,
            false => Precedence::Access,
        };
        (self.sending(), why)
    }

    /// Handles an internal collision of the station: `loser` backs off for `winner`.
    pub fn on_internal_collision(&mut self, loser: u8, winner: u8) {
        self.begin_access(winner);
        self.access.lost_by |= 1 << loser;
    }

    fn begin_access(&mut self, category: u8) {
        if !self.access.open {
            self.access = Access { category, open: true, ..Access::default() };
        }
    }

    /// Handles the start of a frame at any station. `category`: the one that exchanges frames at its sender, if the frame is no response.
    pub fn on_start(&mut self, frame: &FrameView, category: u8, holder: Holder, air: &Air) {
        if frame.sender == self.number {
            let is_response =
                matches!(frame.kind, FrameKind::Cts | FrameKind::Ack) && frame.receiver != Some(frame.sender);
            self.own = Some((frame.end.0, is_response));
            self.served = holder;
            if !is_response {
                self.begin_access(category);
                self.access.sent |= matches!(frame.kind, FrameKind::Data | FrameKind::Broadcast);
            }
            return;
        }
        if air.gains_vary() {
            self.heard[frame.sender.ix()] = air.reach().signal_at(frame, self.number);
        }
        let as_ever = self.heard[frame.sender.ix()];
        let heard = if frame.power_offset == 0 { as_ever } else { air.reach().signal_at(frame, self.number) };
        let Some(heard) = heard else { return };
        let delay = u64::from(heard.delay);
        let reserves = u64::from(frame.nav_us) * 1000;
        let signal = Signal {
            start: frame.start.0 + delay,
            end: frame.end.0 + delay,
            power: heard.power,
            number: frame.number,
            reserves,
            provisional: match frame.kind {
                FrameKind::Rts => air.nav_reset_after(self.number, frame),
                _ => reserves,
            },
            responds_to: match frame.kind {
                FrameKind::Cts => Some(Activity::AwaitCts),
                FrameKind::Ack => Some(Activity::AwaitAck),
                _ => None,
            }
            .filter(|_| frame.receiver == Some(self.number)),
            category: frame.category,
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
                [s.reserves, s.provisional].iter().any(|reserved| view.nav_until == s.end + reserved)
            };
            let by = self.recent.iter().rev().find(made);
            self.nav_by = by.map_or(Holder::UNKNOWN, |s| s.holder);
        }
        if view.eifs_from != self.view.eifs_from && view.eifs_from > 0 {
            let by = self.recent.iter().rev().find(|s| s.end == view.eifs_from);
            self.eifs_by = by.map_or(Holder::UNKNOWN, |s| s.holder);
        }
        self.access.open = view.sends.is_some();
        let waits_sifs = matches!(view.waits, MacWait::SifsBeforeData | MacWait::SifsBeforeResponse);
        self.access.further |= self.access.open && self.access.sent && waits_sifs;
        self.view = view;
        for number in 0..self.categories.len() {
            self.categories[number].observe(air.category_view(self.number, number), network);
        }
    }

    /// Activities from `from` to `until`, between which no event happens, for a packet in a category.
    pub fn add_activities(&self, category: u8, from: u64, until: u64, into: &mut ActivityIntervals) {
        into.list.clear();
        into.holders.clear();
        let mut at = from;
        while at < until {
            let first = into.holders.len();
            let doing = self.activity_at(at, category, &mut into.holders);
            let StationView { nav_until, eifs_until, .. } = self.view;
            let own_end = self.own.map_or(0, |(end, _)| end);
            let turns = [own_end, nav_until, eifs_until, self.counts_from(category)].into_iter();
            let next = turns
                .chain(self.sensed.iter().flat_map(|s| [s.start, s.end]))
                .filter(|&turn| turn > at)
                .fold(until, u64::min);
            let is_above = |signal: &Signal| signal.is_on(at) && signal.category > Some(category);
            let outranked = doing == Activity::Busy && self.sensed.iter().any(is_above);
            let holders = first..into.holders.len();
            into.list.push(ActivityInterval { doing, ns: next - at, holders, outranked });
            at = next;
        }
    }

    /// Removes signals that have ended before `now` from those that make the medium busy.
    pub fn remove_ended(&mut self, now: u64) {
        self.sensed.retain(|s| s.end > now);
        self.own = self.own.filter(|&(end, _)| end > now);
    }

    /// The time from which a category counts the slots of its back-off.
    fn counts_from(&self, category: u8) -> u64 {
        let of = self.categories.get(usize::from(category)).filter(|_| self.categories.len() > 1);
        of.and_then(|category| category.countdown).map_or(self.view.count_from, |countdown| countdown.from)
    }

    /// An activity of the category that exchanges frames, for a packet in `category`.
    fn of_exchange(&self, doing: Activity, category: u8) -> Activity {
        if self.categories.len() > 1 && self.sending() != category { Activity::Category } else { doing }
    }

    fn activity_at(&self, at: u64, category: u8, holders: &mut Vec<Holder>) -> Activity {
        if let Some((_, is_response)) = self.own.filter(|&(end, _)| at < end) {
            return if is_response {
                Activity::Answer
            } else {
                self.of_exchange(Activity::Transmit, category)
            };
        }
        // The MAC continues when the response has left its sender: a propagation delay before the last bit arrives here.
        if let Some(awaited) = self.sensed.iter().filter(|s| s.is_on(at)).find_map(|s| s.responds_to) {
            return self.of_exchange(awaited, category);
        }
        match self.view.waits {
            MacWait::Cts => return self.of_exchange(Activity::AwaitCts, category),
            MacWait::Ack => return self.of_exchange(Activity::AwaitAck, category),
            // A response is due to another station; a CF-End to none.
            MacWait::SifsBeforeResponse if self.view.sends.is_none() => return Activity::Sifs,
            MacWait::SifsBeforeData | MacWait::SifsBeforeResponse => {
                return self.of_exchange(Activity::Sifs, category);
            }
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
        if at < self.counts_from(category) { Activity::Difs } else { Activity::Backoff }
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
