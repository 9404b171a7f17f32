//! QFCP [Pu and Hamdi, section II]. C is a million bytes per second; T starts at 100 ms, R at C/20.

use airfair_schemes::ParamValue::{self, Choice, Flag, Number, Rate as Speed, Span as Duration};
use airfair_schemes::places::CongestionCause::{FastLoss, LinkDrop, Mark, Timeout};
use airfair_schemes::places::{
    Capability, Finished, FlowId, FlowSetup, Header, Interface, NodeId, PacketClass, PartialAck,
};
use airfair_schemes::qfcp::{Capacity, Observed, header};
use airfair_schemes::{Params, find};
use airfair_units::{Rate, Span, Time};

use super::rig::{Flow, MSS, Router, build, gauge, ms, near, refuses, setup, wire};

/// T moves by a quarter of the distance to each RTT.
const QUARTER: (&str, ParamValue) = ("rtt_weight", Number(0.25));
const PROBED: (&str, ParamValue) = ("capacity", Choice("probed"));

fn configured() -> Router {
    Router::slow("qfcp", &[QUARTER])
}

/// A header with a round-trip time.
fn request(rtt_us: u32) -> Header {
    let mut header = Header::default();
    header::request(&mut header, rtt_us, u32::MAX);
    header
}

/// R, bytes/s, an integer as in headers.
fn share(router: &Router) -> u32 {
    (router.gauge("fair_share_bps") / 8.0) as u32
}

/// C, bytes/s.
fn capacity(router: &Router) -> f64 {
    router.gauge("capacity_bps") / 8.0
}

/// Ends the control interval with a queue of `waiting` bytes.
fn control(router: &mut Router, waiting: u64) {
    router.waiting = waiting;
    router.fire();
}

/// Equation 1: 20,000 B in 100 ms are 200,000 B/s, four times the share of 50,000. Equation 2 without a queue: C/4.
#[test]
fn the_share_is_the_capacity_over_the_flows() {
    let mut router = configured();
    assert_eq!(share(&router), 50_000);
    router.strangers(20);
    router.fire();
    assert_eq!(router.now, Time(100_000_000));
    near(router.gauge("input_bps"), 1.6e6);
    near(router.gauge("flows"), 4.0);
    assert_eq!(share(&router), 250_000);
    // The next interval divides by the mean of both shares, 150,000: 80,000 B in 100 ms are 5 1/3 flows.
    router.strangers(80);
    router.fire();
    assert_eq!(share(&router), 187_500);
}

/// Equations 2 and 6: the minimum queue is 10 packets, 2 more were dropped: 1,000,000 - 0.5 * 12,000 / 0.1 = 940,000 B/s remain
/// for 40,000 B in 100 ms, 8 flows.
#[test]
fn a_standing_queue_and_drops_leave_less() {
    let mut router = configured();
    for n in 0..40 {
        router.waiting = 10_000 + 1000 * (n % 7);
        router.strangers(1);
    }
    router.hop.on_drop(1000);
    router.hop.on_drop(1000);
    control(&mut router, 15_000);
    assert_eq!(share(&router), 117_500);
    // The queue at the interval's end counts as well; drops of the interval before do not.
    router.waiting = 10_000;
    router.strangers(67);
    control(&mut router, 4_000);
    // Over the mean of 50,000 and 117,500 B/s 670,000 are 8 flows; 1,000,000 - 0.5 * 4,000 / 0.1 = 980,000.
    assert_eq!(share(&router), 122_500);
}

/// R of each interval for eight flows whose round-trip time is T, so that the traffic of an interval was granted in the interval before.
fn shares_of_eight(divisor: &'static str, intervals: usize) -> Vec<u32> {
    let mut router = Router::slow("qfcp", &[QUARTER, ("divisor", Choice(divisor))]);
    let mut shares = vec![share(&router); 2];
    for _ in 0..intervals {
        // In 100 ms.
        let arriving = 8 * shares[shares.len() - 2] / 10;
        router.arrive(None, arriving);
        router.fire();
        shares.push(share(&router));
    }
    shares.split_off(1)
}

