//! The sender: which datagrams are on their way, have arrived, or are lost and to be sent again.

use alloc::collections::VecDeque;

use airfair_units::{Span, Time};
use airfair_wire::rate::Arrivals;

use super::{MOST_OUTSTANDING, time_stamp};

/// The first time-out, before any measurement (RFC 6298 §2.1: 1 s), and a second for a receiver that reports once a second.
const FIRST_TIMEOUT: Span = Span::from_secs(2);
/// The least time-out (Linux: 200 ms).
const LEAST_TIMEOUT: Span = Span::from_millis(200);
/// The largest one (RFC 6298 §2.5: at least 60 s).
const LARGEST_TIMEOUT: Span = Span::from_secs(60);
/// Doublings of the time-out that matter: 2 s becomes more than a minute.
const MOST_DOUBLINGS: u32 = 9;

/// A mean and its variation (RFC 6298 §2.3).
#[derive(Debug, Clone, Copy, Default)]
struct Smoothed {
    mean: Option<Span>,
    variation: Span,
}

impl Smoothed {
    fn add(&mut self, sample: Span) {
        let Some(mean) = self.mean else {
            (self.mean, self.variation) = (Some(sample), Span(sample.0 / 2));
            return;
        };
        self.variation = Span(self.variation.0 - self.variation.0 / 4 + mean.0.abs_diff(sample.0) / 4);
        self.mean = Some(Span(mean.0 - mean.0 / 8 + sample.0 / 8));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// On its way, as far as is known.
    Sent,
    /// Found lost: waits to be sent again.
    Lost,
    Arrived,
}

/// A datagram that was sent, and has not arrived in order as far as is known.
#[derive(Debug, Clone, Copy)]
struct Outstanding {
    /// The time of its last transmission.
    at: Time,
    bytes: u32,
    state: State,
    repeated: bool,
}

/// The next datagram to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// One with new data, if the application has any.
    New,
    /// One that is sent again: its number, and its bytes.
    Again(u32, u32),
    /// None: as much is outstanding as both ends store.
    Nothing,
}

/// News of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that have arrived, as is known now and was not before.
    pub bytes: u64,
    /// Datagrams found lost.
    pub lost: u32,
}

/// Counters of a sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Datagrams sent again.
    pub retransmissions: u64,
    /// Time-outs.
    pub timeouts: u64,
    /// Round-trip times measured, and their sum, ns.
    pub round_trips: u64,
    /// The sum of the round-trip times, ns.
    pub round_trip_ns: u64,
}

/// The sender of a flow.
#[derive(Debug, Default)]
pub struct Sender {
    /// Number of the first outstanding datagram.
    first: u32,
    outstanding: VecDeque<Outstanding>,
    /// Numbers found lost, in ascending order: what the application waits for goes first, also when its repetition is lost in turn. Some
    /// may have arrived since.
    lost: VecDeque<u32>,
    /// The latest transmission that is known to have arrived.
    latest: Time,
    /// From a datagram's departure to its arrival's report, without the time at the receiver.
    round_trip: Smoothed,
    /// From a datagram's departure until the sender knows of its arrival.
    answer: Smoothed,
    /// Since then the sender has had no news of what is on its way; the time-out counts from here.
    since: Time,
    doublings: u32,
    stats: Stats,
}

impl Sender {
    /// Counters.
    #[must_use]
    pub const fn stats(&self) -> &Stats {
        &self.stats
    }

