//! The transport with a rate.

use airfair_transport::rate::{Arrived, MOST_OUTSTANDING, Next, Progress, Receiver, Sender};
use airfair_units::{Span, Time};
use airfair_wire::rate::{Arrivals, Block, Data};

/// What is lost leaves again: its number and its bytes.
fn again(sender: &mut Sender, now: Time) -> Option<(u32, u32)> {
    let Next::Again(number, bytes) = sender.to_send() else { return None };
    sender.sent_again(now);
    Some((number, bytes))
}

const fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

fn span(ms: u64) -> Span {
    Span::from_millis(ms)
}

/// A report: everything below `next`, then blocks; the datagram that arrived last left at `sent` ms and arrived `held` ms before.
fn report(next: u32, sent: u32, held: u32, blocks: &[(u32, u32)]) -> Arrivals {
    let blocks = blocks.iter().map(|&(first, end)| Block { first, end });
    Arrivals::new(next, sent * 1000, held * 1000, 255, blocks)
}

/// The first bytes of a datagram that left at `sent` ms.
const fn data(number: u32, sent: u32) -> Data {
    Data { number, sent: sent * 1000 }
}

/// A sender that has sent datagrams 0..n of 100 B, one each 10 ms from 0 on.
fn sent(n: u64) -> Sender {
    let mut sender = Sender::default();
    for i in 0..n {
        assert_eq!(sender.to_send(), Next::New);
        assert_eq!(sender.sent_new(100, ms(10 * i)), i as u32);
    }
    sender
}

#[test]
fn numbers_count_and_arrivals_in_order_end_them() {
    let mut sender = sent(3);
    assert!(!sender.is_done());
    let progress = sender.on_arrivals(&report(2, 10, 0, &[]), ms(60));
    assert_eq!(progress, Some(Progress { bytes: 200, lost: 0 }));
    assert_eq!((sender.outstanding(), sender.to_send()), (1, Next::New));
    assert_eq!(sender.on_arrivals(&report(3, 20, 0, &[]), ms(70)), Some(Progress { bytes: 100, lost: 0 }));
    assert!(sender.is_done() && sender.deadline().is_none());
    // The same again is no news.
    assert_eq!(sender.on_arrivals(&report(3, 20, 0, &[]), ms(80)), Some(Progress::default()));
}

/// The round-trip time is that of the transmission which arrived last, without the time at the receiver.
#[test]
fn round_trips_do_not_count_the_wait_for_a_report() {
    let mut sender = sent(3);
    sender.on_arrivals(&report(3, 20, 100, &[]), ms(150));
    assert_eq!(sender.round_trip(), Some(span(30)));
    assert_eq!((sender.stats().round_trips, sender.stats().round_trip_ns), (1, 30_000_000));
    // The mean of samples with the weight 1/8 for a new one.
    sender.sent_new(100, ms(200));
    sender.on_arrivals(&report(4, 200, 0, &[]), ms(270));
    assert_eq!(sender.round_trip(), Some(span(35)));
    // More time at the receiver than since its departure cannot be, nor a departure in the future.
    for (sent_at, held) in [(20, 131), (151, 0)] {
        let mut sender = sent(3);
        sender.on_arrivals(&report(3, sent_at, held, &[]), ms(150));
        assert_eq!(sender.round_trip(), None);
        assert!(sender.is_done(), "the numbers count");
    }
}

/// Of 0 to 5, sent each 10 ms, 1 and 3 are lost: both are found when later ones have arrived, and go first.
#[test]
fn holes_are_sent_again_before_new_data() {
    let mut sender = sent(6);
    let progress = sender.on_arrivals(&report(1, 50, 0, &[(2, 3), (4, 6)]), ms(70));
    assert_eq!(progress, Some(Progress { bytes: 400, lost: 2 }));
    assert_eq!(sender.to_send(), Next::Again(1, 100));
    assert_eq!(again(&mut sender, ms(100)), Some((1, 100)));
    assert_eq!(again(&mut sender, ms(110)), Some((3, 100)));
    assert_eq!((sender.to_send(), again(&mut sender, ms(120))), (Next::New, None));
    assert_eq!(sender.stats().retransmissions, 2);
    assert_eq!(sender.on_arrivals(&report(6, 110, 0, &[]), ms(130)), Some(Progress { bytes: 200, lost: 0 }));
    assert!(sender.is_done());
}