/// Equation 1 by its divisor. A share of 50,000 is 0.4 of C/8. With the share in force R(k) = C/8 R(k-1)/R(k-2), an oscillation with a
/// period of six intervals: 0.4, 1, 2.5, 2.5, 1, 0.4, 0.4. With the share of the interval before R(k) = C/8. With the mean of both R(k) =
/// C/8 (1 + R(k-1)/R(k-2)) / 2: 0.4, 1, 1.75, 1.375, 25/28, 0.824675, 0.961818.
#[test]
fn the_divisor_decides_how_the_share_oscillates() {
    let swing = [50_000, 125_000, 312_500, 312_500, 125_000, 50_000, 50_000];
    assert_eq!(shares_of_eight("in-force", 6), swing);
    assert_eq!(shares_of_eight("previous", 4), [50_000, 125_000, 125_000, 125_000, 125_000]);
    let damped = shares_of_eight("mean", 20);
    for (&found, expected) in
        damped.iter().zip([50_000, 125_000, 218_750, 171_875, 111_607, 103_084, 120_227])
    {
        assert!(found.abs_diff(expected) <= 2, "{found} instead of {expected}");
    }
    assert!(damped[20].abs_diff(125_000) < 125, "{damped:?}");
}

/// The divisors where the share of the interval before differs: 80,000 B in 100 ms over 250,000, 50,000 and 150,000 B/s.
#[test]
fn the_divisor_is_one_of_three() {
    for (divisor, flows) in [("in-force", 3.2), ("previous", 16.0), ("mean", 16.0 / 3.0)] {
        let mut router = Router::slow("qfcp", &[("divisor", Choice(divisor))]);
        router.strangers(20);
        router.fire();
        assert_eq!(share(&router), 250_000, "{divisor}");
        router.strangers(80);
        router.fire();
        near(router.gauge("flows"), flows);
    }
}

/// Ten acknowledgements of 56 B wait for the whole interval, two are dropped: 672 B, or 12 packets of 1000 B. 40,000 B in 100 ms are 8
/// flows; 1,000,000 - 0.5 * 672 / 0.1 = 996,640 and 1,000,000 - 0.5 * 12,000 / 0.1 = 940,000 B/s remain.
#[test]
fn the_queue_counts_bytes_or_packets() {
    let half = ("packet_size", ParamValue::Bytes(airfair_units::Bytes(500)));
    let packets = ("queue_unit", Choice("packets"));
    let cases: [(&[(&str, ParamValue)], u32); 4] =
        [(&[], 124_580), (&[half], 124_580), (&[packets], 117_500), (&[packets, half], 121_250)];
    for (params, expected) in cases {
        let mut router = Router::slow("qfcp", params);
        (router.waiting, router.waiting_packet) = (560, 56);
        router.strangers(40);
        router.hop.on_drop(56);
        router.hop.on_drop(56);
        control(&mut router, 560);
        assert_eq!(share(&router), expected, "{params:?}");
    }
}

/// If the queue's term exceeds C, a hundredth of C remains.
#[test]
fn the_numerator_stays_above_a_hundredth() {
    let mut router = configured();
    router.waiting = 300_000;
    router.strangers(10);
    router.fire();
    assert_eq!(share(&router), 5_000, "10,000 B/s for two flows");
}

#[test]
fn silence_is_one_flow() {
    let mut router = configured();
    router.fire();
    assert_eq!(share(&router), 1_000_000);
    router.strangers(1);
    router.fire();
    assert_eq!(share(&router), 1_000_000, "a hundredth of a flow is one, too");
}

