//! QFCP (Pu and Hamdi, section II). C is 8 Mbit/s, a million bytes a second; T begins at 100 ms.

use airfair_schemes::ParamValue::{Choice, Flag, Number, Rate as Speed, Span as Duration};
use airfair_schemes::places::CongestionCause::{FastLoss, LinkDrop, Mark, Timeout};
use airfair_schemes::places::{
    Backlog, FlowId, Header, Hop, Interface, Medium, PacketClass, PartialAck, Passage,
};
use airfair_schemes::qfcp::{Capacity, Observed, Qfcp, Router as Law, RouterConfig, Sender, header};
use airfair_schemes::{ParamValue, Scheme};
use airfair_units::{Rate, Span, Time};
use proptest::prelude::*;

use super::{Flow, MSS, Router, params};

const CONFIG: RouterConfig = RouterConfig {
    beta: 0.5,
    rtt_gain: 1 << 14,
    intervals: (Span(10_000_000), Span(10_000_000_000)),
    first_interval: Span(100_000_000),
    initial_share: 0.05,
    both_directions: false,
    drops_are_busy: true,
};
const MEGABYTE: f64 = 1e6;

fn router(capacity: Capacity) -> Router<Law> {
    Router::new(Law::new(CONFIG, capacity))
}

fn configured() -> Router<Law> {
    router(Capacity::Configured(MEGABYTE))
}

fn probed() -> Capacity {
    Capacity::Probed { estimate: 125_000.0, alpha: 0.1, ceiling: MEGABYTE, when_unused: false }
}

/// A header whose sender knows a round-trip time.
fn request(rtt_us: u32) -> Header {
    let mut header = Header::default();
    header::request(&mut header, rtt_us, u32::MAX);
    header
}

/// Equation 1: 20,000 B in 100 ms are 200,000 B/s, four times the share of 50,000. Equation 2 without a queue: C/4.
#[test]
fn the_share_is_the_capacity_over_the_flows() {
    let mut router = configured();
    assert_eq!(router.hop.share(), 50_000);
    for _ in 0..20 {
        router.arrives(1000, 0, None);
    }
    router.fire(0);
    assert_eq!(router.now, Time(100_000_000));
    assert!((router.gauge("flows") - 4.0).abs() < 1e-9);
    assert_eq!(router.hop.share(), 250_000);
    // The next interval divides by the share of this one: 80,000 B in 100 ms are 3.2 flows.
    for _ in 0..80 {
        router.arrives(1000, 0, None);
    }
    router.fire(0);
    assert_eq!(router.hop.share(), 312_500);
}

/// Equations 2 and 6: the least queue is 10 packets, 2 more were dropped: 1,000,000 - 0.5 * 12,000 / 0.1 = 940,000 B/s are left
/// for 40,000 B in 100 ms, 8 flows.
#[test]
fn a_standing_queue_and_drops_leave_less() {
    let mut router = configured();
    for n in 0..40 {
        router.arrives(1000, 10 + n % 7, None);
    }
    router.hop.on_drop(1000);
    router.hop.on_drop(1000);
    router.fire(15);
    assert_eq!(router.hop.share(), 117_500);
    // The queue at the interval's end counts as well, and drops are forgotten.
    for _ in 0..47 {
        router.arrives(1000, 10, None);
    }
    router.fire(4);
    // 470,000 / 117,500 = 4 flows; 1,000,000 - 0.5 * 4,000 / 0.1 = 980,000.
    assert_eq!(router.hop.share(), 245_000);
}

/// A queue that would take more than C away leaves a hundredth of it.
#[test]
fn the_numerator_stays_above_a_hundredth() {
    let mut router = configured();
    for _ in 0..10 {
        router.arrives(1000, 300, None);
    }
    router.fire(300);
    assert_eq!(router.hop.share(), 5_000, "10,000 B/s for two flows");
}

