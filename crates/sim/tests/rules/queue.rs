//! The boundary of queue and MAC.

use airfair_sim::ids::StationIx;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::spec::{LocalLimit, RadioSpec, Traffic};
use airfair_units::{Bytes, Rate, Span};

use crate::support::rig::*;
use crate::support::*;

/// A source of 11 Mbit/s on a link that carries about 0.9.
fn overload(backpressure: bool, local_limit: LocalLimit) -> RunResult {
    let mut radio = dot11b(400.0, 550.0);
    radio.phy.data_rate = Rate::from_mbps(1);
    radio.mac.backpressure = backpressure;
    radio.mac.local_limit = local_limit;
    let traffic = Traffic::ConstantRate { rate: Rate::from_mbps(11), packet: Bytes(1472), gap_jitter: 0.0 };
    run(&chain(radio, 1, 100.0, traffic, 5), 1)
}

/// A packet every 1472 x 8 / 11 us = 1070.545 us, the first at 0: 4671 in 5 s. Those that find the queue full are dropped.
#[test]
fn without_backpressure_a_full_queue_drops() {
    let result = overload(false, None);
    assert_eq!(result.ends.made, 4671);
    assert_eq!(result.ends.queued, 50, "the queue is full at the end");
    let dropped = result.ends.dropped["queue-full"];
    assert_eq!(dropped, 4671 - 50 - result.ends.in_mac - result.ends.delivered);
}

/// The source waits: nothing is dropped, and what is made is what is sent. It keeps the queue full, or half of it where what local
/// sources have there is limited.
#[test]
fn with_backpressure_nothing_is_dropped() {
    let (with, without) = (overload(true, None), overload(false, None));
    assert!(with.ends.dropped.is_empty());
    assert_eq!(with.ends.made, with.ends.delivered + 50 + 1);
    let limited = overload(true, Some(Span::from_millis(8)));
    assert_eq!(limited.ends.made, limited.ends.delivered + 25 + 1);
    assert_eq!(limited.ends.delivered, with.ends.delivered);
    assert_eq!(
        overload(false, Some(Span::from_millis(8))).ends,
        without.ends,
        "without backpressure there is no limit"
    );
    // One DATA: 192 + 12288, SIFS 10, ACK 304, DIFS 50, 15.5 slots 310: 13154 us on average, 380 of them in 5 s.
    assert!(with.ends.delivered.abs_diff(380) < 12 && without.ends.delivered.abs_diff(380) < 12);
}

/// The packet in the MAC is out of the queue's sight, and more of them if the MAC holds more.
#[test]
fn the_mac_holds_as_many_packets_as_it_is_told() {
    for depth in [1, 2, 5] {
        let mut radio: RadioSpec = no_back_off(by_matrix(dot11b(400.0, 550.0)));
        radio.mac.mac_queue = depth;
        let mut rig = Rig::new(&[radio], &[("a", 0, 0.0), ("b", 0, 0.0)], &both(0, 1, -60.0), 1);
        for _ in 0..10 {
            rig.send(1_000_000, 0, 1, 1500);
        }
        // In the middle of the first frame.
        rig.run(1_500_000);
        assert_eq!(rig.air.held(StationIx(0)).count() as u32, depth);
    }
    let mut radio = dot11b(400.0, 550.0);
    radio.mac.mac_queue = 4;
    let result = run(&chain(radio, 1, 100.0, saturating(1472), 1), 1);
    assert_eq!(result.ends.in_mac, 4);
    // A saturating source keeps half of its queue of 50 filled.
    assert_eq!(result.ends.queued, 25);
}

/// Two flows of one station share the queue's room in turn when they are held back.
#[test]
fn flows_that_are_held_back_take_turns() {
    let mut radio = dot11b(400.0, 550.0);
    radio.phy.data_rate = Rate::from_mbps(1);
    let traffic = Traffic::ConstantRate { rate: Rate::from_mbps(11), packet: Bytes(1472), gap_jitter: 0.0 };
    let mut spec = chain(radio, 1, 100.0, traffic.clone(), 20);
    flow(&mut spec, "g", 0, 1, traffic);
    let result = run(&spec, 1);
    let (f, g) = (result.flows[0].delivered_packets, result.flows[1].delivered_packets);
    assert!(f.abs_diff(g) <= 50 && f + g > 1400, "{f} {g}");
}