/// T: 100 -> 125 -> 143.75 ms. Headers without a round-trip time, or with an implausible one, do not count.
#[test]
fn the_interval_is_a_moving_average_of_round_trip_times() {
    let mut router = configured();
    router.burst(2, &request(200_000));
    router.burst(1, &request(0));
    router.burst(1, &request(10_000_001));
    router.strangers(1);
    near(router.gauge("interval_s"), 0.143_75);
    assert_eq!(router.due().1, Time(100_000_000), "the present one keeps its end");
    router.fire();
    assert_eq!(router.due().1, Time(243_750_000));
    router.burst(100, &request(1));
    near(router.gauge("interval_s"), 0.01);
}

#[test]
fn requests_are_lowered_to_the_share() {
    let mut router = configured();
    let mut small = request(0);
    header::request(&mut small, 0, 49_999);
    assert_eq!(router.burst(1, &small).fields[1], 49_999);
    assert_eq!(router.burst(1, &request(0)).fields[1], 50_000);
}

/// A rate beyond the field's range is granted as the largest rate, not as the value for "no limit": 0.05 of 125 GB/s.
#[test]
fn a_grant_is_never_the_value_for_no_limit() {
    let mut router = Router::new("qfcp", &[], &wire(Rate::from_mbps(1_000_000)));
    assert_eq!(router.burst(1, &request(0)).fields[1], u32::MAX - 1);
}

/// Section III-B: packets that an access point's radio receives count and are stamped, but do not belong to its queue.
#[test]
fn both_directions_of_a_cell_share_one_controller() {
    let [.., access_point, _] = Interface::all_kinds();
    let access_point = Interface { rate: Rate::from_mbps(8), ..access_point };
    let mut router = Router::new("qfcp", &[], &access_point);
    assert!(router.wants.has(Capability::Received) && !configured().wants.has(Capability::Received));
    // R is 6,250 B/s. 5,000 B down and 7,500 B up in 100 ms are 125,000 B/s, 20 flows; a packet waits for the whole interval;
    // 4,000 B sent and 7,500 B received make the capacity 115,000 B/s: 115,000 - 0.5 * 1000 / 0.1 = 110,000.
    router.waiting = 1000;
    router.strangers(5);
    let mut up = request(0);
    router.waiting = 0;
    router.receive(Some(&mut up), 7500);
    assert_eq!(up.fields[1], 6_250);
    control(&mut router, 1000);
    near(router.gauge("flows"), 20.0);
    near(capacity(&router), 115_000.0);
    assert_eq!(share(&router), 5_500);
}

fn probing(estimate: f64, ceiling: f64) -> Capacity {
    Capacity::Probed { estimate, alpha: 0.1, ceiling, when_unused: false }
}

/// Equation 4: the capacity of a busy link is its output; that of a link that was idle at times is probed with a tenth more.
#[test]
fn the_capacity_is_estimated() {
    let mut capacity = probing(125_000.0, 1e6);
    let idle = Observed { output: 100_000.0, busy: false, used: true };
    capacity.update(&idle);
    near(capacity.bytes_per_second(), 137_500.0);
    capacity.update(&Observed { busy: true, output: 90_000.0, ..idle });
    near(capacity.bytes_per_second(), 90_000.0);
    capacity.update(&Observed { used: false, ..idle });
    near(capacity.bytes_per_second(), 90_000.0);
    for _ in 0..100 {
        capacity.update(&idle);
    }
    near(capacity.bytes_per_second(), 1e6);
    capacity.update(&Observed { busy: true, output: 0.0, used: true });
    assert!(capacity.bytes_per_second() > 0.0, "it can grow again");
    let mut bold = Capacity::Probed { estimate: 1000.0, alpha: 0.5, ceiling: 1e9, when_unused: true };
    bold.update(&Observed { used: false, ..idle });
    near(bold.bytes_per_second(), 1500.0);
    let mut known = Capacity::Configured(5.0);
    known.update(&Observed { busy: true, ..idle });
    near(known.bytes_per_second(), 5.0);
}

