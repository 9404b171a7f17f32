//! DiffQ over MORE: which flow is served, at which level, and what sources are granted.

use airfair_schemes::diffq::scheduler::{Quantiser, Rounding, Serve};
use airfair_schemes::diffq::sender::{AlphaBy, Counts, Law, SenderConfig, Steps};
use airfair_schemes::more::decoder::Decoder;
use airfair_schemes::more::node::{self, MoreNode};
use airfair_schemes::opportunistic::backpressure::{Backlogged, Backpressure, BackpressureConfig};
use airfair_schemes::places::{Capability, Interface, Made, Medium, NodeId, Priority};
use airfair_schemes::{ParamValue, Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};
use airfair_wire::Flow;
use airfair_wire::diffq::{Trailer, Type};
use airfair_wire::more::{CodedView, Credit, Forwarder, Forwarders};

use crate::driven::sent_by_a_source;

const STEP: Span = Span::from_millis(10);

fn config(serve: Serve) -> BackpressureConfig {
    let sender = SenderConfig {
        law: Law::Aimd,
        steps: Steps::Interval,
        threshold: 25,
        alpha: 0.0,
        beta: 0.5,
        interval: STEP,
        hold: Span::from_millis(100),
        rates: [80_000.0, 11e6],
        only_used: false,
        log_rate: 1e6,
        counts: Counts::All,
        alpha_by: AlphaBy::Fixed,
        gain: 0.0,
        quiet: Span::ZERO,
        limited_for: Span::ZERO,
    };
    let quantiser = Quantiser { levels: 8, depth: 100, rounding: Rounding::Up };
    BackpressureConfig { sender, quantiser, serve, sizes: 16, expiry: Span::from_secs(1) }
}

fn flow(flow: u32, destination: u32) -> Flow {
    Flow { flow, source: 1, destination }
}

/// Node 1 has been granted so many packets for each of these flows, whose one forwarder is node 5.
fn source(granted: &[(Flow, u32)]) -> MoreNode {
    let mut node = MoreNode::new(1, node::MoreConfig { granted: true, ..node::MoreConfig::default() });
    for &(flow, packets) in granted {
        let forwarders = Forwarders::new([Forwarder { node: 5, credit: Credit::of(1.0) }].into_iter());
        assert!(node.begin_as(0, flow, Decoder::full(32), forwarders, Time::ZERO));
        assert!(node.grant(&flow, packets));
    }
    node
}

fn announce(law: &mut Backpressure, flow: &Flow, queue: u16) {
    let trailer = Trailer {
        kind: Type::SourceRouted,
        written: 1,
        queue,
        flow: flow.flow,
        sent_us: 0,
        longest: 0,
        number: 0,
    };
    let mut bytes = [0; 16];
    trailer.encode(&mut bytes).unwrap();
    law.hear(NodeId(5), flow, &bytes, Time::ZERO);
}

/// Broadcasts of a node are numbered, whatever their flows; a backlog beyond what a trailer can say is the largest that it can.
#[test]
fn what_a_broadcast_announces() {
    let mut law = Backpressure::new(config(Serve::Always));
    let mut said = Vec::new();
    for (f, left, at) in [(flow(1, 9), 7, 2000), (flow(2, 8), 70_000, 5_000_500), (flow(1, 9), 0, 6000)] {
        let trailer = Trailer::decode(&law.trailer(&f, left, Time(at))).unwrap().0;
        assert_eq!((trailer.kind, trailer.written), (Type::SourceRouted, 1));
        said.push((trailer.flow, trailer.queue, trailer.sent_us, trailer.number));
    }
    assert_eq!(said, [(1, 7, 2, 0), (2, 65_535, 5000, 1), (1, 0, 6, 2)]);
}

/// Flows with 30 and 20 packets, the forwarder with 25 for the first: differentials of 5 and 20, of which the second is at level 2 (of 8
/// for 100 packets, rounded up). A second later the forwarder's word has expired: 30 is at level 3.
#[test]
fn the_largest_differential_is_served() {
    let [f, g] = [flow(1, 9), flow(2, 8)];
    let (node, mut law) = (source(&[(f, 30), (g, 20)]), Backpressure::new(config(Serve::Always)));
    announce(&mut law, &f, 25);
    let at = |time| law.next(&node, time);
    assert_eq!(at(Time::ZERO), Some((g, Priority(2))));
    assert_eq!(at(Time::ZERO + Span::from_millis(1001)), Some((f, Priority(3))));
}

/// A flow whose forwarder has more than the node itself is served, at level 0; under the theory of backpressure it waits.
#[test]
fn a_flow_without_a_differential_is_served_or_waits() {
    let f = flow(1, 9);
    let next = |serve, queue| {
        let (node, mut law) = (source(&[(f, 10)]), Backpressure::new(config(serve)));
        announce(&mut law, &f, queue);
        law.next(&node, Time::ZERO)
    };
    for queue in [10, 40] {
        assert_eq!(next(Serve::Always, queue), Some((f, Priority(0))));
        assert_eq!(next(Serve::Positive, queue), None);
    }
    assert_eq!(next(Serve::Positive, 9), Some((f, Priority(1))));
}