#[test]
fn silence_is_one_flow() {
    let mut router = configured();
    router.fire(0);
    assert_eq!(router.hop.share(), 1_000_000);
    router.arrives(1000, 0, None);
    router.fire(0);
    assert_eq!(router.hop.share(), 1_000_000, "a hundredth of a flow is one, too");
}

/// T moves by a quarter of the distance to each RTT: 100 -> 125 -> 143.75 ms. Who knows none does not take part.
#[test]
fn the_interval_is_a_moving_average_of_round_trip_times() {
    let mut router = configured();
    router.arrives(1000, 0, Some(&mut request(200_000)));
    router.arrives(1000, 0, Some(&mut request(200_000)));
    router.arrives(1000, 0, Some(&mut request(0)));
    router.arrives(1000, 0, Some(&mut request(10_000_001)));
    router.arrives(1000, 0, None);
    assert_eq!(router.hop.interval(), Span(143_750_000));
    assert_eq!(router.due().map(|due| due.1), Some(Time(100_000_000)), "the present one keeps its end");
    router.fire(0);
    assert_eq!(router.due().map(|due| due.1), Some(Time(243_750_000)));
    for _ in 0..100 {
        router.arrives(1000, 0, Some(&mut request(1)));
    }
    assert_eq!(router.hop.interval(), Span(10_000_000), "its least");
}

#[test]
fn requests_are_lowered_to_the_share() {
    let mut router = configured();
    let mut small = request(0);
    header::request(&mut small, 0, 49_999);
    let mut large = request(0);
    router.arrives(1000, 0, Some(&mut small));
    router.arrives(1000, 0, Some(&mut large));
    assert_eq!((small.fields[1], large.fields[1]), (49_999, 50_000));
}

/// Section III-B: what comes in through an access point's radio counts and is stamped, but its queue is its own.
#[test]
fn both_directions_of_a_cell_share_one_controller() {
    let config = RouterConfig { both_directions: true, ..CONFIG };
    let mut router = Router::new(Law::new(config, probed()));
    assert!(router.hop.heeds_received() && !configured().hop.heeds_received());
    // R is 6,250 B/s. 5,000 B down and 7,500 B up in 100 ms are 125,000 B/s, 20 flows; a packet waits all the time, and the
    // 4,000 B that have left with the 7,500 B make 115,000 B/s the capacity: 115,000 - 0.5 * 1000 / 0.1 = 110,000.
    for _ in 0..5 {
        router.arrives(1000, 1, None);
    }
    let mut up = request(0);
    let passage = Passage {
        bytes: 7500,
        flow: FlowId(1),
        class: PacketClass::Data,
        backlog: Backlog { packets: 0, bytes: 0 },
    };
    router.hop.on_receive(&passage, Some(&mut up), router.now);
    assert_eq!(up.fields[1], 6_250);
    router.fire(1);
    assert!((router.gauge("flows") - 20.0).abs() < 1e-9);
    assert!((router.gauge("capacity_bps") - 8.0 * 115_000.0).abs() < 1e-6);
    assert_eq!(router.hop.share(), 5_500);
}

/// Equation 4: a busy link shows its capacity, one that was idle at times is tried with a tenth more.
#[test]
fn the_capacity_is_found_out() {
    let mut capacity = probed();
    let idle = Observed { output: 100_000.0, busy: false, used: true };
    capacity.update(&idle);
    assert!((capacity.bytes_per_second() - 137_500.0).abs() < 1e-6);
    capacity.update(&Observed { busy: true, output: 90_000.0, ..idle });
    assert!((capacity.bytes_per_second() - 90_000.0).abs() < 1e-6);
    capacity.update(&Observed { used: false, ..idle });
    assert!((capacity.bytes_per_second() - 90_000.0).abs() < 1e-6, "an unused link tells nothing");
    for _ in 0..100 {
        capacity.update(&idle);
    }
    assert!((capacity.bytes_per_second() - MEGABYTE).abs() < 1e-6, "the ceiling");
    capacity.update(&Observed { busy: true, output: 0.0, used: true });
    assert!(capacity.bytes_per_second() > 0.0, "it can grow again");
    let mut bold = Capacity::Probed { estimate: 1000.0, alpha: 0.5, ceiling: 1e9, when_unused: true };
    bold.update(&Observed { used: false, ..idle });
    assert!((bold.bytes_per_second() - 1500.0).abs() < 1e-9);
    let mut known = Capacity::Configured(5.0);
    known.update(&Observed { busy: true, ..idle });
    assert!((known.bytes_per_second() - 5.0).abs() < 1e-12);
}

