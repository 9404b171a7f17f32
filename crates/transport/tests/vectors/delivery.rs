//! Arguments of the law for an acknowledgement, and delivery rates (draft-cheng-iccrg-delivery-rate-estimation).

use airfair_transport::{InitialWindow, TcpConfig};
use airfair_units::Span;

use crate::support::laws::Law;
use crate::support::sender::{check, plain, with_sack};

#[test]
fn rates_and_rounds() {
    check(
        &plain(),
        Law::Fixed(2000),
        "
        0 write 6000
        0 open
        > 1:2001/1000
        100 < 1001
        > 2001:3001
        ~ 1000 cumulative 1000 flight 2000->1000 rtt 100 rate 1000/100 round full sent 0
        110 < 2001
        > 3001:4001
        # The segment was sent before the end of the last round.
        ~ 1000 cumulative 1000 flight 2000->1000 rtt 110 rate 2000/110 full sent 0
        # 2000 more than when 2001 was sent, 100 ms ago.
        200 < 3001
        > 4001:5001
        ~ 1000 cumulative 1000 flight 2000->1000 rtt 100 rate 2000/100 round full sent 100
        # Two segments at once: the newer one counts. It was sent when 3000 were delivered.
        320 < 5001
        > 5001:6001
        ~ 2000 cumulative 2000 flight 2000->0 rtt 120 rate 2000/120 round full sent 200
        # No more data to send: from here on the rate is the application's.
        330 write 1000
        > 6001:7001
        430 < 7001
        ~ 2000 cumulative 2000 flight 2000->0 rtt 100 rate 2000/110 app-limited round full sent 330
        = delivered=7000
        ",
    );
}

#[test]
fn a_repaired_segment_is_not_measured_but_counted() {
    check(
        &with_sack(),
        Law::Fixed(4000),
        "
        0 write 4000
        0 open
        > 1:4001/1000
        100 < 1 sack=1001:4001
        ! fast-loss 4000 pipe 0
        > 1:1001
        ~ 3000 cumulative 0 flight 4000->0 lost 1000 rtt 100 rate 3000/100 round full recovery sent 0
        # The retransmission is the newest segment; data acknowledged selectively before count only as cumulatively acknowledged now.
        200 < 4001
        ! recovered 0
        ~ 1000 cumulative 4000 flight 1000->0 rate 1000/100 round full recovery sent 100
        ",
    );
}

#[test]
fn selectively_acknowledged_data_count_when_cumulatively_acknowledged() {
    check(
        &with_sack(),
        Law::Fixed(2000),
        "
        0 write 2000
        0 open
        > 1:2001/1000
        100 < 1 sack=1:1001
        110 < 1001
        ~ 0 cumulative 1000 flight 1000->1000 full sent 110
        ",
    );
}

#[test]
fn what_was_reported_before_a_time_out_is_delivered_once() {
    check(
        &with_sack(),
        Law::Fixed(4000),
        "
        0 write 4000
        0 open
        > 1:4001/1000
        100 < 1 sack=2001:4001
        ~ 2000 cumulative 0 flight 4000->2000 rtt 100 rate 2000/100 round full sent 0
        1000 timer
        ! timeout 4000 pipe 2000
        > 1:4001/1000
        # For retransmission the SACK information is discarded, but those data do not count as delivered again.
        1100 < 1 sack=2001:4001
        1200 < 4001
        ~ 2000 cumulative 4000 flight 2000->0 lost 2000 rate 2000/1100 app-limited round full sent 1000
        = delivered=4000
        ",
    );
}

#[test]
fn acknowledgements_of_an_unfilled_window_are_not_window_limited() {
    check(
        &plain(),
        Law::Fixed(4000),
        "
        0 write 3000
        0 open
        > 1:3001/1000
        100 < 1001
        ~ 1000 cumulative 1000 flight 3000->2000 rtt 100 rate 1000/100 round sent 0
        # Now the window is full, and the acknowledgements of the whole flight count as window-limited.
        100 write 2000
        > 3001:5001/1000
        110 < 3001
        ~ 2000 cumulative 2000 flight 4000->2000 rtt 110 rate 3000/110 full sent 0
        120 < 5001
        # The segment was sent 100 ms after the first, which was the newest delivered one at that time.
        ~ 2000 cumulative 2000 flight 2000->0 rtt 20 rate 4000/100 app-limited round full sent 100
        ",
    );
}

