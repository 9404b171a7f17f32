//! Segments between a sender's edge and its acknowledgements.

use std::collections::VecDeque;

use airfair_schemes::places::RateSample;
use airfair_units::{Bytes, Span, Time};
use airfair_wire::tcp::SackBlock;

use crate::flows::is_after as after;

/// Most segments that are told apart, a window of 6 MB; what is beyond counts as not in flight.
const MOST_SEGMENTS: usize = 4096;

/// The largest window that TCP has, bytes (RFC 7323 section 2.3): numbers farther ahead are no part of the connection.
const FARTHEST: u32 = 1 << 30;

/// A segment that has left.
#[derive(Debug, Clone, Copy)]
struct Flying {
    /// The number after its last byte.
    end: u32,
    bytes: u32,
    at: Time,
    /// Acknowledged by a block.
    sacked: bool,
    /// It has left more than once.
    repeated: bool,
    /// Lost, and not sent again yet.
    lost: bool,
    /// Bytes that were delivered as it left, and when.
    delivered: u64,
    delivered_at: Time,
    /// The sender had no more.
    app_limited: bool,
}

/// True for a number that is farther from this one than a window, ahead or behind.
const fn is_too_far(una: u32, number: u32) -> bool {
    number.wrapping_sub(una) > FARTHEST && una.wrapping_sub(number) > FARTHEST
}

/// A segment that leaves, compared with those that have left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    /// New data.
    New,
    /// A repetition: of the first segment that is not acknowledged, or of the last one.
    Repeated {
        /// It is the first.
        first: bool,
        /// It is the last that was sent.
        last: bool,
        /// It was repeated before.
        again: bool,
    },
}

/// An acknowledgement, by what it adds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Added {
    /// Bytes, by number or block.
    pub bytes: u64,
    /// Of those, by number.
    pub cumulative: u64,
    /// Bytes found lost by blocks.
    pub lost: u64,
    /// In flight before.
    pub prior: u64,
    /// Round-trip time of the newest segment, if it has left once.
    pub rtt: Option<Span>,
    /// Delivery rate of the newest segment.
    pub sample: Option<RateSample>,
    /// The time when the newest segment has left.
    pub sent_at: Time,
}

/// The segments of one direction of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Flight {
    segments: VecDeque<Flying>,
    /// The first number that is not acknowledged, and the first that has not been sent; none before the first segment.
    ends: Option<[u32; 2]>,
    in_flight: u64,
    delivered: u64,
    delivered_at: Time,
    /// Acknowledgements in a row that repeat a number while data are in flight, or have blocks.
    duplicates: u32,
    /// The receiver reports by blocks.
    selective: bool,
    /// The largest segment so far.
    largest: u32,
    /// The last acknowledgement of this connection, whatever it says.
    heard: Time,
}

impl Flight {
    /// Payload in the network by RFC 6675's estimate: without what blocks acknowledge and what is lost. Without blocks each duplicate
    /// stands for a segment that has left it (RFC 5681 section 3.2).
    pub fn in_flight(&self) -> u64 {
        let left = if self.selective { 0 } else { u64::from(self.duplicates) * u64::from(self.largest) };
        self.in_flight.saturating_sub(left)
    }

    /// The time of the last acknowledgement, or of the connection's beginning.
    pub const fn heard(&self) -> Time {
        self.heard
    }

    /// A time-out: all that is not acknowledged counts as lost (RFC 6675 section 5.1).
    pub fn lose_all(&mut self) {
        for of in self.segments.iter_mut().filter(|of| !of.sacked) {
            of.lost = true;
        }
        self.in_flight = 0;
    }

    /// Payload that was sent and is not cumulatively acknowledged: RFC 5681's FlightSize.
    pub fn outstanding(&self) -> u64 {
        self.ends.map_or(0, |[una, next]| u64::from(next.wrapping_sub(una)))
    }

