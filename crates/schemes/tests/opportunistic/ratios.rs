//! Where delivery ratios come from: the timer of probes, and what is sent.

use airfair_schemes::opportunistic::probes::ProbesConfig;
use airfair_schemes::opportunistic::ratios::Ratios;
use airfair_schemes::places::{
    AgentContext, AgentEffects, AgentSetup, DeliveryRatios, Destination, Interface, LoneExchange, NodeId,
    SendRate, Timer, Transmit,
};
use airfair_schemes::{ParamValue, Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Db, Rate, Span, Time};
use airfair_wire::probe::{List, Probe};

const CONFIG: ProbesConfig = ProbesConfig {
    interval: Span::from_secs(1),
    window: 10,
    bytes: 1472,
    expiry: Span::from_secs(30),
    nodes: 8,
};
const PROBE: Timer = Timer(100);

/// The first probe of a node falls somewhere in the first interval, and each further one an interval later, more or less a tenth of it: so
/// nodes that start together do not send together, nor for ever. Probes go to all, as data are sent, ahead of what waits.
#[test]
fn probes_are_sent_at_drawn_times() {
    let (mut firsts, mut gaps) = (Vec::new(), Vec::new());
    for seed in 0..500 {
        let mut random = Stream::new(seed, "ratios", Purpose::Agent);
        let mut ratios = Ratios::new(Some(CONFIG));
        let mut out = AgentEffects::default();
        ratios.start(NodeId(1), &mut AgentContext { now: Time::ZERO, random: &mut random, out: &mut out });
        let mut now = Time::ZERO;
        for probe in 0..5 {
            let [(PROBE, next)] = out.timers[..] else { panic!("{:?}", out.timers) };
            if probe == 0 { &mut firsts } else { &mut gaps }.push(next.since(now).as_secs_f64());
            now = next;
            out = AgentEffects::default();
            let mut context = AgentContext { now, random: &mut random, out: &mut out };
            assert!(!ratios.on_timer(Timer(1), &mut context), "another's timer");
            assert!(ratios.on_timer(PROBE, &mut context));
            let [sent] = &out.messages[..] else { panic!("{:?}", out.messages) };
            let transmit = Transmit { rate: SendRate::Data, power_offset: Db(0.0) };
            assert_eq!((sent.to, sent.ahead, sent.transmit), (Destination::Broadcast, true, Some(transmit)));
            assert_eq!(sent.bytes.len(), 1472);
        }
    }
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    // Within four standard errors of a uniform draw from 1 s, and from 0.2 s.
    assert!(firsts.iter().all(|first| (0.0..1.0).contains(first)));
    assert!((mean(&firsts) - 0.5).abs() < 4.0 * 1.0 / (12.0 * 500.0_f64).sqrt(), "{}", mean(&firsts));
    assert!(gaps.iter().all(|gap| (0.9..=1.1).contains(gap)));
    assert!((mean(&gaps) - 1.0).abs() < 4.0 * 0.2 / (12.0 * 2500.0_f64).sqrt(), "{}", mean(&gaps));
    let [least, most] = [f64::min, f64::max].map(|of| gaps.iter().copied().reduce(of).unwrap());
    assert!(least < 0.91 && most > 1.09, "{least} to {most}");
}

/// Without probes ratios are those that the simulator tells last, and nothing is sent.
#[test]
fn ratios_that_are_told() {
    let mut random = Stream::new(1, "ratios", Purpose::Agent);
    let (mut ratios, mut out) = (Ratios::new(None), AgentEffects::default());
    let mut context = AgentContext { now: Time::ZERO, random: &mut random, out: &mut out };
    ratios.start(NodeId(1), &mut context);
    assert!(!ratios.on_timer(PROBE, &mut context) && !ratios.on_message(NodeId(2), &[0x13], Time::ZERO));
    assert!(out.timers.is_empty() && out.messages.is_empty() && ratios.gauges().is_empty());
    for ratio in [0.5, 0.25] {
        ratios.set_given(&DeliveryRatios::new([1, 2].map(NodeId), [(0, 1, ratio)]));
        assert_eq!(ratios.losses(Time::ZERO).loss(NodeId(1), NodeId(2)), 1.0 - ratio);
    }
}

/// A node's measurements count for `probe_expiry`, 30 s, and for three intervals at least: with a probe each 20 s for a minute.
#[test]
fn ratios_count_for_three_intervals_at_least() {
    for (interval, expiry) in [(1, 30), (20, 60)] {
        let set = [
            ("ratios", ParamValue::Choice("probes")),
            ("probe_interval", ParamValue::Span(Span::from_secs(interval))),
        ];
        let set = Params(set.map(|(name, value)| (name.to_string(), value)).into());
        let scheme = (find("more").unwrap().build)(&set).unwrap();
        let mut agent = scheme.agent(&Interface::radio(50)).unwrap();
        let mut random = Stream::new(1, "ratios", Purpose::Agent);
        let mut out = AgentEffects::default();
        let mut known = |at| {
            let now = Time::ZERO + Span::from_millis(at);
            let mut context = AgentContext { now, random: &mut random, out: &mut out };
            if at == 0 {
                let setup = AgentSetup {
                    node: NodeId(1),
                    rate: Rate(11_000_000),
                    exchange: LoneExchange::default(),
                    neighbours: &[],
                    sense_margin: None,
                };
                agent.on_start(&setup, &mut context);
                let probe = Probe::new(0, vec![List::new(5, 1, 0, std::iter::empty())]);
                let mut bytes = vec![0; probe.wire_len()];
                probe.encode(&mut bytes).unwrap();
                agent.on_message(NodeId(2), &bytes, true, &mut context);
            }
            agent.on_timer(PROBE, &mut context);
            // An IP packet of 1500 B.
            assert!(context.out.messages.iter().all(|message| message.bytes.len() == 1472));
            agent.gauges().into_iter().find(|(name, _)| *name == "probe_nodes").unwrap().1
        };
        known(0);
        let before = known(1000 * expiry - 1);
        assert_eq!(known(1000 * expiry), before - 1.0, "{interval} s");
    }
}