#[test]
fn a_wait_for_pacing_is_not_app_limited() {
    check(
        &plain(),
        Law::Paced(100_000, 8_000_000, None),
        "
        0 write 2000
        0 open
        > 1:1001
        1 timer
        > 1001:2001
        100 < 2001
        ~ 2000 cumulative 2000 flight 2000->0 rtt 99 rate 2000/100 round sent 1
        ",
    );
}

#[test]
fn a_drop_of_the_own_link_is_notified_once_a_window() {
    check(
        &plain(),
        Law::Fixed(3000),
        "
        0 open
        0 endless
        > 1:3001/1000
        5 drop 1001
        ! link-drop 3000 pipe 3000
        6 drop 2001
        # Data never sent, or acknowledged already.
        6 drop 3001
        100 < 1001
        > 3001:4001
        110 drop 1
        110 drop 3001
        ! link-drop 3000 pipe 3000
        = state=open retransmissions=0
        ",
    );
}

#[test]
fn the_law_is_notified_of_every_segment_with_payload() {
    let script = check(
        &plain(),
        Law::Fixed(2000),
        "
        0 open
        0 write 2000
        > 1:2001/1000
        1000 timer
        > 1:2001/1000
        ! timeout 2000 pipe 2000
        ",
    );
    let log = script.log.lock().expect("one thread");
    let sent: Vec<_> = log.sent.iter().map(|s| (s.bytes.0, s.in_flight.0, s.retransmission)).collect();
    assert_eq!(sent, [(1000, 1000, false), (1000, 2000, false), (1000, 1000, true), (1000, 2000, true)]);
}

/// Section 3.2: idle means SND.NXT == SND.UNA. An application writes 10 kB/s, and no acknowledgement arrives for 3 s: the delivery then
/// has an interval of 3 s, although a time-out has occurred.
#[test]
fn a_time_out_is_no_idle_time() {
    let mut script = String::from("\n0 open\n");
    for i in 0..20 {
        script += &format!("{} write 1000\n> {}:{}\n", 100 * i, 1000 * i + 1, 1000 * i + 1001);
    }
    script += "
        2900 timer
        ! timeout 20000 pipe 20000
        > 1:20001/1000
        3000 < 20001
        ~ 20000 cumulative 20000 flight 20000->0 lost 20000 rate 20000/3000 app-limited round full sent 2900
    ";
    let rto = Span::from_millis(2900);
    let config =
        TcpConfig { initial_window: InitialWindow::Segments(1), initial_rto: rto, min_rto: rto, ..plain() };
    check(&config, Law::Fixed(20_000), &script);
}

/// Without SACK a duplicate acknowledgement shows that a segment beyond the first has arrived, and counts as a delivery that left the
/// network: after two duplicates half of four segments. Data acknowledged after a time-out were delivered in part before.
#[test]
fn without_sack_duplicates_are_deliveries_and_counted_once() {
    check(
        &plain(),
        Law::Fixed(4000),
        "
        0 write 4000
        0 open
        > 1:4001/1000
        100 < 1
        ~ 1000 cumulative 0 flight 4000->3000 full sent 0
        101 < 1
        ~ 1000 cumulative 0 flight 3000->2000 full sent 0
        = delivered=2000 flight=4000
        1000 timer
        ! timeout 4000 pipe 2000
        > 1:4001/1000
        # The duplicate caused by a retransmission is no new delivery.
        1100 < 1
        = delivered=2000
        1200 < 4001
        ~ 2000 cumulative 4000 flight 4000->0 lost 2000 rate 2000/1099 round full sent 1000
        = delivered=4000
        ",
    );
}

/// Segments 1 and 3 are lost. No more duplicates count than there are segments beyond the first; each hole that closes counts as one
/// delivery.
#[test]
fn without_sack_a_closed_hole_counts_as_one_delivery() {
    check(
        &plain(),
        Law::Fixed(6000),
        "
        0 write 6000
        0 open
        > 1:6001/1000
        100 < 1
        101 < 1
        102 < 1
        ! fast-loss 6000 pipe 3000
        > 1:1001
        103 < 1
        ~ 1000 cumulative 0 flight 3000->2000 full recovery sent 0
        = delivered=4000
        # Segment 2 had been counted: only 1 is new, and 4, 5 and 6 stay counted.
        202 < 2001
        > 2001:3001
        ~ 1000 cumulative 2000 flight 2000->0 lost 1000 rate 2000/102 round full recovery sent 102
        = delivered=5000
        302 < 6001
        ! recovered 0
        ~ 1000 cumulative 4000 flight 1000->0 rate 1000/100 app-limited round full recovery sent 202
        = delivered=6000
        ",
    );
}