/// Bytes queued at the start of an interval and not at its end were sent in it. With a drop the link counts as busy even if no packet
/// waited for the whole interval, unless the parameter excludes drops.
#[test]
fn output_is_counted_from_arrivals_and_queue() {
    for (drops_are_busy, first, second) in [(true, 40_000.0, 60_000.0), (false, 137_500.0, 151_250.0)] {
        let mut router = Router::slow("qfcp", &[PROBED, ("drops_are_busy", Flag(drops_are_busy))]);
        for waiting in [0, 3_000, 5_000] {
            router.waiting = waiting;
            router.arrive(None, 2000);
        }
        router.strangers(1);
        router.hop.on_drop(1000);
        // 7,000 B arrived, 1,000 were dropped, 2,000 wait: 4,000 were sent.
        control(&mut router, 2_000);
        near(capacity(&router), first);
        // 5,000 B arrive; the 2,000 and 4,000 of these were sent.
        router.waiting = 0;
        router.strangers(5);
        router.hop.on_drop(0);
        control(&mut router, 1_000);
        near(capacity(&router), second);
    }
}

/// Without traffic the estimate of the capacity does not change; it grows with the first packet.
#[test]
fn an_unused_link_keeps_its_capacity() {
    let mut router = Router::slow("qfcp", &[PROBED]);
    router.fire();
    near(capacity(&router), 125_000.0);
    router.arrive(None, 100);
    router.fire();
    near(capacity(&router), 137_500.0);
    let mut eager = Router::slow("qfcp", &[PROBED, ("probe_unused", Flag(true)), ("alpha", Number(0.2))]);
    eager.fire();
    near(capacity(&eager), 150_000.0);
}

#[test]
fn a_wire_that_changes_is_followed() {
    let mut router = configured();
    router.hop.on_rate(Rate::from_mbps(4));
    router.fire();
    assert_eq!(share(&router), 500_000);
    let mut capacity = probing(125_000.0, 1e6);
    capacity.set_rate(50_000.0);
    capacity.update(&Observed { output: 0.0, busy: false, used: true });
    near(capacity.bytes_per_second(), 50_000.0);
}

/// The capacity of a wire is its rate; the estimate of a radio starts at 1 Mbit/s. Only access points observe both directions.
#[test]
fn the_capacity_of_each_interface() {
    let [radio, wire, access_point, its_wire] = Interface::all_kinds();
    let value = |params: &[(&str, ParamValue)], at: &Interface, name: &str| {
        gauge(build("qfcp", params).hop(at).expect("a hop everywhere").as_ref(), name)
    };
    let capacity = |params: &[(&str, ParamValue)], at: &Interface| value(params, at, "capacity_bps");
    near(capacity(&[], &radio), 1e6);
    near(capacity(&[], &wire), 2e6);
    near(value(&[], &wire, "fair_share_bps"), 1e5);
    let configured = ("capacity", Choice("configured"));
    near(capacity(&[configured], &radio), 2e6);
    let ceiling = ("ceiling", Speed(Rate::from_kbps(500)));
    near(capacity(&[configured, ceiling], &radio), 5e5);
    near(capacity(&[ceiling], &radio), 5e5);
    near(capacity(&[configured, ceiling], &wire), 2e6);
    near(capacity(&[PROBED, ("initial_capacity", Speed(Rate::from_kbps(300)))], &wire), 3e5);
    let both = |params: &[(&str, ParamValue)]| {
        let scheme = build("qfcp", params);
        [radio, wire, access_point, its_wire].map(|at| scheme.wants(&at).has(Capability::Received))
    };
    assert_eq!(both(&[]), [false, false, true, false]);
    assert_eq!(both(&[("both_directions", Choice("all"))]), [true, false, true, false]);
    assert_eq!(both(&[("both_directions", Choice("none"))]), [false; 4]);
    let kind = build("qfcp", &[]).source().and_then(|source| source.header());
    assert_eq!(kind.map(|kind| kind.name), Some("qfcp"));
}