/// Of equal differentials each has its turn; a larger one has it whoever sent last.
#[test]
fn equal_differentials_take_turns() {
    let [f, g, h] = [flow(1, 9), flow(2, 8), flow(3, 7)];
    let (mut node, law) = (source(&[(f, 30), (g, 30), (h, 30)]), Backpressure::new(config(Serve::Always)));
    let mut random = Stream::new(1, "backpressure", Purpose::Agent);
    let mut sent = Vec::new();
    for _ in 0..7 {
        let (next, _) = law.next(&node, Time::ZERO).unwrap();
        // What was sent is granted again: all stay equal.
        assert!(node.make(&next, &mut random).is_some() && node.grant(&next, 1));
        sent.push(next);
    }
    assert_eq!(sent, [f, g, h, f, g, h, f]);
    assert!(node.grant(&f, 1));
    assert_eq!(law.next(&node, Time::ZERO), Some((f, Priority(3))));
}

/// 80 kbit/s are ten packets of 1000 B a second. Where the first of them falls is drawn, and so is a node's first step.
#[test]
fn what_a_rate_grants_begins_at_a_drawn_time() {
    let f = flow(1, 9);
    let mut firsts = Vec::new();
    let mut phases = Vec::new();
    for seed in 0..200 {
        let mut random = Stream::new(seed, "backpressure", Purpose::Agent);
        let (mut node, mut law) = (source(&[(f, 0)]), Backpressure::new(config(Serve::Always)));
        let mut now = law.first_step(Time::ZERO, &mut random);
        phases.push(now);
        law.start(f, Bytes(1000), Time::ZERO, &mut random);
        let mut times = Vec::new();
        while now < Time::ZERO + Span::from_secs(2) {
            law.step(&mut node, now);
            times.resize(node.backlog(&f) as usize, now);
            now += STEP;
        }
        assert!((19..=21).contains(&times.len()), "{}", times.len());
        firsts.push(times[0]);
    }
    let mean = |times: &[Time]| times.iter().map(|time| time.as_secs_f64()).sum::<f64>() / 200.0;
    assert!(phases.iter().all(|&phase| phase < Time::ZERO + STEP));
    // Uniform in 10 ms and in a packet's time of 100 ms, within four standard errors; a grant waits for the next step.
    assert!((mean(&phases) - 0.005).abs() < 4.0 * 0.01 / (12.0f64 * 200.0).sqrt(), "{}", mean(&phases));
    assert!((mean(&firsts) - 0.055).abs() < 4.0 * 0.1 / (12.0f64 * 200.0).sqrt(), "{}", mean(&firsts));
}

/// Without DiffQ a station has one priority, with it as many as levels; at a wire there is no forwarder, and nothing is wanted.
#[test]
fn what_radios_are_to_offer() {
    for (name, levels, most) in [("more", None, 0), ("diffq-more", None, 7), ("diffq-more", Some(3), 2)] {
        let set = levels.map(|levels| ("levels".to_string(), ParamValue::Integer(levels)));
        let scheme = (find(name).unwrap().build)(&Params(set.into_iter().collect())).unwrap();
        let radio = scheme.wants(&Interface::radio(50));
        let wanted = [Capability::LoneRadio, Capability::Overheard, Capability::DeliveryRatios];
        assert_eq!((wanted.map(|it| radio.has(it)), radio.priority()), ([true; 3], Priority(most)), "{name}");
        let wire = Interface { medium: Medium::Wire, ..Interface::radio(50) };
        assert!(scheme.agent(&wire).is_none());
        let wire = scheme.wants(&wire);
        assert_eq!((wanted.map(|it| wire.has(it)), wire.priority()), ([false; 3], Priority(0)), "{name}");
    }
}

/// A source that does not come to send is granted a queue of D packets, here 100, however long it waits: what is above would be dropped
/// there.
#[test]
fn no_more_than_a_queue_is_granted() {
    let f = flow(1, 9);
    let (mut node, mut law) = (source(&[(f, 0)]), Backpressure::new(config(Serve::Always)));
    let mut random = Stream::new(1, "backpressure", Purpose::Agent);
    law.start(f, Bytes(1000), Time::ZERO, &mut random);
    // 80 kbit/s are a hundred packets in ten seconds.
    for (seconds, granted) in [(8, 80..=81), (16, 100..=100), (40, 100..=100)] {
        law.step(&mut node, Time::ZERO + Span::from_secs(seconds));
        assert!(granted.contains(&node.backlog(&f)), "{} after {seconds} s", node.backlog(&f));
    }
}

