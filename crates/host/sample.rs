//! Samples of a radio's counters: differences, which are taken only where the counters can be right.
//!
//! Counters come from outside: drivers step back (at a reset, or because a counter has fewer bits than its type), stand still, or jump. One
//! wrong difference in a moving average would be there for good, so a difference that cannot be right makes no sample: the agent hears of
//! the next one.

use airfair_schemes::places::{Airtime, LinkSample, LinkUse, NodeSample};
use airfair_units::{Rate, Span, Time};

/// Counters of an interface from the start to a moment.
#[derive(Debug, Clone, Copy)]
pub struct InterfaceCounters {
    /// Time of the counters, by the clock of the host.
    pub at: Time,
    /// Time in each radio state; together the time from the start to `at`. None where the driver does not count them.
    pub airtime: Option<Airtime>,
    /// Time spent receiving frames for the node itself; zero where `airtime` is none.
    pub receive_own: Span,
    /// Responses that were not received.
    pub retries: u64,
    /// Packets of flows that left the queue or were received.
    pub traffic: u64,
    /// Traffic of the link.
    pub link: LinkUse,
}

/// Those of a radio at its start, all zero.
impl Default for InterfaceCounters {
    fn default() -> Self {
        let (at, receive_own, link) = (Time::ZERO, Span::ZERO, LinkUse::default());
        Self { at, airtime: Some(Airtime::default()), receive_own, retries: 0, traffic: 0, link }
    }
}

/// The part of an interval by which the times of its states may miss or exceed it: drivers round, and count at their own moments.
const TOLERANCE: u64 = 8;

/// The shortest time in which a radio can fail an attempt or pass a packet on: more events than these in an interval are a jump.
const SHORTEST_EVENT: u64 = 1_000;

/// Bytes beyond those that twice the radio's rate carries in an interval, since a packet counts in the interval in which it ends: with more
/// the counter has jumped. Twice: the rate of a radio may be named after its usual mode.
const BYTES_BEYOND: u64 = 1 << 16;

/// A neighbour may send at this rate although the radio's own is lower.
const RATE_OF_NEIGHBOURS: Rate = Rate::from_mbps(54);

/// The longest frame, of 2346 bytes at 1 Mbit/s with its preamble, rounded up: it counts in the interval in which it ends. A sample has no
/// more than its interval of it.
const LONGEST_FRAME: Span = Span::from_millis(20);

impl InterfaceCounters {
    /// The differences from earlier counters of a radio of this rate, in a sample without what is no difference; none if they cannot be
    /// right: time or a counter has stepped back, the states do not add up to the interval (counters that stand still add up to nothing),
    /// or more has happened than can in the interval. A radio without times of its states counts as idle, and only the other counters are
    /// checked.
    #[must_use]
    pub fn since(&self, earlier: &Self, rate: Rate) -> Option<NodeSample<'static>> {
        let interval = Span(self.at.0.checked_sub(earlier.at.0).filter(|&length| length > 0)?);
        let airtime = match (self.airtime, earlier.airtime) {
            (Some(now), Some(before)) => fitted(now - before, interval)?,
            (None, None) => Airtime { idle: interval, ..Airtime::default() },
            _ => return None,
        };
        let receive_own = Span(self.receive_own.0.checked_sub(earlier.receive_own.0)?);
        if receive_own.0 > interval.0.saturating_add(LONGEST_FRAME.0) {
            return None;
        }
        let receive_own = receive_own.min(interval);
        let most = interval.0 / SHORTEST_EVENT + 1;
        let count = |now: u64, before: u64| now.checked_sub(before).filter(|&count| count <= most);
        let events = |now: u64, before: u64| u32::try_from(count(now, before)?).ok();
        // 8 bits a byte, 10^9 ns a second; a rate of 0 is not known.
        let bytes = |now: u64, before: u64, most: Rate| {
            let most = u128::from(most.0) * u128::from(interval.0) / 4_000_000_000 + u128::from(BYTES_BEYOND);
            now.checked_sub(before).filter(|&bytes| rate.0 == 0 || u128::from(bytes) <= most)
        };
        let (to, from) = (&self.link, &earlier.link);
        let sent_packets = count(to.sent_packets, from.sent_packets)?;
        // No packet has waited for longer than the counters exist.
        let longest = u128::from(sent_packets) * u128::from(self.at.0);
        let waits = |now: Span, before: Span| {
            now.0.checked_sub(before.0).filter(|&time| u128::from(time) <= longest).map(Span)
        };
        let link = LinkUse {
            sent_packets,
            sent_bytes: bytes(to.sent_bytes, from.sent_bytes, rate)?,
            received_packets: count(to.received_packets, from.received_packets)?,
            received_bytes: bytes(to.received_bytes, from.received_bytes, rate.max(RATE_OF_NEIGHBOURS))?,
            delay: waits(to.delay, from.delay)?,
            access: waits(to.access, from.access)?,
        };
        Some(NodeSample {
            interval,
            airtime,
            receive_own,
            retries: events(self.retries, earlier.retries)?,
            traffic: events(self.traffic, earlier.traffic)?,
            link,
            ..NodeSample::default()
        })
    }
}