/// The defaults of a router: T starts at 100 ms and moves by a fiftieth, to 102 ms for one RTT of 200 ms.
#[test]
fn weights_and_bounds_of_the_interval() {
    let interval = |params: &[(&str, ParamValue)], rtt_us: u32| {
        let mut router = Router::slow("qfcp", params);
        router.burst(1, &request(rtt_us));
        router.gauge("interval_s")
    };
    assert!((interval(&[], 200_000) - 0.102).abs() < 1e-4, "{}", interval(&[], 200_000));
    near(interval(&[("rtt_weight", Number(0.5))], 200_000), 0.15);
    let (least, most) = (Duration(ms(300)), Duration(ms(300)));
    let bounded = [("min_interval", least), ("max_interval", most), ("first_interval", least)];
    near(interval(&bounded, 1000), 0.3);
    let at_once = ("rtt_weight", Number(1.0));
    near(interval(&[("min_interval", Duration(ms(1))), at_once], 2000), 0.002);
    near(interval(&[at_once], 2000), 0.01);
}

#[test]
fn parameters_have_bounds() {
    let bad = [
        ("beta", Number(-0.1)),
        ("alpha", Number(11.0)),
        ("rtt_weight", Number(0.0)),
        ("initial_share", Number(1.1)),
        // Above the largest one.
        ("min_interval", Duration(Span::from_secs(20))),
        ("initial_capacity", Speed(Rate(1))),
    ];
    refuses("qfcp", &bad);
    let too_fast = Speed(Rate(8 << 32));
    refuses("qfcp", &["request", "initial_capacity", "ceiling"].map(|name| (name, too_fast)));
    let mut greedy = Flow::new("qfcp", &[("request", Speed(Rate(8 * u64::from(u32::MAX - 1))))]);
    assert_eq!(greedy.stamp().fields[1], u32::MAX - 1);
}

/// Equation 3: the SYN+ACK grants 200,000 B/s; the window for 100 ms is 20,000 B.
#[test]
fn the_window_is_rate_times_round_trip_time() {
    let mut flow = Flow::new("qfcp", &[]);
    assert_eq!(flow.stamp().fields, [0, u32::MAX, 0, 0], "the SYN knows no round-trip time");
    flow.echo(200_000);
    assert_eq!(flow.start(&setup()), 20_000);
    assert_eq!(flow.stamp().fields, [100_000, u32::MAX, 0, 0]);
    assert_eq!(flow.echo(400_000), 40_000);
    assert_eq!(flow.ack(Some(ms(180))), 44_000, "7/8 of 100 ms and 1/8 of 180 ms are 110 ms");
    assert_eq!(flow.ack(None), 44_000, "no sample");
    assert_eq!(flow.echo(1_000), MSS, "at least a segment");
    assert_eq!(flow.echo(0), MSS, "an acknowledgement without a grant changes nothing");
    assert_eq!(flow.pace(), None);
    assert_eq!(flow.law.ssthresh(), None);
}

/// Without a SYN the flow starts with its initial window until the first feedback.
#[test]
fn a_flow_without_feedback_starts_with_the_initial_window() {
    let mut flow = Flow::new("qfcp", &[]);
    assert_eq!(flow.start(&FlowSetup { rtt: None, ..setup() }), 10 * MSS);
    flow.ack(Some(ms(50)));
    assert_eq!(flow.echo(1_000_000), 50_000);
}