/// Transmissions that left less than a quarter of a round trip apart may change places.
#[test]
fn a_change_of_order_is_no_loss() {
    // 5 left at 50 ms and arrives first: round trip 41 ms, a quarter is 10.25 ms. 4 left 10 ms before it.
    let mut sender = sent(6);
    assert_eq!(sender.on_arrivals(&report(4, 50, 0, &[(5, 6)]), ms(91)).map(|p| p.lost), Some(0));
    // With a round trip of 39 ms it is lost.
    let mut sender = sent(6);
    assert_eq!(sender.on_arrivals(&report(4, 50, 0, &[(5, 6)]), ms(89)).map(|p| p.lost), Some(1));
}

/// A repetition is lost when a later transmission has arrived, whichever: that of a repetition, too, since it has a time stamp of its own.
#[test]
fn lost_repetitions_are_found() {
    let mut sender = sent(4);
    assert_eq!(sender.on_arrivals(&report(0, 30, 0, &[(3, 4)]), ms(50)).map(|p| p.lost), Some(3));
    for at in [60, 70, 80] {
        again(&mut sender, ms(at)).unwrap();
    }
    // 2, the last of the three, arrives; 0 and 1 left before it.
    assert_eq!(sender.on_arrivals(&report(0, 80, 0, &[(2, 4)]), ms(100)).map(|p| p.lost), Some(2));
    assert_eq!(again(&mut sender, ms(101)), Some((0, 100)));
    assert_eq!(again(&mut sender, ms(111)), Some((1, 100)));
    // An old report shows nothing of these.
    assert_eq!(sender.on_arrivals(&report(0, 80, 0, &[(2, 4)]), ms(112)).map(|p| p.lost), Some(0));
}

/// The lowest number first, also when its repetition was lost in turn: all that lies beyond it waits for it.
#[test]
fn the_lowest_number_that_is_lost_goes_first() {
    let mut sender = sent(8);
    sender.on_arrivals(&report(0, 70, 0, &[(7, 8)]), ms(100));
    assert_eq!(again(&mut sender, ms(110)), Some((0, 100)));
    assert_eq!(again(&mut sender, ms(120)), Some((1, 100)));
    // 1 arrives again, 0 does not; 2 to 6 are known to be lost longer than that.
    let news = sender.on_arrivals(&report(0, 120, 0, &[(1, 2), (7, 8)]), ms(150));
    assert_eq!(news, Some(Progress { bytes: 100, lost: 1 }));
    let order: Vec<u32> = (0..6u64).map(|i| again(&mut sender, ms(160 + i)).unwrap().0).collect();
    assert_eq!(order, [0, 2, 3, 4, 5, 6]);
    assert_eq!(sender.to_send(), Next::New);
}

/// Nothing that left later has arrived: datagrams on their way are not lost.
#[test]
fn what_nothing_has_overtaken_is_not_lost() {
    let mut sender = sent(6);
    assert_eq!(sender.on_arrivals(&report(3, 20, 4000, &[]), ms(5000)).map(|p| p.lost), Some(0));
    assert_eq!(sender.to_send(), Next::New);
}

/// Twenty blocks at most: of what lies beyond the last one a report says nothing, and nothing there is lost.
#[test]
fn nothing_is_known_beyond_the_last_block() {
    let mut sender = sent(60);
    let odd: Vec<(u32, u32)> = (0..30).map(|i| (2 * i + 1, 2 * i + 2)).collect();
    let arrivals = report(0, 590, 0, &odd);
    assert_eq!(arrivals.blocks().len(), 20);
    let progress = sender.on_arrivals(&arrivals, ms(600));
    assert_eq!(progress, Some(Progress { bytes: 2000, lost: 20 }));
    // The next report has the rest.
    let progress = sender.on_arrivals(&report(0, 590, 1, &odd[20..]), ms(601));
    assert_eq!(progress, Some(Progress { bytes: 1000, lost: 10 }));
}