/// What waited at the start of an interval and does not wait at its end has left in it. With a drop and no packet that waited all
/// the time the link counts as busy, unless the parameter says no.
#[test]
fn output_is_what_has_left() {
    for (drops_are_busy, expected) in [(true, 8.0 * 60_000.0), (false, 8.0 * 137_500.0)] {
        let mut router = Router::new(Law::new(RouterConfig { drops_are_busy, ..CONFIG }, probed()));
        for packets in [0, 3, 5] {
            router.arrives(2000, packets, None);
        }
        router.arrives(1000, 5, None);
        router.hop.on_drop(1000);
        // 7,000 B came, 1,000 were dropped, 2,000 wait: 4,000 left.
        router.fire(2);
        let first = if drops_are_busy { 40_000.0 } else { 137_500.0 };
        assert!((router.gauge("capacity_bps") - 8.0 * first).abs() < 1e-6);
        // 5,000 B come, the 2,000 have left with 4,000 of them.
        for _ in 0..5 {
            router.arrives(1000, 0, None);
        }
        router.hop.on_drop(0);
        router.fire(1);
        let second = router.gauge("capacity_bps");
        let grown = if drops_are_busy { expected } else { expected * 1.1 };
        assert!((second - grown).abs() < 1e-3, "{second}");
    }
}

/// Where nothing is carried nothing is learnt: the capacity stays, and grows with the first packet.
#[test]
fn an_unused_radio_keeps_its_capacity() {
    let mut router = router(probed());
    router.fire(0);
    assert!((router.gauge("capacity_bps") - 1e6).abs() < 1e-6);
    router.arrives(100, 0, None);
    router.fire(0);
    assert!((router.gauge("capacity_bps") - 1.1e6).abs() < 1e-6);
}

#[test]
fn a_wire_that_changes_is_followed() {
    let mut router = configured();
    router.hop.on_rate(Rate::from_mbps(4));
    router.fire(0);
    assert_eq!(router.hop.share(), 500_000);
    let mut capacity = probed();
    capacity.set_rate(50_000.0);
    capacity.update(&Observed { output: 0.0, busy: false, used: true });
    assert!((capacity.bytes_per_second() - 50_000.0).abs() < 1e-9, "a new ceiling");
}

fn qfcp(set: &[(&str, ParamValue)]) -> Qfcp {
    Qfcp::from_params(&params(set)).unwrap_or_else(|e| panic!("{e}"))
}

fn gauge(scheme: &Qfcp, at: &Interface, name: &str) -> f64 {
    let hop = scheme.hop(at).expect("a hop everywhere");
    hop.gauges().iter().find(|gauge| gauge.0 == name).expect("there is such a gauge").1
}