    /// True if all that was sent has arrived.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.outstanding.is_empty()
    }

    /// Datagrams that were sent and are not known to have arrived in order.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// The smoothed round-trip time, without the time at the receiver; `None` before the first one.
    #[must_use]
    pub const fn round_trip(&self) -> Option<Span> {
        self.round_trip.mean
    }

    /// The next datagram to leave: what is lost goes first.
    #[must_use]
    pub fn to_send(&self) -> Next {
        let lost = self.lost.front().and_then(|&number| Some((number, self.place(number)?)));
        if let Some((number, place)) = lost {
            Next::Again(number, self.outstanding[place].bytes)
        } else if self.outstanding.len() < MOST_OUTSTANDING {
            Next::New
        } else {
            Next::Nothing
        }
    }

    /// A datagram with new data leaves, after [`Sender::to_send`] has answered [`Next::New`]. Returns its number.
    pub fn sent_new(&mut self, bytes: u32, now: Time) -> u32 {
        if self.outstanding.is_empty() {
            self.since = now;
        }
        let number = self.first.wrapping_add(self.outstanding.len() as u32);
        self.outstanding.push_back(Outstanding { at: now, bytes, state: State::Sent, repeated: false });
        number
    }

    /// The lost datagram that [`Sender::to_send`] has named with [`Next::Again`] leaves again; without such an answer nothing happens.
    pub fn sent_again(&mut self, now: Time) {
        let Some(place) = self.lost.pop_front().and_then(|number| self.place(number)) else { return };
        let datagram = &mut self.outstanding[place];
        *datagram = Outstanding { at: now, state: State::Sent, repeated: true, ..*datagram };
        self.stats.retransmissions += 1;
        self.forget_arrived();
        if self.lost.is_empty() {
            self.since = now;
        }
    }

    /// Forgets what was found lost and has arrived since, so that the first of `lost` is lost indeed.
    fn forget_arrived(&mut self) {
        while let Some(&number) = self.lost.front() {
            if self.place(number).is_some_and(|place| self.outstanding[place].state == State::Lost) {
                break;
            }
            self.lost.pop_front();
        }
    }

    /// The place of an outstanding datagram.
    fn place(&self, number: u32) -> Option<usize> {
        let place = number.wrapping_sub(self.first) as usize;
        (place < self.outstanding.len()).then_some(place)
    }

    /// A report says what has arrived. `None`, and nothing changes, if it names a datagram that was never sent as the first missing one; a
    /// block with such a datagram is ignored.
    pub fn on_arrivals(&mut self, arrivals: &Arrivals, now: Time) -> Option<Progress> {
        let mut progress = Progress::default();
        let in_order = match arrivals.next.wrapping_sub(self.first) {
            // An old report that was overtaken: its blocks are true all the same.
            old if old >= 1 << 31 => 0,
            count if count as usize <= self.outstanding.len() => count as usize,
            _ => return None,
        };
        self.measure(arrivals, now);
        let mut known = in_order;
        let mut oldest: Option<Span> = None;
        self.arrive(0..in_order, &mut progress, &mut oldest, now);
        for block in arrivals.blocks() {
            let (Some(first), Some(last)) = (self.place(block.first), self.place(block.end.wrapping_sub(1)))
            else {
                continue;
            };
            if first > last {
                continue;
            }
            self.arrive(first..last + 1, &mut progress, &mut oldest, now);
            known = known.max(last + 1);
        }
        if let Some(sample) = oldest {
            self.answer.add(sample);
        }
        progress.lost = self.find_losses(known);
        while self.outstanding.front().is_some_and(|datagram| datagram.state == State::Arrived) {
            self.outstanding.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        self.forget_arrived();
        if progress.bytes > 0 {
            (self.since, self.doublings) = (now, 0);
        }
        Some(progress)
    }

    /// The round-trip time of the datagram that arrived last, by its time stamp, and its transmission. A time stamp of the future, or a
    /// longer time at the receiver than there was, says nothing.
    fn measure(&mut self, arrivals: &Arrivals, now: Time) {
        let age = time_stamp(now).wrapping_sub(arrivals.sent);
        if age >= 1 << 31 || arrivals.held > age {
            return;
        }
        let sent = Time(now.0.saturating_sub(u64::from(age) * 1000));
        self.latest = self.latest.max(sent);
        let sample = Span::from_micros(u64::from(age - arrivals.held));
        self.round_trip.add(sample);
        self.stats.round_trips += 1;
        self.stats.round_trip_ns = self.stats.round_trip_ns.saturating_add(sample.0);
    }

    /// Datagrams have arrived; those of which this is news count.
    fn arrive(
        &mut self,
        places: core::ops::Range<usize>,
        progress: &mut Progress,
        oldest: &mut Option<Span>,
        now: Time,
    ) {
        for datagram in self.outstanding.range_mut(places) {
            if datagram.state == State::Arrived {
                continue;
            }
            datagram.state = State::Arrived;
            progress.bytes += u64::from(datagram.bytes);
            if !datagram.repeated {
                *oldest = (*oldest).max(Some(now.since(datagram.at)));
            }
        }
    }

    /// Datagrams are lost that have not arrived, although transmissions have that left later by more than a quarter of a round trip: less
    /// may be a change of order (RACK, RFC 8985 §6.2). Of datagrams beyond `known` the report says nothing.
    fn find_losses(&mut self, known: usize) -> u32 {
        let reordering = Span(self.round_trip.mean.map_or(0, |mean| mean.0 / 4));
        let mut found = 0;
        for (datagram, place) in self.outstanding.range_mut(..known).zip(0u32..) {
            let overtaken = datagram.at.saturating_add(reordering) < self.latest;
            if datagram.state == State::Sent && overtaken {
                datagram.state = State::Lost;
                let at = self.lost.partition_point(|&lost| lost.wrapping_sub(self.first) < place);
                self.lost.insert(at, self.first.wrapping_add(place));
                found += 1;
            }
        }
        found
    }

    /// The time-out: no news of what was sent. `None` if nothing is on its way, or something waits to be sent again, which brings news.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        if self.outstanding.is_empty() || !self.lost.is_empty() {
            return None;
        }
        let usual = match self.answer.mean {
            None => FIRST_TIMEOUT,
            Some(mean) => Span(mean.0.saturating_add(4 * self.answer.variation.0)).max(LEAST_TIMEOUT),
        };
        let doubled = Span(usual.0.saturating_mul(1 << self.doublings)).min(LARGEST_TIMEOUT);
        Some(self.since.saturating_add(doubled))
    }

    /// The deadline has come: the first datagram that is on its way counts as lost. Its arrival brings the news of all others.
    pub fn on_timer(&mut self, now: Time) {
        if self.deadline().is_none_or(|deadline| deadline > now) {
            return;
        }
        self.stats.timeouts += 1;
        self.since = now;
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
        let first = self.outstanding.iter().position(|datagram| datagram.state == State::Sent);
        if let Some(place) = first {
            self.outstanding[place].state = State::Lost;
            self.lost.push_back(self.first.wrapping_add(place as u32));
        }
    }
}
