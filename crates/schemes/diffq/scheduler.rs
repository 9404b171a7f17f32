//! Which destination is served next, and with which priority at the MAC (§4.1, *Forwarder Algorithm*, flow scheduling).
//!
//! | quantity | here |
//! |---|---|
//! | QD_i(d) = \|Q_i(d)\| − \|Q_j(d)\|, j the next hop (eq. 1) | [`Rank::differential`] |
//! | P.priority = MAX(⌈QD Δ / D⌉, 0) | [`Quantiser::level`], at most Δ − 1 |
//!
//! Readings:
//! - The printed ⌈QD Δ / D⌉ is Δ for QD = D; there is no such level, so the highest is Δ − 1. The text of §4 divides "by a fixed
//!   interval", which may as well drop the fraction ([`Rounding`]).
//! - A queue with QD ≤ 0 is served too, at level 0: the argmax is always transmitted. Backpressure in theory would hold it ([`Serve`]).
//! - Where queues take turns (*Only RC*) no differential decides, and none is held.
//! - The text of §4.1 serves the packet of highest *priority*, ties arbitrarily; the pseudo-code and §5.4 the largest *differential*
//!   ([`Order`]). Ties go to the queue that has waited longest for its turn.

use crate::words;

words! {
    /// The rule by which the next destination is chosen.
    pub enum Order {
        /// The largest queue differential (pseudo-code; §5.4).
        Differential = "differential",
        /// The highest level (text of §4.1): several differentials share one.
        Priority = "priority",
    }
}

words! {
    /// How a queue differential becomes a whole level.
    pub enum Rounding {
        /// Up: a single packet more than at the next hop is level 1 (pseudo-code).
        Up = "up",
        /// Down: the first D/Δ packets are level 0 (a reading of the text).
        Down = "down",
    }
}

words! {
    /// Which destination queues are served.
    pub enum Serve {
        /// All: QD ≤ 0 goes at level 0 (*Forwarder Algorithm*: the argmax is transmitted).
        Always = "always",
        /// Those with QD > 0, as backpressure in theory (Tassiulas and Ephremides, 1992) has it: the others wait until their next hop's
        /// queue is shorter.
        Positive = "positive",
    }
}

words! {
    /// The level of acknowledgements, which have destination queues of their own.
    pub enum AckLevel {
        /// That of their queue differential, as for data.
        Differential = "differential",
        /// Always the lowest.
        Lowest = "lowest",
        /// Always the highest, ahead of data, and never held ([`Serve`]); without levels as for data.
        Highest = "highest",
    }
}

/// The quantities from which the order and the level of a queue are computed: the parts of DiffQ that are switched on (§6.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Differential order, and levels by the differential.
    All,
    /// Differential order, all at level 0 (*RC + Scheduling*).
    Order,
    /// Queues in turn, all at level 0 (*Only RC*).
    Turns,
    /// Order and levels by the node's own queue alone, what §4.1 argues against (ours).
    Occupancy,
}

/// A destination queue as the scheduler sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// |Q_i(d)|, packets.
    pub own: u32,
    /// |Q_j(d)| at the next hop, packets, as far as known.
    pub next: u32,
    /// The packet at the head is an acknowledgement.
    pub is_ack: bool,
    /// When the queue was served last.
    pub served: u64,
}

/// A queue's place in the order, the greatest first, and its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// The key of the order: a differential, a level, or 0 where queues take turns.
    value: i64,
    /// The queue that was served longest ago comes first.
    turn: core::cmp::Reverse<u64>,
    /// QD_i(d).
    pub differential: i64,
    /// Level at the MAC.
    pub level: u8,
    /// The queue waits until the next hop's is shorter ([`Serve::Positive`]).
    pub is_held: bool,
}

impl Rank {
    /// The same level in the order of numbers: the least comes first, and none is held.
    #[must_use]
    pub const fn in_order_of(self, number: u64) -> Self {
        Self { value: 0, turn: core::cmp::Reverse(number), is_held: false, ..self }
    }

    /// The number by which it is ordered where the differential decides nothing.
    #[must_use]
    pub const fn turn(&self) -> u64 {
        self.turn.0
    }
}

/// Levels of a queue differential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantiser {
    /// Δ.
    pub levels: u8,
    /// D.
    pub depth: u32,
    /// See [`Rounding`].
    pub rounding: Rounding,
}

impl Quantiser {
    /// QD Δ / D as a whole number, at least 0 and at most Δ − 1.
    #[must_use]
    pub const fn level(self, differential: i64) -> u8 {
        if differential <= 0 || self.depth == 0 || self.levels == 0 {
            return 0;
        }
        let (scaled, depth) = (differential as u64 * self.levels as u64, self.depth as u64);
        let level = match self.rounding {
            Rounding::Up => scaled.div_ceil(depth),
            Rounding::Down => scaled / depth,
        };
        let highest = self.levels as u64 - 1;
        if level < highest { level as u8 } else { highest as u8 }
    }
}

/// The rules by which queues are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduler {
    /// The parts that are switched on.
    pub parts: Parts,
    /// See [`Order`].
    pub order: Order,
    /// See [`Serve`].
    pub serve: Serve,
    /// See [`AckLevel`].
    pub acks: AckLevel,
    /// Levels.
    pub quantiser: Quantiser,
}

impl Scheduler {
    /// The rank of a queue; the queue of greatest rank is served.
    #[must_use]
    pub fn rank(&self, queue: &Candidate) -> Rank {
        let differential = i64::from(queue.own) - i64::from(queue.next);
        let basis = if self.parts == Parts::Occupancy { i64::from(queue.own) } else { differential };
        let by_level = matches!(self.parts, Parts::All | Parts::Occupancy);
        let mut is_held = self.holds() && differential <= 0;
        let mut level = if by_level { self.quantiser.level(basis) } else { 0 };
        let mut value = match (self.parts, self.order) {
            (Parts::Turns, _) => 0,
            (Parts::All | Parts::Occupancy, Order::Priority) => i64::from(level),
            _ => basis,
        };
        if by_level && queue.is_ack {
            match self.acks {
                AckLevel::Differential => {}
                AckLevel::Lowest => level = 0,
                AckLevel::Highest => {
                    (level, value) = (self.quantiser.levels.saturating_sub(1), i64::MAX);
                    is_held = false;
                }
            }
        }
        Rank { value, turn: core::cmp::Reverse(queue.served), differential, level, is_held }
    }

    /// True if queues may have to wait for news of neighbours.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.serve == Serve::Positive && self.parts != Parts::Turns
    }
}