/// Wires have their rate, radios begin with 1 Mbit/s; access points alone see both directions.
#[test]
fn what_stands_where() {
    let [radio, wire, access_point, its_wire] = Interface::sorts();
    let scheme = qfcp(&[]);
    let capacity = |scheme: &Qfcp, at: &Interface| gauge(scheme, at, "capacity_bps");
    assert!((capacity(&scheme, &radio) - 1e6).abs() < 1e-6);
    assert!((capacity(&scheme, &wire) - 2e6).abs() < 1e-6);
    assert!((gauge(&scheme, &wire, "fair_share_bps") - 1e5).abs() < 1e-6, "a twentieth");
    let both = |scheme: &Qfcp| {
        [radio, wire, access_point, its_wire].map(|at| scheme.hop(&at).expect("a hop").heeds_received())
    };
    assert_eq!(both(&scheme), [false, false, true, false]);
    assert_eq!(both(&qfcp(&[("both_directions", Choice("all"))])), [true, false, true, false]);
    assert_eq!(both(&qfcp(&[("both_directions", Choice("none"))])), [false; 4]);
    let configured = qfcp(&[("capacity", Choice("configured"))]);
    assert!((capacity(&configured, &radio) - 2e6).abs() < 1e-6);
    let ceiling = ("ceiling", Speed(Rate::from_kbps(500)));
    assert!((capacity(&qfcp(&[("capacity", Choice("configured")), ceiling]), &radio) - 5e5).abs() < 1e-6);
    assert!((capacity(&qfcp(&[ceiling]), &radio) - 5e5).abs() < 1e-6, "probing begins no higher");
    let probed = qfcp(&[("capacity", Choice("probed")), ("initial_capacity", Speed(Rate::from_kbps(300)))]);
    assert!((capacity(&probed, &wire) - 3e5).abs() < 1e-6);
    assert!(scheme.source().is_some_and(|source| source.header().is_some_and(|kind| kind.name == "qfcp")));
    assert_eq!(Interface { medium: Medium::Wire, ..radio }.medium, wire.medium);
}

/// The defaults as a router lives by them: T begins at 100 ms and moves by a fiftieth, to 102 ms for one RTT of 200 ms.
#[test]
fn weights_and_bounds_of_the_interval() {
    let [_, wire, ..] = Interface::sorts();
    let interval = |set: &[(&str, ParamValue)], rtt_us: u32| {
        let mut hop = qfcp(set).hop(&wire).expect("a hop");
        let passage = Router::<Law>::passage(1000, 0);
        hop.on_arrival(&passage, Some(&mut request(rtt_us)), Time::ZERO);
        hop.gauges().iter().find(|gauge| gauge.0 == "interval_s").expect("a gauge").1
    };
    assert!((interval(&[], 200_000) - 0.102).abs() < 1e-4, "{}", interval(&[], 200_000));
    assert!((interval(&[("rtt_weight", Number(0.5))], 200_000) - 0.15).abs() < 1e-6);
    let (least, most) = (Duration(Span::from_millis(300)), Duration(Span::from_millis(300)));
    let bounded = [("min_interval", least), ("max_interval", most), ("first_interval", least)];
    assert!((interval(&bounded, 1000) - 0.3).abs() < 1e-9, "equal bounds leave one length");
    let quick = [("min_interval", Duration(Span::from_millis(1))), ("rtt_weight", Number(1.0))];
    assert!((interval(&quick, 2000) - 0.002).abs() < 1e-9);
    assert!((interval(&[("rtt_weight", Number(1.0))], 2000) - 0.01).abs() < 1e-9, "10 ms at least");
}

#[test]
fn bad_parameters_are_refused() {
    for (name, value) in [
        ("beta", Number(-0.1)),
        ("alpha", Number(11.0)),
        ("rtt_weight", Number(0.0)),
        ("initial_share", Number(1.1)),
        ("min_interval", Duration(Span::from_secs(20))),
        ("max_interval", Duration(Span::from_millis(5))),
        ("initial_capacity", Speed(Rate(1))),
    ] {
        assert!(Qfcp::from_params(&params(&[(name, value)])).is_err(), "{name}");
    }
}

fn sender(set: &[(&str, ParamValue)]) -> Flow {
    Flow::new(qfcp(set).source().expect("a sender"))
}

/// An echo of a granted rate, bytes/s.
fn echo(rate: u32) -> Header {
    Header { fields: [0, u32::MAX, rate, 0], ..Header::default() }
}