/// A source of MORE sends whenever it may, here each 10 ms; one under DiffQ at its rate: 100 kbit/s, which do not grow here, are 25 packets
/// of 1000 B in two seconds, the first of them within a packet's time.
#[test]
fn a_source_sends_at_the_rate_that_diffq_grants() {
    assert_eq!(sent_by_a_source("more", &[("batch", ParamValue::Integer(4))], 4, 200).0.len(), 200);
    let set = [("batch", ParamValue::Integer(4)), ("alpha", ParamValue::Rate(Rate(0)))];
    let sent = sent_by_a_source("diffq-more", &set, 4, 200).0.len();
    assert!((24..=26).contains(&sent), "{sent}");
}

/// By packets a source gains alpha, here 1 kbit/s, with each that it sends.
#[test]
fn each_packet_of_a_source_is_a_step_of_the_law() {
    let set = [
        ("batch", ParamValue::Integer(4)),
        ("steps", ParamValue::Choice("packets")),
        ("rate_start", ParamValue::Rate(Rate(400_000))),
        ("alpha", ParamValue::Rate(Rate(1000))),
    ];
    let (sent, rate) = sent_by_a_source("diffq-more", &set, 4, 100);
    assert!(sent.len() > 40, "{}", sent.len());
    // Each carries a trailer, by its number.
    let rest = |made: &Made| Trailer::decode(CodedView::decode(&made.header).unwrap().1).unwrap().0.number;
    assert!((0..).zip(&sent).all(|(number, made)| rest(made) == number));
    assert_eq!(rate, 400_000.0 + 1000.0 * sent.len() as f64);
}

/// A source sends a packet a second at least, whatever its first rate: 8 kbit/s with packets of 1000 B.
#[test]
fn a_rate_is_a_packet_a_second_at_least() {
    let mut config = config(Serve::Always);
    config.sender.rates[0] = 1000.0;
    let mut law = Backpressure::new(config);
    law.start(flow(1, 9), Bytes(1000), Time::ZERO, &mut Stream::new(1, "backpressure", Purpose::Agent));
    assert_eq!(law.gauges()[0], 8000.0);
}

/// With steps of a second a source's packets are granted one by one all the same, ten a second; the law runs once a second, from a time in
/// the first one on: two steps of 80 kbit/s make 240 kbit/s, thirty packets a second, after the second of them.
#[test]
fn a_long_interval_grants_packets_one_by_one() {
    let f = flow(1, 9);
    for seed in 0..20 {
        let mut random = Stream::new(seed, "backpressure", Purpose::Agent);
        let mut config = config(Serve::Always);
        (config.sender.interval, config.sender.alpha) = (Span::from_secs(1), 80_000.0);
        config.sender.threshold = 1000;
        let (mut node, mut law) = (source(&[(f, 0)]), Backpressure::new(config));
        let mut now = law.first_step(Time::ZERO, &mut random);
        assert!(now < Time::ZERO + STEP);
        law.start(f, Bytes(1000), Time::ZERO, &mut random);
        let (mut rates, mut before) = (Vec::new(), 0);
        while now < Time::ZERO + Span::from_millis(1990) {
            let next = law.step(&mut node, now);
            assert!(node.backlog(&f) <= before + 1);
            before = node.backlog(&f);
            rates.push(law.gauges()[0]);
            assert_eq!(next, now + STEP);
            now = next;
        }
        let steps = rates.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(matches!(steps, 1 | 2), "{steps}");
        assert_eq!(rates.last(), Some(&240_000.0));
    }
}

/// By packets the law is called for those that the source sends: what is granted and waits gains nothing. With a threshold of 0 a packet
/// behind which none waits gains alpha, and one behind which some do loses half.
#[test]
fn by_packets_the_law_is_called_for_what_is_sent() {
    let f = flow(1, 9);
    let mut random = Stream::new(1, "backpressure", Purpose::Agent);
    let mut config = config(Serve::Always);
    config.sender = SenderConfig { steps: Steps::Packets, threshold: 0, alpha: 40_000.0, ..config.sender };
    let (mut node, mut law) = (source(&[(f, 0)]), Backpressure::new(config));
    law.start(f, Bytes(1000), Time::ZERO, &mut random);
    (0..30).for_each(|step| _ = law.step(&mut node, Time::ZERO + Span(step * STEP.0)));
    assert!(node.backlog(&f) >= 2, "80 kbit/s for 0.3 s");
    let mut rates = vec![law.gauges()[0]];
    while node.make(&f, &mut random).is_some() {
        law.sent(&node, &f, Time::ZERO + Span::from_millis(300));
        rates.push(law.gauges()[0]);
    }
    law.sent(&node, &flow(3, 9), Time::ZERO + Span::from_secs(2));
    assert_eq!(rates.first(), Some(&80_000.0));
    // Halved once within the 100 ms for which a decrease holds.
    assert!(rates[1..rates.len() - 1].iter().all(|&rate| rate == 40_000.0), "{rates:?}");
    assert_eq!((rates.last(), law.gauges()[0]), (Some(&80_000.0), 80_000.0));
}