impl InterfaceCounters {
    /// The differences from earlier counters of a simulated radio, which are right by themselves. A frame counts where it ends, so one that
    /// is longer than the interval has more time than that, and a neighbour may send faster than the radio.
    #[must_use]
    pub fn exactly_since(&self, earlier: &Self) -> NodeSample<'static> {
        let (to, from) = (&self.link, &earlier.link);
        let events = |now: u64, before: u64| now.saturating_sub(before) as u32;
        let airtime = |counters: &Self| counters.airtime.unwrap_or_default();
        NodeSample {
            interval: self.at.since(earlier.at),
            airtime: airtime(self) - airtime(earlier),
            receive_own: Span(self.receive_own.0.saturating_sub(earlier.receive_own.0)),
            retries: events(self.retries, earlier.retries),
            traffic: events(self.traffic, earlier.traffic),
            link: LinkUse {
                sent_packets: to.sent_packets.saturating_sub(from.sent_packets),
                sent_bytes: to.sent_bytes.saturating_sub(from.sent_bytes),
                received_packets: to.received_packets.saturating_sub(from.received_packets),
                received_bytes: to.received_bytes.saturating_sub(from.received_bytes),
                delay: Span(to.delay.0.saturating_sub(from.delay.0)),
                access: Span(to.access.0.saturating_sub(from.access.0)),
            },
            ..NodeSample::default()
        }
    }
}

/// The times of an interval's states, which add up to it: what they miss was idle, and what they exceed is taken from the longest; none if
/// that is more than a rounding.
fn fitted(mut airtime: Airtime, interval: Span) -> Option<Airtime> {
    let sum = airtime.sum().0;
    if sum.abs_diff(interval.0) > interval.0 / TOLERANCE {
        return None;
    }
    airtime.idle.0 += interval.0.saturating_sub(sum);
    airtime.shorten_longest(Span(sum.saturating_sub(interval.0)));
    Some(airtime)
}

/// Counters of a link from the start to a moment, as a driver has them for each neighbour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Time of the counters, by the clock of the host.
    pub at: Time,
    /// Packets that the neighbour has acknowledged.
    pub sent: u64,
    /// Packets that the radio has given up.
    pub given_up: u64,
    /// Transmissions of data frames of these packets.
    pub attempts: u64,
    /// Bytes of the packets acknowledged, as IP packets.
    pub bytes: u64,
}

/// Most bytes of an IP packet.
const LARGEST_PACKET: u64 = 65_535;