/// Reports that cannot be true change nothing.
#[test]
fn forged_reports_are_ignored() {
    let mut sender = sent(4);
    assert_eq!(sender.on_arrivals(&report(5, 30, 0, &[]), ms(50)), None);
    assert_eq!(sender.on_arrivals(&report(1 << 31, 30, 0, &[(1, 2)]), ms(50)).map(|p| p.bytes), Some(100));
    for block in [(3, 2), (3, 1), (2, 5), (4, 4), (0, 0), (u32::MAX, 1)] {
        let progress = sender.on_arrivals(&report(0, 30, 0, &[block]), ms(50));
        assert_eq!(progress, Some(Progress::default()), "{block:?}");
    }
    assert_eq!(sender.outstanding(), 4);
}

/// An old report that was overtaken takes nothing back, and its blocks count.
#[test]
fn an_old_report_counts_for_what_it_says() {
    let mut sender = sent(6);
    sender.on_arrivals(&report(3, 20, 0, &[]), ms(60));
    assert_eq!(sender.on_arrivals(&report(1, 40, 0, &[(2, 3), (4, 5)]), ms(70)).map(|p| p.bytes), Some(100));
    assert_eq!(sender.outstanding(), 3);
}

/// Without news the first datagram on its way is sent again: after 2 s, then 4 s.
#[test]
fn the_first_time_outs() {
    let mut sender = sent(3);
    assert_eq!(sender.deadline(), Some(ms(2000)));
    sender.on_timer(ms(1999));
    assert_eq!(sender.to_send(), Next::New, "too early");
    sender.on_timer(ms(2000));
    assert_eq!((sender.to_send(), sender.deadline()), (Next::Again(0, 100), None));
    assert_eq!(again(&mut sender, ms(2100)), Some((0, 100)));
    assert_eq!((sender.to_send(), sender.deadline()), (Next::New, Some(ms(6100))));
    sender.on_timer(ms(6100));
    assert_eq!(again(&mut sender, ms(6100)), Some((0, 100)));
    assert_eq!((sender.deadline(), sender.stats().timeouts), (Some(ms(14_100)), 2));
}

/// The time-out is the mean time to news and four variations, 200 ms at least; news ends its doubling.
#[test]
fn the_time_out_follows_the_time_to_news() {
    let mut sender = sent(3);
    // 0 left at 0 and is known to have arrived at 600 ms: mean 600, variation 300 ms.
    sender.on_arrivals(&report(1, 0, 500, &[]), ms(600));
    assert_eq!(sender.deadline(), Some(ms(600 + 600 + 1200)));
    sender.on_timer(ms(2400));
    assert_eq!(again(&mut sender, ms(2400)), Some((1, 100)));
    assert_eq!(sender.deadline(), Some(ms(2400 + 3600)));
    // News of 2, sent once at 20 ms: mean 600 + (2980 - 600)/8, variation 300 + (2380 - 300)/4.
    sender.on_arrivals(&report(1, 20, 0, &[(2, 3)]), ms(3000));
    assert_eq!(sender.deadline().map(|at| at.0 / 1000), Some((3_000_000 + 897_500 + 4 * 820_000) as u64));
    // A short time to news: 200 ms all the same.
    let mut sender = Sender::default();
    for i in 0..60 {
        sender.sent_new(10, ms(i));
        sender.on_arrivals(&report(i as u32 + 1, i as u32, 0, &[]), Time(i * 1_000_000 + 1));
    }
    sender.sent_new(10, ms(100));
    assert_eq!(sender.deadline(), Some(ms(300)));
}

/// The largest time-out is a minute.
#[test]
fn time_outs_end_to_double() {
    let mut sender = sent(1);
    let mut waits = Vec::new();
    let mut now = Time::ZERO;
    for _ in 0..12 {
        let due = sender.deadline().unwrap();
        waits.push(due.since(now).as_nanos() / 1_000_000_000);
        now = due;
        sender.on_timer(now);
        again(&mut sender, now);
    }
    assert_eq!(waits, [2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60, 60]);
}