    /// The number after the last byte sent.
    pub fn next(&self) -> Option<u32> {
        self.ends.map(|[_, next]| next)
    }

    /// The first number that is not acknowledged.
    pub fn una(&self) -> Option<u32> {
        self.ends.map(|[una, _]| una)
    }

    /// The connection begins, its first byte has this number.
    pub fn begin(&mut self, first: u32, now: Time) {
        *self = Self { ends: Some([first; 2]), heard: now, ..Self::default() };
    }

    /// Compares a segment that is about to leave with those that have left; `None` for one that is no part of the connection.
    pub fn compare(&self, sequence: u32, bytes: u32) -> Option<Leaving> {
        let [una, next] = self.ends?;
        let end = sequence.wrapping_add(bytes);
        if is_too_far(una, end) {
            return None;
        }
        if after(end, next) {
            return Some(Leaving::New);
        }
        let at = self.segments.partition_point(|of| !after(of.end, sequence));
        let from = |of: &Flying| of.end.wrapping_sub(of.bytes);
        let again = self.segments.get(at).is_some_and(|of| of.repeated && !after(from(of), sequence));
        Some(Leaving::Repeated { first: !after(sequence, una), last: end == next, again })
    }

    /// A segment leaves. `app_limited`: the sender has no more.
    pub fn leave(&mut self, sequence: u32, bytes: u32, app_limited: bool, now: Time) {
        let Some([una, next]) = self.ends else { return };
        if self.segments.is_empty() {
            self.delivered_at = now;
        }
        let end = sequence.wrapping_add(bytes);
        if after(next, sequence) {
            for of in &mut self.segments {
                let from = of.end.wrapping_sub(of.bytes);
                if after(of.end, sequence) && after(end, from) {
                    (of.repeated, of.at) = (true, now);
                    if std::mem::take(&mut of.lost) {
                        self.in_flight += u64::from(of.bytes);
                    }
                }
            }
        }
        if !after(end, next) || is_too_far(una, end) {
            return;
        }
        self.ends = Some([una, end]);
        self.largest = self.largest.max(bytes);
        // What lies between was lost before it came here: its repetition is new.
        let new = end.wrapping_sub(next).min(bytes);
        if self.segments.len() >= MOST_SEGMENTS {
            return;
        }
        self.segments.push_back(Flying {
            end,
            bytes: new,
            at: now,
            sacked: false,
            repeated: false,
            lost: false,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            app_limited,
        });
        self.in_flight += u64::from(new);
    }