/// Equation 3: the SYN's answer grants 200,000 B/s, 100 ms hold 20,000 B.
#[test]
fn the_window_is_what_the_rate_fills_in_a_round_trip() {
    let mut flow = sender(&[]);
    assert_eq!(flow.stamped().fields, [0, u32::MAX, 0, 0], "the SYN knows no round-trip time");
    flow.feedback(&echo(200_000));
    assert_eq!(flow.start(100), 20_000);
    assert_eq!(flow.stamped().fields, [100_000, u32::MAX, 0, 0]);
    assert_eq!(flow.feedback(&echo(400_000)), 40_000);
    assert_eq!(flow.ack(180), 44_000, "7/8 of 100 ms and 1/8 of 180 ms are 110 ms");
    assert_eq!(flow.ack(0), 44_000, "no sample");
    assert_eq!(flow.feedback(&echo(1_000)), MSS, "at least a segment");
    assert_eq!(flow.feedback(&echo(0)), MSS, "an acknowledgement without a grant changes nothing");
    assert_eq!(flow.law.allowance(Time::ZERO).rate, None);
    assert_eq!(flow.law.ssthresh(), None);
}

/// Without a SYN the flow begins with its initial window until it hears.
#[test]
fn a_flow_that_has_not_asked_begins_like_any_other() {
    let mut flow = sender(&[]);
    assert_eq!(flow.start(0), 2 * MSS);
    flow.ack(50);
    assert_eq!(flow.feedback(&echo(1_000_000)), 50_000);
}

/// A loss changes nothing; after a time-out the window is a segment until the next feedback.
#[test]
fn losses_do_not_slow_it_down_and_time_outs_do_for_a_moment() {
    let mut flow = sender(&[]);
    flow.feedback(&echo(200_000));
    flow.start(100);
    for cause in [FastLoss, Mark, LinkDrop] {
        assert_eq!(flow.congestion(cause, 20_000), 20_000);
    }
    assert_eq!(flow.law.partial_ack(), PartialAck::RepairsAndKeeps);
    assert_eq!(flow.congestion(Timeout, 20_000), MSS);
    assert_eq!(flow.ack(0), MSS);
    assert_eq!(flow.feedback(&echo(200_000)), 20_000);
    assert!(!flow.law.fell_back());
}

#[test]
fn readings_are_parameters() {
    let mut paced = sender(&[("paced", Flag(true)), ("request", Speed(Rate::from_mbps(1)))]);
    assert_eq!(paced.stamped().fields[1], 125_000);
    paced.start(100);
    assert_eq!(paced.law.allowance(Time::ZERO).rate, None, "nothing is granted yet");
    paced.feedback(&echo(125_000));
    assert_eq!(paced.law.allowance(Time::ZERO).rate, Some(Rate::from_mbps(1)));
    paced.feedback(&echo(5));
    assert_eq!(paced.law.allowance(Time::ZERO).rate, Some(Rate(8 * MSS * 10)), "a segment each 100 ms");
    assert_eq!(sender(&[("deflate", Flag(true))]).law.partial_ack(), PartialAck::RepairsNext);
    let mut fast = sender(&[("request", Speed(Rate::from_mbps(10_000)))]);
    assert_eq!(fast.stamped().fields[1], 1_250_000_000);
    let mut least = sender(&[("rtt", Choice("least"))]);
    least.feedback(&echo(100_000));
    least.start(100);
    assert_eq!(least.ack(500), 10_000);
}