impl LinkCounters {
    /// Adds the differences from earlier counters to the sample of the link. False, and the sample is as before, if they cannot be right:
    /// time or a counter has stepped back, there are fewer transmissions than packets, or more than can be in the interval.
    pub(crate) fn add_since(&self, earlier: &Self, sample: &mut LinkSample) -> bool {
        let differences = || {
            let interval = self.at.0.checked_sub(earlier.at.0).filter(|&length| length > 0)?;
            let most = interval / SHORTEST_EVENT + 1;
            let events = |now: u64, before: u64| now.checked_sub(before).filter(|&count| count <= most);
            let sent = events(self.sent, earlier.sent)?;
            let given_up = events(self.given_up, earlier.given_up)?;
            let attempts = events(self.attempts, earlier.attempts)
                .filter(|&all| all >= sent.saturating_add(given_up))?;
            let most_bytes = sent.saturating_mul(LARGEST_PACKET);
            let bytes = self.bytes.checked_sub(earlier.bytes).filter(|&all| all <= most_bytes)?;
            let count = |count: u64| u32::try_from(count).ok();
            Some((count(sent)?, count(given_up)?, count(attempts)?, bytes))
        };
        let Some((sent, given_up, attempts, bytes)) = differences() else { return false };
        sample.sent = sample.sent.saturating_add(sent);
        sample.given_up = sample.given_up.saturating_add(given_up);
        sample.attempts = sample.attempts.saturating_add(attempts);
        sample.bytes = sample.bytes.saturating_add(bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate::from_mbps(54);

    /// Counters of a radio that has sent a tenth of the time and received a fifth, at `at` ns.
    fn counters(at: u64) -> InterfaceCounters {
        let airtime = Airtime {
            transmit: Span(at / 10),
            receive: Span(at / 5),
            busy: Span(0),
            nav: Span(0),
            idle: Span(at - at / 10 - at / 5),
        };
        let link = LinkUse {
            sent_packets: at / 2_000,
            sent_bytes: at / 500,
            delay: Span(3 * at),
            ..LinkUse::default()
        };
        let (receive_own, retries, traffic) = (Span(at / 6), at / 5_000, at / 2_000);
        let airtime = Some(airtime);
        InterfaceCounters { at: Time(at), airtime, receive_own, retries, traffic, link }
    }

    fn states(counters: &mut InterfaceCounters) -> &mut Airtime {
        counters.airtime.as_mut().unwrap()
    }

    fn between(earlier: &InterfaceCounters, later: &InterfaceCounters) -> Option<NodeSample<'static>> {
        later.since(earlier, RATE)
    }

    #[test]
    fn a_right_difference_is_a_sample() {
        let sample = between(&counters(1_000_000), &counters(3_000_000)).unwrap();
        assert_eq!((sample.interval, sample.receive_own), (Span(2_000_000), Span(333_334)));
        assert_eq!((sample.retries, sample.traffic, sample.link.sent_packets), (400, 1000, 1000));
        assert_eq!((sample.airtime.transmit, sample.airtime.idle), (Span(200_000), Span(1_400_000)));
        assert_eq!(sample.link.delay, Span(6_000_000), "packets wait longer than an interval");
    }

    /// A frame counts in the interval in which it ends, although it has begun before.
    #[test]
    fn a_frame_may_be_longer_than_the_interval() {
        let before = counters(1_000_000);
        for (received, is_right) in [(2_000_000 + 20_000_000, true), (2_000_000 + 20_000_001, false)] {
            let mut after = counters(3_000_000);
            after.receive_own = before.receive_own + Span(received);
            let sample = between(&before, &after);
            assert_eq!(sample.is_some(), is_right, "{received}");
            assert!(sample.is_none_or(|sample| sample.receive_own == Span(2_000_000)));
        }
    }

    /// Each counter by itself steps back, and jumps by half of its range.
    #[test]
    fn a_counter_that_steps_back_or_jumps_makes_no_sample() {
        let (before, after) = (counters(1_000_000), counters(3_000_000));
        type Field = fn(&mut InterfaceCounters) -> &mut u64;
        let fields: [(&str, Field); 9] = [
            ("at", |c| &mut c.at.0),
            ("receive_own", |c| &mut c.receive_own.0),
            ("retries", |c| &mut c.retries),
            ("traffic", |c| &mut c.traffic),
            ("idle", |c| &mut states(c).idle.0),
            ("sent_packets", |c| &mut c.link.sent_packets),
            ("sent_bytes", |c| &mut c.link.sent_bytes),
            ("received_packets", |c| &mut c.link.received_packets),
            ("received_bytes", |c| &mut c.link.received_bytes),
        ];
        for (name, field) in fields {
            let mut stepped = (before, after);
            *field(&mut stepped.0) = 1 << 40;
            *field(&mut stepped.1) = 5;
            assert!(between(&stepped.0, &stepped.1).is_none(), "{name} steps back");
            let mut jumped = after;
            *field(&mut jumped) += 1 << 62;
            assert!(between(&before, &jumped).is_none(), "{name} jumps");
        }
        // 1000 packets, and counters for 3 ms.
        for (delay, is_right) in
            [(1, false), (3_000_000, true), (3_003_000_000, true), (3_003_000_001, false)]
        {
            let link = LinkUse { delay: Span(delay), ..after.link };
            assert_eq!(between(&before, &InterfaceCounters { link, ..after }).is_some(), is_right, "{delay}");
        }
    }

    /// A driver whose counters stand still, or count for an eighth longer than the host's clock.
    #[test]
    fn states_have_to_add_up_to_the_interval() {
        let before = counters(8_000_000);
        let still = InterfaceCounters { at: Time(16_000_000), ..before };
        assert!(between(&before, &still).is_none());
        let mut long = counters(16_000_000);
        states(&mut long).busy = Span(1_000_000);
        let sample = between(&before, &long).unwrap();
        assert_eq!((sample.airtime.sum(), sample.airtime.busy), (Span(8_000_000), Span(1_000_000)));
        assert_eq!(sample.airtime.idle, Span(4_600_000), "the longest state is shortened");
        states(&mut long).busy = Span(1_000_001);
        assert!(between(&before, &long).is_none());
        states(&mut long).busy = Span(0);
        states(&mut long).idle.0 -= 1_000_000;
        let sample = between(&before, &long).unwrap();
        assert_eq!((sample.airtime.sum(), sample.airtime.idle), (Span(8_000_000), Span(5_600_000)));
        assert!(between(&before, &before).is_none(), "no time has passed");
    }

    /// A driver that counts packets and no times of its states: the radio counts as idle, the other counters are checked as ever.
    #[test]
    fn packets_count_without_times_of_states() {
        let without = |at| InterfaceCounters { airtime: None, receive_own: Span(0), ..counters(at) };
        let (before, after) = (without(1_000_000), without(3_000_000));
        let sample = between(&before, &after).unwrap();
        let idle = Airtime { idle: Span(2_000_000), ..Airtime::default() };
        assert_eq!((sample.airtime, sample.receive_own), (idle, Span(0)));
        assert_eq!((sample.traffic, sample.link.sent_packets, sample.link.sent_bytes), (1000, 1000, 4000));
        let still = InterfaceCounters { at: Time(3_000_000), ..before };
        assert_eq!(
            between(&before, &still).unwrap().link,
            LinkUse::default(),
            "nothing says that they stand"
        );
        let link = LinkUse { sent_packets: 1, ..after.link };
        assert!(between(&before, &InterfaceCounters { link, ..after }).is_none(), "packets step back");
        assert!(between(&before, &counters(3_000_000)).is_none(), "times that begin in between");
        assert!(between(&counters(1_000_000), &after).is_none(), "times that end in between");
    }

    /// 54 Mbit/s carry 13.5 kB in 2 ms; twice that and 64 KiB are too many.
    #[test]
    fn no_more_bytes_than_a_radio_carries() {
        let before = counters(1_000_000);
        for (bytes, is_right) in [(27_000 + 65_536, true), (27_001 + 65_536, false)] {
            let mut after = counters(3_000_000);
            after.link.sent_bytes = before.link.sent_bytes + bytes;
            assert_eq!(between(&before, &after).is_some(), is_right, "{bytes}");
        }
    }

    /// A time that was counted for another state than is known by now moves to the right one.
    #[test]
    fn states_may_change_places() {
        let before = counters(1_000_000);
        let mut after = counters(3_000_000);
        states(&mut after).receive.0 -= 500_000;
        states(&mut after).busy.0 += 500_000;
        let sample = between(&before, &after).unwrap();
        assert_eq!(sample.airtime.sum(), Span(2_000_000));
        assert_eq!((sample.airtime.receive, sample.airtime.busy), (Span(0), Span(500_000)));
    }

    /// Counters of a link with a packet of 1000 bytes each ms, half of them sent twice, each tenth given up after four attempts.
    fn of_link(ms: u64) -> LinkCounters {
        LinkCounters {
            at: Time(ms * 1_000_000),
            sent: ms,
            given_up: ms / 10,
            attempts: ms + ms / 2 + 4 * (ms / 10),
            bytes: 1000 * ms,
        }
    }

    #[test]
    fn right_differences_of_a_link_are_added() {
        let mut sample = LinkSample { sent: 1, ..LinkSample::new(airfair_schemes::places::NodeId(7)) };
        assert!(of_link(120).add_since(&of_link(100), &mut sample));
        let counts = (sample.sent, sample.given_up, sample.attempts, sample.bytes);
        assert_eq!(counts, (21, 2, 38, 20_000));
    }

    /// Each by itself: a step back, a jump; fewer attempts than packets; packets of more bytes than a packet has; no time.
    #[test]
    fn wrong_differences_of_a_link_leave_its_sample() {
        let (before, right) = (of_link(100), of_link(120));
        let with = |change: fn(&mut LinkCounters)| {
            let mut wrong = right;
            change(&mut wrong);
            wrong
        };
        let wrong = [
            with(|c| c.at.0 = 1),
            with(|c| c.sent = 99),
            with(|c| c.given_up = 9),
            with(|c| c.attempts = 1),
            with(|c| c.bytes = 99_999),
            with(|c| c.sent += 1 << 40),
            with(|c| c.attempts += 20_001),
            with(|c| c.attempts = 190 + 21),
            with(|c| c.bytes = 100_000 + 20 * 65_535 + 1),
            with(|c| c.at.0 = 100_000_000),
            with(|c| (c.at.0, c.sent, c.attempts) = (u64::MAX, 1 << 54, 1 << 54)),
            with(|c| *c = LinkCounters { at: Time(u64::MAX), sent: u64::MAX, given_up: u64::MAX, ..*c }),
        ];
        let mut sample = LinkSample::new(airfair_schemes::places::NodeId(7));
        for wrong in wrong {
            assert!(!wrong.add_since(&before, &mut sample), "{wrong:?}");
        }
        assert_eq!(sample, LinkSample::new(sample.neighbour));
        assert!(with(|c| c.attempts = 190 + 22).add_since(&before, &mut sample));
        assert!(with(|c| c.bytes = 100_000 + 20 * 65_535).add_since(&before, &mut sample));
    }
}