/// A loss does not change the window; after a time-out the window is one segment until the next feedback.
#[test]
fn losses_do_not_change_the_window_and_time_outs_do_until_the_next_feedback() {
    let mut flow = Flow::started("qfcp", &[]);
    flow.echo(200_000);
    for cause in [FastLoss, Mark, LinkDrop] {
        assert_eq!(flow.congestion(cause), 20_000);
    }
    assert_eq!(flow.law.partial_ack(), PartialAck::RepairsUndeflated);
    assert_eq!(flow.congestion(Timeout), MSS);
    assert_eq!(flow.ack(None), MSS);
    assert_eq!(flow.echo(200_000), 20_000);
    assert!(!flow.law.fell_back());
}

#[test]
fn readings_are_parameters() {
    let mut paced = Flow::new("qfcp", &[("paced", Flag(true)), ("request", Speed(Rate::from_mbps(1)))]);
    assert_eq!(paced.stamp().fields[1], 125_000);
    paced.start(&setup());
    assert_eq!(paced.pace(), None, "nothing is granted yet");
    paced.echo(125_000);
    assert_eq!(paced.pace(), Some(Rate::from_mbps(1)));
    paced.echo(5);
    assert_eq!(paced.pace(), Some(Rate(8 * MSS * 10)), "a segment each 100 ms");
    let mut fast = Flow::new("qfcp", &[("request", Speed(Rate::from_mbps(10_000)))]);
    assert_eq!(fast.stamp().fields[1], 1_250_000_000);
    assert_eq!(Flow::new("qfcp", &[("deflate", Flag(true))]).law.partial_ack(), PartialAck::RepairsNext);
    let mut least = Flow::started("qfcp", &[("rtt", Choice("least"))]);
    least.echo(100_000);
    assert_eq!(least.ack(Some(ms(500))), 10_000);
}

/// If a router does not support QFCP, TCP's law limits the flow below the granted rate, and losses count.
#[test]
fn a_router_without_support_causes_the_fallback_to_tcp() {
    let mut flow = Flow::new("qfcp", &[]);
    flow.echo_past(1, 200_000);
    assert_eq!(flow.start(&setup()), 10 * MSS, "TCP's initial window");
    assert!(flow.law.fell_back());
    assert_eq!(flow.law.partial_ack(), PartialAck::RepairsNext);
    assert_eq!(flow.ack(Some(ms(100))), 11 * MSS, "slow start");
    assert_eq!(flow.echo_past(1, 15_000), 1_500, "the routers that speak are heeded");
    let mut late = Flow::started("qfcp", &[]);
    late.echo(200_000);
    assert_eq!(late.echo_past(1, 200_000), 10_000, "half");
    assert_eq!(late.congestion(FastLoss), 5_000);
    assert_eq!(late.echo(200_000), 20_000, "all speak again");
}

/// Without a bound 200,000 B/s in the first interval raise R from 50,000 to 250,000 B/s, as above; with 1.1 to 55,000. A fall is not
/// bounded: 1,045,000 B in the next 100 ms are 199 flows of 52,500 B/s, the mean of both shares: 1,000,000 / 199 = 5,024.
#[test]
fn r_rises_by_a_factor_at_most() {
    let mut router = Router::slow("qfcp", &[QUARTER, ("rise", Number(1.1))]);
    router.strangers(20);
    router.fire();
    assert_eq!(share(&router), 55_000);
    router.strangers(1045);
    router.fire();
    assert_eq!(share(&router), 5_023);
}

/// 10 MB in an interval, a hundred times what the link carries, divide R by about a hundred each time, to a few bytes/s, of which a tenth
/// is no byte. From there R rises to 1.1 packets of 1,500 B an interval of 100 ms at once, and by a tenth afterwards.
#[test]
fn r_rises_from_next_to_nothing() {
    let mut router = Router::slow("qfcp", &[QUARTER, ("rise", Number(1.1))]);
    for _ in 0..6 {
        router.strangers(10_000);
        router.fire();
    }
    assert!(share(&router) < 10, "{}", share(&router));
    let shares = [(); 3].map(|()| {
        router.fire();
        share(&router)
    });
    assert_eq!(shares, [16_500, 18_150, 19_965]);
}

