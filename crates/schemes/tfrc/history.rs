//! The loss history: which packets are lost, which losses are one event, and the loss event rate [RFC 5348 §5].

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use airfair_units::{Span, Time};

/// The rules of the history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// NDUPACK: a packet is lost when this many with higher sequence numbers have arrived [§5.1].
    pub reordering: u32,
    /// n: intervals in the average [§5.4].
    pub intervals: usize,
    /// The least discount of older intervals, THRESHOLD [§5.5]; `None`: no discounting.
    pub least_discount: Option<f64>,
    /// Lost packets start loss events.
    pub by_loss: bool,
    /// Marked packets start loss events.
    pub by_mark: bool,
}

/// Most loss events that one gap in the sequence numbers starts. More would not change the average, which has at most 64 intervals.
const MOST_IN_GAP: u32 = 128;

/// Packets that have not arrived, between two that have.
#[derive(Debug, Clone, Copy)]
struct Gap {
    /// The first and the last missing packet.
    first: u64,
    last: u64,
    /// Arrivals of the packets before and after the gap.
    before: (u64, Time),
    after: (u64, Time),
    /// Arrivals with higher sequence numbers.
    later: u32,
}

/// A closed loss interval.
#[derive(Debug, Clone, Copy)]
struct Interval {
    /// The length of the interval, packets.
    length: f64,
    /// DF_i, the discount [§5.5].
    discount: f64,
}

/// The start of the last loss event.
#[derive(Debug, Clone, Copy)]
struct Event {
    sequence: u64,
    at: Time,
}

/// The loss history of a receiver.
#[derive(Debug, Clone)]
pub struct History {
    rules: Rules,
    /// The packet with the highest sequence number that has arrived.
    highest: Option<(u64, Time)>,
    gaps: Vec<Gap>,
    event: Option<Event>,
    /// The closed intervals, the newest (I_1) first.
    closed: VecDeque<Interval>,
    events: u64,
}

