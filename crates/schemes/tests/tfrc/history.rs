//! RFC 5348 §5: losses, loss events, intervals, their mean.

use airfair_schemes::tfrc::history::{History, Rules};
use airfair_units::{Span, Time};

const RULES: Rules =
    Rules { reordering: 3, intervals: 8, least_discount: None, by_loss: true, by_mark: true };
const RTT: Span = Span::from_millis(10);

/// A history with packets that arrive 1 ms after one another.
struct Arrivals {
    history: History,
    ms: u64,
    /// The interval before the first loss event.
    first: f64,
}

impl Arrivals {
    fn new(rules: Rules) -> Self {
        Self { history: History::new(rules), ms: 1000, first: 100.0 }
    }

    fn at(&mut self, sequence: u32, marked: bool, now: Time) -> bool {
        let first = self.first;
        self.history.add((sequence, marked), now, RTT, &mut || first)
    }

    /// A packet; true if a loss event has begun.
    fn one(&mut self, sequence: u32) -> bool {
        self.ms += 1;
        self.at(sequence, false, Time(self.ms * 1_000_000))
    }

    /// Packets `from` up to `until`, without the latter, at their own times: packet n at n ms. True if a loss event has begun.
    fn run(&mut self, from: u32, until: u32) -> bool {
        let mut event = false;
        for n in from..until {
            event |= self.at(n, false, Time(1_000_000_000 + u64::from(n) * 1_000_000));
        }
        event
    }

    fn rate(&self) -> f64 {
        self.history.loss_event_rate()
    }
}

/// A history with losses of the packets `lost` among 1..=`last`, packet n at n ms.
fn with_losses(rules: Rules, lost: &[u32], last: u32) -> Arrivals {
    let mut arrivals = Arrivals::new(rules);
    let mut next = 1;
    for &lost in lost {
        arrivals.run(next, lost);
        next = lost + 1;
    }
    arrivals.run(next, last + 1);
    arrivals
}

fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
}

/// §5.1: three packets with higher sequence numbers have arrived.
#[test]
fn three_later_packets_make_a_loss() {
    let mut arrivals = Arrivals::new(RULES);
    let events = [1, 2, 4, 5, 6, 7].map(|n| arrivals.one(n));
    assert_eq!(events, [false, false, false, false, true, false]);
    assert_eq!(arrivals.history.events(), 1);
    let mut patient = Arrivals::new(Rules { reordering: 5, ..RULES });
    let events = [1, 3, 4, 5, 6, 7].map(|n| patient.one(n));
    assert_eq!(events, [false, false, false, false, false, true]);
}

#[test]
fn a_late_packet_is_no_loss() {
    let mut arrivals = Arrivals::new(RULES);
    // 3 comes after two later ones, 7 and 9 are gaps on either side of 8, which comes late.
    assert!(![1, 2, 4, 5, 3, 6, 10, 8].iter().any(|&n| arrivals.one(n)));
    // The gap of 7 has seen 10, 8 and now 11; that of 9 only 10 and 11.
    assert!(arrivals.one(11));
    let event = arrivals.history.events();
    assert!(!arrivals.one(9), "in time");
    assert!(![12, 13, 14].iter().any(|&n| arrivals.one(n)));
    assert_eq!((event, arrivals.history.events()), (1, 1));
    assert!(!arrivals.one(7), "it stays lost");
    assert!(!arrivals.one(2), "a duplicate");
    assert_eq!(arrivals.history.events(), 1);
}

/// The first packet has any number, and the numbers wrap.
#[test]
fn sequence_numbers_wrap() {
    let mut arrivals = Arrivals::new(RULES);
    let from = u32::MAX - 2;
    let sequence: Vec<bool> =
        [0, 1, 2, 4, 5, 6].iter().map(|&n| arrivals.one(from.wrapping_add(n))).collect();
    assert_eq!(sequence, [false, false, false, false, false, true], "packet 0 is lost");
    (7..300).for_each(|n| assert!(!arrivals.one(from.wrapping_add(n))));
    // 1..299 after the loss of 3: 297 packets in the open interval, more than the first interval's 100.
    close(arrivals.rate(), 2.0 / (297.0 + 0.0 + 297.0));
}

/// §5.2: losses within a round-trip time of the first are one event; exactly a round-trip time later is within.
#[test]
fn losses_within_a_round_trip_are_one_event() {
    assert_eq!(with_losses(RULES, &[50, 55, 60], 80).history.events(), 1);
    assert_eq!(with_losses(RULES, &[50, 55, 61], 80).history.events(), 2);
    // The event begins with its first loss: 61 is more than a round-trip time after 50, 66 not after 61.
    assert_eq!(with_losses(RULES, &[50, 55, 61, 66], 90).history.events(), 2);
}

/// §5.2: the time of a lost packet lies between those of its neighbours, by sequence numbers.
#[test]
fn the_time_of_a_loss_is_interpolated() {
    // Packets 2..=21 are missing between arrivals at 1 ms and 43 ms: 2 ms apart. Events begin at 2 (3 ms), 8 (15 ms), 14 (27), 20 (39).
    let of = |later: u64| {
        let mut arrivals = Arrivals::new(RULES);
        let at = |us: u64| Time(us * 1000);
        arrivals.at(1, false, at(1000));
        for n in [22, 23, 24] {
            arrivals.at(n, false, at(later));
        }
        arrivals
    };
    let arrivals = of(43_000);
    assert_eq!(arrivals.history.events(), 4);
    // Intervals of 6 from 2 to 8 to 14 to 20, the one before of 100, and 20..=24 is open.
    close(arrivals.rate(), 1.0 / ((6.0 * 3.0 + 100.0) / 4.0));
    // 20 packets in 21 steps of 0.5 ms: the last is 9.5 ms after the first.
    assert_eq!(of(1000 + 21 * 500).history.events(), 1);
    // Of 0.6 ms: packet 19 is 10.2 ms after 2.
    assert_eq!(of(1000 + 21 * 600).history.events(), 2);
    assert_eq!(of(1000).history.events(), 1, "all at once");
}