/// With `stations` false the radio of a node that is no access point has no hop; the access point counts as the support of the interface
/// from which it receives. A wire has its hop as ever.
#[test]
fn an_access_point_speaks_for_its_stations() {
    let of_cells = ("stations", Flag(false));
    let acts = Interface::all_kinds().map(|at| build("qfcp", &[of_cells]).hop(&at).is_some());
    assert_eq!(acts, [false, true, true, true]);
    let access_point = Interface { access_point: true, ..Interface::radio(50) };
    for (params, supported) in [(vec![of_cells], 1), (vec![], 0)] {
        let mut router = Router::new("qfcp", &params, &access_point);
        let mut header = request(100_000);
        router.receive(Some(&mut header), 1000);
        assert_eq!(header.supported, supported);
        assert_eq!(header.fields[1], share(&router), "it stamps what it receives");
    }
}

/// A sender states that an interface of its path has no QFCP: the radio of an access point leaves control to TCP at once, and for 60 s: it
/// grants nothing, and counts as one without support. A count of one is then its own. By default it takes no notice, and a wire takes none
/// at all.
#[test]
fn a_router_yields_to_senders_that_follow_tcp() {
    let yields = ("yields_for", Duration(Span::from_secs(60)));
    let mut flow = Flow::new("qfcp", &[yields]);
    assert_eq!(flow.stamp().unsupported, 0);
    flow.echo_past(1, 200_000);
    assert_eq!(flow.stamp().unsupported, 1);
    let mut silent = Flow::new("qfcp", &[]);
    silent.echo_past(1, 200_000);
    assert_eq!(silent.stamp().unsupported, 0);

    let states = |unsupported| Header { unsupported, ..request(100_000) };
    // C is 1 Mbit/s at first, R a twentieth of it.
    let access_point = Interface { access_point: true, ..Interface::radio(50) };
    let mut router = Router::new("qfcp", &[yields], &access_point);
    assert_eq!(router.burst(1, &states(0)).fields[1], 6_250);
    assert!(router.hop.supports());
    assert_eq!(router.burst(1, &states(1)).fields[1], u32::MAX);
    assert!(!router.hop.supports());
    router.pass(59_000);
    router.burst(1, &states(1));
    assert!(!router.hop.supports());
    router.pass(1_200);
    assert!(router.hop.supports(), "60 s after the packet that another interface caused");
    router.burst(1, &states(2));
    router.pass(30_000);
    router.burst(1, &states(2));
    router.pass(59_000);
    assert!(!router.hop.supports());

    for mut heedless in [Router::new("qfcp", &[], &access_point), Router::slow("qfcp", &[yields])] {
        assert!(heedless.burst(1, &states(9)).fields[1] < u32::MAX);
        assert!(heedless.hop.supports());
    }
}

/// Each packet that the MAC gives up counts one less 0.02, each that it delivers takes 0.02: four in a row are 3.92, of which 3 are too
/// many. One of 50 is as many as are allowed, for ever.
#[test]
fn an_access_point_that_gives_packets_up_yields() {
    let params = [("yields_for", Duration(Span::from_secs(60))), ("most_given_up", Number(0.02))];
    let access_point = Interface { access_point: true, ..Interface::radio(50) };
    let finish = |router: &mut Router, acknowledged: bool| {
        let finished = Finished {
            bytes: 1000,
            flow: FlowId(0),
            next_hop: NodeId(1),
            class: PacketClass::Data,
            acknowledged,
            waited: ms(0),
            access: ms(1),
        };
        router.hop.on_finished(&finished, router.now);
    };
    let mut router = Router::new("qfcp", &params, &access_point);
    assert!(router.wants.has(Capability::AccessTimes));
    (0..3).for_each(|_| finish(&mut router, false));
    assert!(router.hop.supports());
    finish(&mut router, false);
    assert!(!router.hop.supports());
    let mut lossy = Router::new("qfcp", &params, &access_point);
    for n in 0..10_000 {
        finish(&mut lossy, n % 50 != 0);
    }
    assert!(lossy.hop.supports());
    assert!(!Router::new("qfcp", &[], &access_point).wants.has(Capability::AccessTimes));
}