/// Where a router does not speak, TCP's law holds below the granted rate, and losses count.
#[test]
fn a_silent_router_brings_tcp_back() {
    let silent = Header { missed: 1, ..echo(200_000) };
    let mut flow = sender(&[]);
    flow.feedback(&silent);
    assert_eq!(flow.start(100), 2 * MSS, "TCP's initial window");
    assert!(flow.law.fell_back());
    assert_eq!(flow.law.partial_ack(), PartialAck::RepairsNext);
    assert_eq!(flow.ack(100), 3 * MSS, "slow start");
    assert_eq!(
        flow.feedback(&Header { missed: 1, ..echo(15_000) }),
        1_500,
        "the routers that speak are heeded"
    );
    let mut late = sender(&[]);
    late.feedback(&echo(200_000));
    late.start(100);
    assert_eq!(late.feedback(&silent), 10_000, "half");
    assert_eq!(late.congestion(FastLoss, 10_000), 5_000);
    assert_eq!(late.feedback(&echo(200_000)), 20_000, "all speak again");
}

#[derive(Debug, Clone)]
enum Step {
    Arrival(u32, u32, Option<[u32; 4]>),
    Receive(u32, Option<[u32; 4]>),
    Drop(u32),
    Fire(u32),
    Rate(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (any::<u32>(), any::<u32>(), any::<Option<[u32; 4]>>()).prop_map(|(a, b, c)| Step::Arrival(a, b, c)),
        (any::<u32>(), any::<Option<[u32; 4]>>()).prop_map(|(a, b)| Step::Receive(a, b)),
        any::<u32>().prop_map(Step::Drop),
        any::<u32>().prop_map(Step::Fire),
        any::<u64>().prop_map(Step::Rate),
    ]
}

proptest! {
    /// Whatever passes, the share is a rate that a header can carry, the interval lies in its bounds, a request never grows,
    /// and there is always a next interval.
    #[test]
    fn a_router_stands_anything(probe: bool, steps in prop::collection::vec(step(), 1..60)) {
        let capacity = if probe { probed() } else { Capacity::Configured(MEGABYTE) };
        let mut router = Router::new(Law::new(RouterConfig { both_directions: true, ..CONFIG }, capacity));
        for step in steps {
            match step {
                Step::Arrival(bytes, packets, fields) => {
                    let mut header = fields.map(|fields| Header { fields, ..Header::default() });
                    router.arrives(bytes, packets, header.as_mut());
                    let lowered = header.zip(fields).is_none_or(|(header, fields)| {
                        header.fields[1] == fields[1].min(router.hop.share())
                    });
                    prop_assert!(lowered);
                }
                Step::Receive(bytes, fields) => {
                    let mut header = fields.map(|fields| Header { fields, ..Header::default() });
                    let passage = Router::<Law>::passage(bytes, 0);
                    router.hop.on_receive(&passage, header.as_mut(), router.now);
                }
                Step::Drop(bytes) => router.hop.on_drop(bytes),
                Step::Fire(packets) => router.fire(packets),
                Step::Rate(rate) => router.hop.on_rate(Rate(rate)),
            }
            prop_assert!((1..u32::MAX).contains(&router.hop.share()));
            let (least, most) = CONFIG.intervals;
            prop_assert!(router.hop.interval() >= least && router.hop.interval() <= most);
            prop_assert!(router.due().is_some_and(|due| due.1 > router.now));
            prop_assert!(router.hop.gauges().iter().all(|gauge| gauge.1.is_finite()));
        }
    }

    /// Whatever is echoed, a window is at least a segment.
    #[test]
    fn a_sender_stands_anything(steps in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u32>(), 0u64..100_000), 1..60)) {
        let mut flow = Flow::new(Box::new(Sender::new(airfair_schemes::qfcp::SenderConfig {
            request: u32::MAX,
            rtt: airfair_schemes::explicit::RttChoice::Smoothed,
            paced: true,
            partial_ack: PartialAck::RepairsAndKeeps,
        })));
        flow.start(0);
        for (what, missed, rate, rtt) in steps {
            let window = match what % 4 {
                0 => flow.feedback(&Header { missed, ..echo(rate) }),
                1 => flow.ack(rtt),
                2 => flow.congestion(Timeout, u64::from(rate)),
                _ => flow.congestion(FastLoss, u64::from(rate)),
            };
            prop_assert!(window >= MSS);
        }
    }
}