/// While lost datagrams wait for the rate there is no time-out.
#[test]
fn a_slow_rate_is_no_time_out() {
    let mut sender = sent(6);
    sender.on_arrivals(&report(1, 50, 0, &[(2, 3), (4, 6)]), ms(70));
    assert_eq!(sender.deadline(), None);
    again(&mut sender, ms(5000));
    assert_eq!(sender.deadline(), None);
    again(&mut sender, ms(9000));
    // Of 0 the news came after 70 ms: mean 70, variation 35 ms.
    assert_eq!(sender.deadline(), Some(ms(9000 + 210)));
}

/// A datagram that was found lost and has arrived after all is not sent again.
#[test]
fn what_arrives_late_is_not_sent_again() {
    let mut sender = sent(6);
    sender.on_arrivals(&report(1, 50, 0, &[(2, 3), (4, 6)]), ms(70));
    sender.on_arrivals(&report(3, 10, 0, &[(4, 6)]), ms(75));
    assert_eq!(again(&mut sender, ms(100)), Some((3, 100)));
    assert_eq!(again(&mut sender, ms(100)), None);
}

/// A sender stops where both ends can store no more.
#[test]
fn as_many_are_outstanding_as_both_ends_store() {
    let mut sender = Sender::default();
    for i in 0..MOST_OUTSTANDING {
        assert_eq!(sender.to_send(), Next::New);
        sender.sent_new(1, Time(i as u64));
    }
    assert_eq!(sender.to_send(), Next::Nothing);
    sender.on_arrivals(&report(1, 0, 0, &[]), ms(50));
    assert_eq!(sender.to_send(), Next::New);
}

#[test]
fn a_receiver_delivers_in_order_and_once() {
    let mut receiver = Receiver::default();
    let mut on = |number, bytes| {
        let Arrived { new, delivered } = receiver.on_data(data(number, 0), bytes, ms(u64::from(number)));
        (new, delivered)
    };
    assert_eq!(on(0, 10), (true, 10));
    assert_eq!(on(2, 30), (true, 0));
    assert_eq!(on(2, 30), (false, 0), "known beyond the gap");
    assert_eq!(on(0, 10), (false, 0), "known in order");
    assert_eq!(on(5, 60), (true, 0));
    assert_eq!(on(1, 20), (true, 50), "1 and 2");
    assert_eq!(on(4, 50), (true, 0));
    assert_eq!(on(3, 40), (true, 150), "3 to 5");
    assert_eq!(receiver.duplicates(), 2);
}

/// The time stamp in a report is that of the last arrival, also of one that is not new.
#[test]
fn a_receiver_reports_gaps_in_order() {
    let mut receiver = Receiver::default();
    for number in [0, 3, 4, 6] {
        receiver.on_data(data(number, number), 10, ms(20));
    }
    assert_eq!(receiver.arrivals(255, ms(27)), report(1, 6, 7, &[(3, 5), (6, 7)]));
    assert_eq!(receiver.arrivals(21, ms(27)), report(1, 6, 7, &[(3, 5)]), "room for one block");
    for number in [1, 2, 5] {
        receiver.on_data(data(number, number), 10, ms(30));
    }
    assert_eq!(receiver.arrivals(255, ms(30)), report(7, 5, 0, &[]));
    receiver.on_data(data(3, 33), 10, ms(40));
    assert_eq!(receiver.arrivals(255, ms(41)), report(7, 33, 1, &[]));
}

/// What is further beyond the first gap than a sender may be takes no memory.
#[test]
fn a_receiver_ignores_what_is_too_far_ahead() {
    let mut receiver = Receiver::default();
    receiver.on_data(data(0, 5), 10, ms(1));
    for number in [MOST_OUTSTANDING as u32 + 1, 1 << 30, (1 << 31) - 1] {
        assert!(!receiver.on_data(data(number, 6), 10, ms(2)).new, "{number}");
    }
    assert_eq!(receiver.arrivals(255, ms(2)), report(1, 5, 1, &[]));
    assert!(receiver.on_data(data(MOST_OUTSTANDING as u32, 7), 10, ms(3)).new, "the farthest that may be");
}