/// With `asks_every` a sender that follows TCP puts a header into its first packet, then into one a second; a
/// time-out leaves it its grant. A sender that keeps to grants puts it into each.
#[test]
fn a_sender_that_follows_tcp_asks_now_and_then() {
    let mut flow = Flow::new("qfcp", &[("asks_every", Duration(Span::from_secs(1)))]);
    let at = |milliseconds| Time::ZERO.saturating_add(ms(milliseconds));
    assert!(flow.law.carries_header(at(0)) && flow.law.carries_header(at(1)), "a SYN and its repetition");
    flow.echo_past(1, 200_000);
    flow.start(&setup());
    let carried = |flow: &mut Flow, times: &[u64]| -> Vec<bool> {
        times.iter().map(|&time| flow.law.carries_header(at(time))).collect()
    };
    assert_eq!(carried(&mut flow, &[100, 101, 1099, 1100, 1101]), [true, false, false, true, false]);
    flow.congestion(Timeout);
    let then = carried(&mut flow, &[1200, 1201]);
    assert_eq!(
        (flow.ack(None), then),
        (2 * MSS, vec![true, false]),
        "TCP's slow start, and a path to ask about"
    );
    flow.echo(200_000);
    assert_eq!(carried(&mut flow, &[1203, 1204]), [true, true]);
    let mut always = Flow::new("qfcp", &[]);
    always.echo_past(1, 200_000);
    always.start(&setup());
    assert_eq!(carried(&mut always, &[1, 1, 2]), [true, true, true]);
}

/// With `slow_start` TCP's law begins with half of the window, as without, and grows by a segment for each that is acknowledged; not
/// when it begins for the second time.
#[test]
fn a_later_fallback_may_be_in_slow_start() {
    for (slow_start, then) in [(true, 11 * MSS), (false, 10 * MSS + MSS / 10)] {
        let mut flow = Flow::started("qfcp", &[("slow_start", Flag(slow_start))]);
        flow.echo(200_000);
        assert_eq!(flow.echo_past(1, 200_000), 10 * MSS);
        assert_eq!(flow.ack(None), then);
        flow.echo(200_000);
        assert_eq!(flow.echo_past(1, 200_000), 10 * MSS);
        assert_eq!(flow.ack(None), 10 * MSS + MSS / 10);
    }
}

/// An access point would end its yield between two packets that ask.
#[test]
fn senders_ask_while_access_points_yield() {
    let set = |asks| [("asks_every", Duration(asks)), ("yields_for", Duration(Span::from_secs(60)))];
    let error = |asks| {
        let params = Params(set(asks).map(|(name, value)| (name.to_string(), value)).into());
        (find("qfcp").unwrap().build)(&params).err().map(|error| error.name)
    };
    assert_eq!((error(Span::from_secs(60)), error(Span::from_secs(59))), (Some("asks_every"), None));
}

/// Before a round-trip time is known the window is a segment and nothing is paced: a grant of 5 B/s would hold the first segment for 200 s.
/// TCP's law is not paced either.
#[test]
fn a_flow_without_a_round_trip_time_is_not_paced() {
    let mut flow = Flow::new("qfcp", &[("paced", Flag(true))]);
    flow.echo(5);
    flow.start(&FlowSetup { rtt: None, ..setup() });
    assert_eq!((flow.pace(), flow.window()), (None, MSS));
    flow.ack(Some(ms(100)));
    assert_eq!(flow.pace(), Some(Rate(8 * MSS * 10)));
    flow.echo_past(1, 5);
    assert_eq!(flow.pace(), None);
}