impl History {
    /// A history without packets.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        let closed = VecDeque::with_capacity(rules.intervals);
        Self { rules, highest: None, gaps: Vec::new(), event: None, closed, events: 0 }
    }

    /// Number of loss events.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// The sequence number of a packet without the wrap after 2^32: the nearest to the highest so far.
    fn unwrapped(&self, sequence: u32) -> u64 {
        let Some((highest, _)) = self.highest else { return (1 << 32) + u64::from(sequence) };
        let ahead = sequence.wrapping_sub(highest as u32).cast_signed();
        highest.saturating_add_signed(i64::from(ahead))
    }

    /// Adds a packet that has arrived. `rtt`: the sender's round-trip time. `first_interval` gives the length of the interval before the
    /// first loss event [§6.3.1]. Returns true if a loss event has begun.
    pub fn add(
        &mut self,
        (sequence, marked): (u32, bool),
        now: Time,
        rtt: Span,
        first_interval: &mut dyn FnMut() -> f64,
    ) -> bool {
        let sequence = self.unwrapped(sequence);
        let before = self.events;
        match self.highest {
            None => self.highest = Some((sequence, now)),
            Some((highest, at)) if sequence > highest => {
                self.count_later(sequence);
                if sequence > highest + 1 {
                    let (before, after) = ((highest, at), (sequence, now));
                    self.gaps.push(Gap { first: highest + 1, last: sequence - 1, before, after, later: 1 });
                }
                self.highest = Some((sequence, now));
            }
            Some(_) => self.fill(sequence, now),
        }
        self.judge_gaps(rtt, first_interval);
        if marked && self.rules.by_mark {
            self.lose(sequence, now, rtt, first_interval);
        }
        self.events > before
    }

    fn count_later(&mut self, sequence: u64) {
        self.gaps.iter_mut().filter(|gap| gap.last < sequence).for_each(|gap| gap.later += 1);
    }

    /// A packet arrives after one with a higher sequence number: it divides its gap. In no gap it is a duplicate, or counts as lost
    /// already.
    fn fill(&mut self, sequence: u64, now: Time) {
        let Some(at) = self.gaps.iter().position(|gap| gap.first <= sequence && sequence <= gap.last) else {
            return;
        };
        self.count_later(sequence);
        let gap = self.gaps.remove(at);
        let (lower, upper) = (
            Gap { last: sequence - 1, after: (sequence, now), later: gap.later + 1, ..gap },
            Gap { first: sequence + 1, before: (sequence, now), ..gap },
        );
        let parts = [lower, upper].into_iter().filter(|part| part.first <= part.last);
        self.gaps.splice(at..at, parts);
    }

    /// Declares gaps lost that enough later packets have passed, in the order of sequence numbers.
    fn judge_gaps(&mut self, rtt: Span, first_interval: &mut dyn FnMut() -> f64) {
        while let Some(at) = self.gaps.iter().position(|gap| gap.later >= self.rules.reordering) {
            let gap = self.gaps.remove(at);
            if self.rules.by_loss {
                self.lose_gap(&gap, rtt, first_interval);
            }
        }
    }

    /// The packets of a gap are lost. The time of each is interpolated between its neighbours that have arrived [§5.2].
    fn lose_gap(&mut self, gap: &Gap, rtt: Span, first_interval: &mut dyn FnMut() -> f64) {
        let (from, until) = (gap.before.1.min(gap.after.1), gap.after.1);
        let steps = u128::from(gap.after.0 - gap.before.0);
        let time = u128::from(until.since(from).0);
        let lost_at =
            |sequence: u64| from + Span((time * u128::from(sequence - gap.before.0) / steps) as u64);
        let mut sequence = gap.first;
        for _ in 0..MOST_IN_GAP {
            self.lose(sequence, lost_at(sequence), rtt, first_interval);
            // The first packet of the gap that is lost more than a round-trip time after the event began.
            let Some(event) = self.event else { return };
            let ends = u128::from((event.at + rtt).since(from).0);
            if time == 0 {
                return;
            }
            let next = gap
                .before
                .0
                .saturating_add(u64::try_from(ends * steps / time).unwrap_or(u64::MAX))
                .max(sequence);
            let Some(next) =
                (next..=gap.last).take(3).find(|&next| next > sequence && lost_at(next) > event.at + rtt)
            else {
                return;
            };
            sequence = next;
        }
    }

    /// A packet is lost or marked: it starts a loss event if it is more than a round-trip time later than the start of the last one [§5.2].
    fn lose(&mut self, sequence: u64, at: Time, rtt: Span, first_interval: &mut dyn FnMut() -> f64) {
        let length = match self.event {
            Some(event) if at <= event.at + rtt || sequence <= event.sequence => return,
            // §5.3: the packets from the start of one event up to the start of the next.
            Some(event) => (sequence - event.sequence) as f64,
            None => first_interval(),
        };
        let discount =
            self.present_discount((sequence - self.event.map_or(sequence, |event| event.sequence)) as f64);
        self.closed.iter_mut().for_each(|interval| interval.discount *= discount);
        self.closed.truncate(self.rules.intervals - 1);
        self.closed.push_front(Interval { length, discount: 1.0 });
        self.event = Some(Event { sequence, at });
        self.events += 1;
    }

    /// w_i: 1 for the newer half, then falling linearly [§5.4].
    fn weight(&self, i: usize) -> f64 {
        let (n, i) = (self.rules.intervals as f64, i as f64);
        if i < n / 2.0 { 1.0 } else { 2.0 * (n - i) / (n + 2.0) }
    }

    /// Sums over the closed intervals of weighted lengths and of weights, where interval I_1 has the weight w of `first`.
    fn sums(&self, first: usize, count: usize) -> (f64, f64) {
        let weighted = self.closed.iter().take(count).enumerate().map(|(i, interval)| {
            let weight = self.weight(i + first) * interval.discount;
            (interval.length * weight, weight)
        });
        weighted.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// DF, the discount of the closed intervals while the open one has `open` packets [§5.5].
    fn present_discount(&self, open: f64) -> f64 {
        let Some(least) = self.rules.least_discount else { return 1.0 };
        let (total, weights) = self.sums(0, self.closed.len());
        let mean = if weights > 0.0 { total / weights } else { return 1.0 };
        if open > 2.0 * mean { (2.0 * mean / open).max(least) } else { 1.0 }
    }

    /// The packets of the open interval I_0: from the start of the last event to the newest packet.
    fn open(&self) -> f64 {
        let (Some(event), Some((highest, _))) = (self.event, self.highest) else { return 0.0 };
        (highest + 1).saturating_sub(event.sequence) as f64
    }

    /// p, the loss event rate: the inverse of the mean loss interval [§5.4, §5.5]; 0 before the first event.
    #[must_use]
    pub fn loss_event_rate(&self) -> f64 {
        let k = self.closed.len();
        if k == 0 {
            return 0.0;
        }
        let open = self.open();
        let discount = self.present_discount(open);
        let (older, older_weights) = self.sums(1, k - 1);
        let with_open =
            (open * self.weight(0) + older * discount) / (self.weight(0) + older_weights * discount);
        let (total, weights) = self.sums(0, k);
        (1.0 / with_open.max(total / weights)).min(1.0)
    }
}