    /// An acknowledgement arrives; `bare`: it has no data of its own. `None` for an old one. One of more than was seen here shows that the
    /// sender had sent it by another way.
    pub fn acknowledge(&mut self, number: u32, blocks: &[SackBlock], bare: bool, now: Time) -> Option<Added> {
        let [una, next] = self.ends?;
        if after(una, number) || is_too_far(una, number) {
            return None;
        }
        let next = if after(number, next) { number } else { next };
        self.heard = now;
        self.selective |= !blocks.is_empty();
        let mut left = 0;
        let mut added = Added { prior: self.in_flight, ..Added::default() };
        let mut newest: Option<Flying> = None;
        while let Some(of) = self.segments.front_mut() {
            let from = of.end.wrapping_sub(of.bytes);
            if after(of.end, number) {
                // A part of it, as devices that divide segments have it.
                if after(number, from) && !of.sacked {
                    let part = number.wrapping_sub(from);
                    of.bytes -= part;
                    added.bytes += u64::from(part);
                    left += if of.lost { 0 } else { u64::from(part) };
                }
                break;
            }
            if !of.sacked {
                added.bytes += u64::from(of.bytes);
                left += if of.lost { 0 } else { u64::from(of.bytes) };
            }
            newest = Some(*of);
            self.segments.pop_front();
        }
        for block in blocks {
            for of in &mut self.segments {
                let from = of.end.wrapping_sub(of.bytes);
                if !of.sacked && !after(block.left, from) && !after(of.end, block.right) {
                    added.bytes += u64::from(of.bytes);
                    left += if of.lost { 0 } else { u64::from(of.bytes) };
                    (of.sacked, of.lost) = (true, false);
                    newest = newest.filter(|newest| newest.at > of.at).or(Some(*of));
                }
            }
        }
        added.cumulative = u64::from(number.wrapping_sub(una));
        self.ends = Some([number, next]);
        // RFC 6675 section 4, IsLost: what lies below three segments that have arrived, and was not sent again.
        if let Some(highest) = self.segments.iter().rev().find(|of| of.sacked).map(|of| of.end) {
            let edge = highest.wrapping_sub(3 * self.largest);
            let behind = |of: &&mut Flying| !after(of.end, edge) && !of.sacked && !of.repeated && !of.lost;
            for of in self.segments.iter_mut().filter(behind) {
                of.lost = true;
                added.lost += u64::from(of.bytes);
            }
            left += added.lost;
        }
        self.in_flight = self.in_flight.saturating_sub(left);
        let waits = self.outstanding() > 0;
        self.duplicates = match added.cumulative {
            0 if waits && bare => self.duplicates + 1,
            0 => self.duplicates,
            _ => u32::from(!blocks.is_empty()),
        };
        if added.bytes > 0 {
            self.delivered += added.bytes;
            self.delivered_at = now;
        }
        if let Some(of) = newest {
            added.sent_at = of.at;
            added.rtt = (!of.repeated).then(|| now.since(of.at));
            let (delivered, interval) = (self.delivered - of.delivered, now.since(of.delivered_at));
            let sample = RateSample { delivered: Bytes(delivered), interval, app_limited: of.app_limited };
            added.sample = (!of.repeated && interval > Span::ZERO).then_some(sample);
        }
        Some(added)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Four segments of 1000 B across the largest number, the second is lost.
    #[test]
    fn a_loss_and_its_repair() {
        let start = u32::MAX - 1500;
        let at = |offset: u32| start.wrapping_add(offset);
        let mut flight = Flight::default();
        assert_eq!(flight.compare(start, 1000), None, "no connection");
        flight.begin(start, Time::ZERO);
        for number in 0..4 {
            assert_eq!(flight.compare(at(1000 * number), 1000), Some(Leaving::New));
            flight.leave(at(1000 * number), 1000, false, Time(MS * u64::from(number)));
        }
        assert_eq!((flight.in_flight(), flight.outstanding()), (4000, 4000));
        let added = flight.acknowledge(at(1000), &[], true, Time(10 * MS)).unwrap();
        assert_eq!((added.bytes, added.cumulative, added.prior), (1000, 1000, 4000));
        assert_eq!(added.rtt, Some(Span(10 * MS)));
        // Of the third and fourth the receiver has blocks.
        let block = SackBlock { left: at(2000), right: at(4000) };
        let added = flight.acknowledge(at(1000), &[block], true, Time(11 * MS)).unwrap();
        assert_eq!((added.bytes, added.cumulative, flight.in_flight()), (2000, 0, 1000));
        assert_eq!(flight.duplicates, 1);
        let again = flight.acknowledge(at(1000), &[block], true, Time(11 * MS)).unwrap();
        assert_eq!((again.bytes, flight.duplicates), (0, 2), "counted once");
        let repair = Leaving::Repeated { first: true, last: false, again: false };
        assert_eq!(flight.compare(at(1000), 1000), Some(repair));
        flight.leave(at(1000), 1000, false, Time(12 * MS));
        assert_eq!(flight.in_flight(), 1000, "it takes the place of the lost one");
        assert_eq!(
            flight.compare(at(1000), 1000),
            Some(Leaving::Repeated { first: true, last: false, again: true })
        );
        let added = flight.acknowledge(at(4000), &[], true, Time(20 * MS)).unwrap();
        assert_eq!((added.bytes, added.cumulative), (1000, 3000));
        assert_eq!((flight.in_flight(), flight.outstanding(), flight.duplicates), (0, 0, 0));
    }

    /// Karn: a segment that has left twice gives no round-trip time. Numbers that were never sent, or are old, add nothing.
    #[test]
    fn what_gives_no_time() {
        let mut flight = Flight::default();
        flight.begin(0, Time::ZERO);
        flight.leave(0, 100, true, Time(0));
        flight.leave(0, 100, true, Time(MS));
        assert_eq!(flight.in_flight(), 100);
        let added = flight.acknowledge(100, &[], true, Time(3 * MS)).unwrap();
        assert_eq!((added.rtt, added.sample, added.bytes), (None, None, 100));
        assert_eq!(flight.acknowledge(50, &[], true, Time(4 * MS)), None, "old");
        flight.leave(100, 300, false, Time(5 * MS));
        let part = flight.acknowledge(200, &[], true, Time(6 * MS)).unwrap();
        assert_eq!((part.bytes, flight.in_flight()), (100, 200), "a part of a segment");
    }

    /// Segments that were lost before they came here, and more than are told apart: numbers go on, and all is acknowledged in the end.
    #[test]
    fn gaps_and_very_large_windows() {
        let mut flight = Flight::default();
        flight.begin(0, Time::ZERO);
        flight.leave(0, 100, false, Time(0));
        flight.leave(200, 100, false, Time(MS));
        assert_eq!((flight.in_flight(), flight.next()), (200, Some(300)));
        assert_eq!(
            flight.compare(100, 100),
            Some(Leaving::Repeated { first: false, last: false, again: false })
        );
        assert_eq!(flight.acknowledge(300, &[], true, Time(2 * MS)).unwrap().bytes, 200);
        for number in 0..2 * MOST_SEGMENTS as u32 {
            flight.leave(300 + 10 * number, 10, false, Time(3 * MS));
        }
        assert_eq!(flight.segments.len(), MOST_SEGMENTS);
        let end = 300 + 20 * MOST_SEGMENTS as u32;
        assert_eq!(flight.next(), Some(end));
        flight.acknowledge(end + 5, &[], true, Time(4 * MS)).unwrap();
        assert_eq!((flight.in_flight(), flight.outstanding(), flight.una()), (0, 0, Some(end + 5)));
        assert_eq!(flight.compare(end + 5, 10), Some(Leaving::New));
    }

    /// Whatever arrives: in flight is never more than was sent, and memory is bounded.
    #[test]
    fn random_segments_and_acknowledgements() {
        use airfair_units::random::{Purpose, Stream};
        let mut random = Stream::new(7, "flight", Purpose::Gap);
        for round in 0..40 {
            let mut flight = Flight::default();
            flight.begin(random.next_u32(), Time::ZERO);
            for step in 0..3000 {
                let near = |random: &mut Stream| random.next_u32() % 40_000;
                let base = flight.una().unwrap();
                let number = base.wrapping_add(near(&mut random)).wrapping_sub(5_000);
                let number = if random.next_u32().is_multiple_of(50) { random.next_u32() } else { number };
                let bytes = random.next_u32() % 3_000;
                let now = Time(step * MS);
                if random.next_u32().is_multiple_of(2) {
                    _ = flight.compare(number, bytes);
                    flight.leave(number, bytes, false, now);
                } else {
                    let block = SackBlock { left: number, right: number.wrapping_add(bytes) };
                    let to = base.wrapping_add(near(&mut random) / 8);
                    _ = flight.acknowledge(to, &[block, block], random.next_u32().is_multiple_of(2), now);
                }
                assert!(flight.in_flight() <= flight.outstanding() + 3_000, "round {round} step {step}");
                assert!(flight.segments.len() <= MOST_SEGMENTS);
            }
        }
    }
}