#[test]
fn a_gap_of_any_length_ends() {
    let mut arrivals = Arrivals::new(RULES);
    arrivals.at(0, false, Time(0));
    for n in [0x7fff_fff0u32, 0x7fff_fff1, 0x7fff_fff2] {
        arrivals.at(n, false, Time(3_600_000_000_000));
    }
    assert_eq!(arrivals.history.events(), 128, "no more are counted");
    assert!(arrivals.rate() > 0.0 && arrivals.rate() < 1e-3);
}

/// §5.3, §5.4 with weights 1 1 1 1 0.8 0.6 0.4 0.2. Losses at 100, 200, 230 and 300; the interval before 100 is given as 100.
#[test]
fn the_mean_weights_recent_intervals() {
    let arrivals = with_losses(RULES, &[100, 200, 230, 300], 310);
    // Closed: 70, 30, 100, 100; open: 300..=310, 11 packets, which does not raise the mean.
    close(arrivals.rate(), 1.0 / (300.0 / 4.0));
    // 400 open packets: (400 + 70 + 30 + 100)/4.
    close(with_losses(RULES, &[100, 200, 230, 300], 699).rate(), 1.0 / 150.0);
    // Nine events: 100 is out of the mean. Closed, newest first: 20, 20, 50, 20, 20, 20, 20, 20; sum of the weights 6.
    let lost = [100, 120, 140, 160, 180, 200, 250, 270, 290];
    let arrivals = with_losses(RULES, &lost, 295);
    close(
        arrivals.rate(),
        1.0 / ((20.0 + 20.0 + 50.0 + 20.0 + 0.8 * 20.0 + 0.6 * 20.0 + 0.4 * 20.0 + 0.2 * 20.0) / 6.0),
    );
    assert_eq!(arrivals.history.events(), 9);
    // With four intervals the weights are 1, 1, 2/3, 1/3.
    let four = Rules { intervals: 4, ..RULES };
    let third = 1.0 / 3.0;
    close(with_losses(four, &lost, 295).rate(), 3.0 / (20.0 + 20.0 + 2.0 * third * 50.0 + third * 20.0));
}

#[test]
fn the_first_interval_is_given() {
    let mut arrivals = Arrivals::new(RULES);
    assert_eq!(arrivals.rate(), 0.0);
    arrivals.first = 40.0;
    arrivals.run(1, 5);
    assert_eq!(arrivals.rate(), 0.0);
    arrivals.run(6, 9);
    close(arrivals.rate(), 1.0 / 40.0);
    // 5..=84 are 80 packets.
    arrivals.run(9, 85);
    close(arrivals.rate(), 1.0 / 80.0);
}

/// §5.5. One closed interval of 100: from 200 open packets on the discount is 200/open, at least 0.25.
#[test]
fn older_intervals_are_discounted() {
    let rules = Rules { least_discount: Some(0.25), ..RULES };
    // Losses at 100 and 200: closed 100, 100. Open packets n = last - 199.
    let rate = |open: u32| with_losses(rules, &[100, 200], 199 + open).rate();
    close(rate(200), 1.0 / ((200.0 + 100.0) / 2.0));
    // Discount 200/400 of I_1: (400 + 0.5 * 100)/(1 + 0.5).
    close(rate(400), 1.0 / (450.0 / 1.5));
    // 200/1000 is below 0.25: (1000 + 25)/(1.25).
    close(rate(1000), 1.0 / (1025.0 / 1.25));
    close(with_losses(RULES, &[100, 200], 599).rate(), 1.0 / (500.0 / 2.0));
    // At the next event the older ones keep the discount that they had: 600 - 200 = 400 packets, discount 0.5 for the two of 100.
    let after = with_losses(rules, &[100, 200, 600], 604).rate();
    close(after, 1.0 / ((400.0 + 0.5 * 100.0 + 0.5 * 100.0) / 2.0));
    let less = Rules { least_discount: Some(0.6), ..RULES };
    close(with_losses(less, &[100, 200], 599).rate(), 1.0 / (460.0 / 1.6));
}

/// Marks as losses at their arrival (§5.2), and the history of `tfrc-ecn`, in which no loss is an event and gaps count as packets.
#[test]
fn marks_are_events() {
    let mut arrivals = Arrivals::new(RULES);
    arrivals.run(1, 50);
    let at = |ms: u64| Time(1_000_000_000 + ms * 1_000_000);
    assert!(arrivals.at(50, true, at(50)));
    assert!(!arrivals.at(60, true, at(60)), "a round-trip time later");
    assert!(arrivals.at(61, true, at(61)));
    let unmarked = Rules { by_mark: false, by_loss: false, ..RULES };
    let mut none = Arrivals::new(unmarked);
    none.run(1, 50);
    assert!(!none.at(60, true, at(60)) && !none.run(61, 70));
    let ecn = Rules { by_loss: false, ..RULES };
    let mut ecn = Arrivals::new(ecn);
    ecn.run(1, 10);
    ecn.run(50, 60);
    assert_eq!(ecn.history.events(), 0);
    assert!(ecn.at(60, true, at(60)));
    ecn.run(100, 200);
    assert!(ecn.at(200, true, at(200)));
    // 60..=199 are 140 packets sent, of which 100 arrived.
    close(ecn.rate(), 2.0 / (140.0 + 100.0));
}
