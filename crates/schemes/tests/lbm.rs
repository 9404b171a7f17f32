//! LBM against numbers computed by hand from the paper (Siris and Triantafyllidou). The radio's rate is 11 Mbit/s: in 500 ms
//! 5.5 Mbit, 687,500 B, are a utilisation of 1.

use airfair_schemes::lbm::{Adaptation, Curve, INCOMING, Lbm, LbmAgent, LbmMark, Load, Measure, OUTGOING};
use airfair_schemes::places::{
    Agent, AgentEffects, AgentSetup, Aqm, AqmEffects, Capability, Context, Direction, Ecn, FlowBytes, FlowId,
    Interface, LinkUse, LoneExchange, MarkReason, Medium, NodeId, NodeSample, Packet, PacketClass, PacketId,
    Probability, QueueView, Setting, Verdict, Wants,
};
use airfair_schemes::{ParamValue, Params, Scheme, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

const ELEVEN: Rate = Rate::from_mbps(11);
const T_AVG: Span = Span::from_millis(500);

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9
}

fn params(set: &[(&'static str, ParamValue)]) -> Params {
    Params(set.iter().map(|(name, value)| ((*name).to_string(), *value)).collect())
}

fn lbm(set: &[(&'static str, ParamValue)]) -> Lbm {
    Lbm::from_params(&params(set)).unwrap_or_else(|e| panic!("{e}"))
}

const ADAPT: (&str, ParamValue) = ("adapt", ParamValue::Flag(true));

fn number(name: &'static str, value: f64) -> (&'static str, ParamValue) {
    (name, ParamValue::Number(value))
}

/// Packets and bytes per packet in each direction; `delay` of each sent packet, a quarter of it at the head of the MAC.
fn link(sent: (u64, u64), received: (u64, u64), delay: Span) -> LinkUse {
    LinkUse {
        sent_packets: sent.0,
        sent_bytes: sent.0 * sent.1,
        received_packets: received.0,
        received_bytes: received.0 * received.1,
        delay: delay * sent.0,
        access: Span(delay.0 / 4) * sent.0,
    }
}

/// The load of an 11 Mbit/s radio with the defaults of its measures.
const LOAD: Load = Load {
    measure: Measure::Utilisation,
    mean_packet: Bytes(1000),
    access_scale: Span::from_millis(20),
    rate: ELEVEN,
    downlink_only: false,
};

/// Section 2.2: 110 packets of 1000 B down and 100 of 275 B up are 137,500 B, a fifth of what the rate allows in 500 ms.
#[test]
fn the_utilisation_is_that_of_both_directions() {
    let load = LOAD;
    let used = link((110, 1000), (100, 275), Span::ZERO);
    assert!(near(load.of(T_AVG, &used), 0.2));
    assert!(near(load.of(T_AVG * 2, &used), 0.1), "over the interval's length");
    assert!(near(Load { downlink_only: true, ..load }.of(T_AVG, &used), 0.16));
    assert!(near(load.of(T_AVG, &LinkUse::default()), 0.0));
    assert!(near(load.of(Span::ZERO, &used), 0.0));
    assert!(near(Load { rate: Rate(0), ..load }.of(T_AVG, &used), 0.0));
}

/// Section 4. 687.5 packets of 1000 B are a load of 1: 210 packets of any size are 0.3054... A mean of 5 ms at the head of the MAC is a
/// quarter of 20 ms.
#[test]
fn other_measures_of_the_load() {
    let used = link((110, 1000), (100, 275), Span::from_millis(20));
    let packets = Load { measure: Measure::Packets, ..LOAD };
    assert!(near(packets.of(T_AVG, &used), 210.0 / 687.5));
    assert!(near(Load { downlink_only: true, ..packets }.of(T_AVG, &used), 0.16));
    let access = Load { measure: Measure::Access, ..LOAD };
    assert!(near(access.of(T_AVG, &used), 0.25));
    assert!(near(access.of(T_AVG, &link((0, 0), (100, 275), Span::ZERO)), 0.0), "nothing sent says nothing");
    for measure in [Measure::Utilisation, Measure::Packets, Measure::Access] {
        assert_eq!(lbm(&[("measure", ParamValue::Choice(measure.word()))]).measure, measure);
    }
}

/// Section 2.2: `min{alpha (rho - rho_0), 1}`; section 4: its convex and concave forms, which are equal to it at 0 and at 1.
#[test]
fn the_marking_probability_rises_from_rho_0() {
    let p = |alpha, exponent, rho| Curve { alpha, exponent }.probability(rho, 0.2);
    for (rho, expected) in [(0.0, 0.0), (0.19, 0.0), (0.2, 0.0), (0.24, 0.04), (0.7, 0.5), (1.5, 1.0)] {
        assert!(near(p(1.0, 1.0, rho), expected), "{rho}");
    }
    assert!(near(p(5.0, 1.0, 0.24), 0.2));
    assert!(near(p(5.0, 1.0, 0.45), 1.0));
    assert!(near(p(0.0, 1.0, 1.0), 0.0), "no slope, no marks");
    assert!(near(p(1.0, 2.0, 0.7), 0.25), "convex");
    assert!(near(p(1.0, 0.5, 0.24), 0.2), "concave");
    for exponent in [0.5, 1.0, 2.0] {
        assert!(near(p(2.0, exponent, 0.7), 1.0) && near(p(2.0, exponent, 0.1), 0.0));
    }
}

/// Section 2.3 with [10, 15] ms and steps of 0.01, from 0.2.
#[test]
fn rho_0_follows_the_delay() {
    let mut adaptation = Adaptation::new(&lbm(&[ADAPT, number("max_rho0", 1.0)]));
    let mut after = |packets: u64, mean_us: u64| {
        adaptation.update(packets, Span::from_micros(mean_us) * packets);
        adaptation.rho0()
    };
    assert!(near(after(100, 20_000), 0.19), "above d_max it falls");
    assert!(near(after(100, 15_001), 0.18));
    assert!(near(after(100, 15_000), 0.18), "within the target, bounds included, it stays");
    assert!(near(after(100, 12_000), 0.18));
    assert!(near(after(100, 10_000), 0.18));
    assert!(near(after(100, 9_999), 0.19), "below d_min it rises");
    assert!(near(after(0, 0), 0.19), "no packet says nothing");
    for _ in 0..30 {
        after(1, 100_000);
    }
    assert!(near(after(1, 100_000), 0.0), "not below 0");
    for _ in 0..200 {
        after(1, 1_000);
    }
    assert!(near(after(1, 1_000), 1.0), "nor above 1");
}

#[test]
fn without_a_target_rho_0_stays() {
    let mut adaptation = Adaptation::new(&lbm(&[]));
    for mean in [1, 12, 100] {
        adaptation.update(10, Span::from_millis(mean) * 10);
        assert!(near(adaptation.rho0(), 0.2));
    }
}

/// With three windows per step: 2 packets of 40 ms, none, and 8 of 1 ms have a mean of 8.8 ms, below d_min, although the first window
/// alone was above d_max. Then the count restarts.
#[test]
fn rho_0_moves_once_in_so_many_windows() {
    let mut adaptation =
        Adaptation::new(&lbm(&[ADAPT, ("adapt_windows", ParamValue::Integer(3)), number("max_rho0", 0.205)]));
    let windows =
        [(2, 80), (0, 0), (8, 8), (1, 30), (1, 30), (1, 30), (1, 1), (1, 1), (1, 1), (1, 30), (1, 30)];
    let seen: Vec<f64> = windows
        .iter()
        .map(|&(packets, all_ms)| {
            adaptation.update(packets, Span::from_millis(all_ms));
            adaptation.rho0()
        })
        .collect();
    let expected = [0.2, 0.2, 0.205, 0.205, 0.205, 0.195, 0.195, 0.195, 0.205, 0.205, 0.205];
    assert!(seen.iter().zip(expected).all(|(&a, b)| near(a, b)), "{seen:?}");
}

fn packet(class: PacketClass, ecn: Ecn) -> Packet {
    Packet {
        id: PacketId(0),
        flow: FlowId(0),
        destination: NodeId(1),
        next_hop: NodeId(1),
        bytes: 1040,
        class,
        ecn,
        labelled: false,
        own: false,
        enqueued: Time::ZERO,
    }
}

/// An access point's radio, with its random stream.
struct Radio {
    mark: LbmMark,
    random: Stream,
}

impl Radio {
    fn new(outgoing: f64, incoming: f64) -> Self {
        let random = Stream::new(7, "ap", Purpose::Queue);
        let mut new = Self { mark: LbmMark::default(), random };
        for (direction, p) in [(Direction::Outgoing, outgoing), (Direction::Incoming, incoming)] {
            new.mark.apply(Setting::Probability(direction, Probability::new(p)));
        }
        new
    }

    fn sends(&mut self, ecn: Ecn) -> Verdict {
        let mut context = Context { now: Time::ZERO, random: &mut self.random, out: &mut AqmEffects };
        self.mark.on_enqueue(&packet(PacketClass::Data, ecn), &QueueView::default(), &mut context)
    }

    fn receives(&mut self, ecn: Ecn) -> Verdict {
        let mut context = Context { now: Time::ZERO, random: &mut self.random, out: &mut AqmEffects };
        self.mark.on_receive(&packet(PacketClass::Data, ecn), &mut context)
    }
}

/// Each direction has its own probability and name; packets that cannot be marked, or are marked already, pass.
#[test]
fn packets_of_both_directions_are_marked_and_none_dropped() {
    let mut radio = Radio::new(1.0, 0.0);
    assert_eq!(radio.sends(Ecn::Ect), Verdict::Mark(MarkReason(OUTGOING)));
    assert_eq!(radio.receives(Ecn::Ect), Verdict::Pass);
    let mut radio = Radio::new(0.0, 1.0);
    assert_eq!(radio.sends(Ecn::Ect), Verdict::Pass);
    assert_eq!(radio.receives(Ecn::Ect), Verdict::Mark(MarkReason(INCOMING)));
    let mut radio = Radio::new(1.0, 1.0);
    for ecn in [Ecn::NotEct, Ecn::Ce] {
        assert_eq!((radio.sends(ecn), radio.receives(ecn)), (Verdict::Pass, Verdict::Pass));
    }
}

/// Acknowledgements carry no mark (RFC 3168); with `mark_acks` an acknowledgement gets ECN-Echo instead. Other packets are treated as
/// before.
#[test]
fn acknowledgements_echo_if_they_are_to_be_marked() {
    let mut judged = [false, true].map(|mark_acks| {
        let mut radio = Radio::new(1.0, 1.0);
        let mut mark = LbmMark::new(mark_acks, 0.0);
        mark.apply(Setting::Probability(Direction::Incoming, Probability::ONE));
        radio.mark = mark;
        let mut context = Context { now: Time::ZERO, random: &mut radio.random, out: &mut AqmEffects };
        [(PacketClass::Ack, Ecn::NotEct), (PacketClass::Data, Ecn::NotEct), (PacketClass::Data, Ecn::Ect)]
            .map(|(class, ecn)| radio.mark.on_receive(&packet(class, ecn), &mut context))
    });
    let marked = Verdict::Mark(MarkReason(INCOMING));
    assert_eq!(judged[0], [Verdict::Pass, Verdict::Pass, marked]);
    judged[1].reverse();
    assert_eq!(judged[1], [marked, Verdict::Pass, Verdict::Echo(MarkReason(INCOMING))]);
}

/// A target lets rho_0 rise no further than a full cell's load, unless a larger bound is configured.
#[test]
fn rho_0_does_not_drift_in_an_idle_cell() {
    let mut adaptation = Adaptation::new(&lbm(&[ADAPT]));
    for _ in 0..1000 {
        adaptation.update(10, Span::from_millis(10));
    }
    assert!(near(adaptation.rho0(), 0.25), "{}", adaptation.rho0());
}

/// Of 40,000 packets a share of 0.04 is marked, within four standard deviations (0.0039); at 0 none.
#[test]
fn the_share_of_marks_is_the_probability() {
    let marked = |p: f64| {
        let mut radio = Radio::new(p, p);
        let sent = (0..20_000).filter(|_| radio.sends(Ecn::Ect) != Verdict::Pass).count();
        let received = (0..20_000).filter(|_| radio.receives(Ecn::Ect) != Verdict::Pass).count();
        (sent + received) as f64 / 40_000.0
    };
    assert!((marked(0.04) - 0.04).abs() < 0.0039);
    assert!(near(marked(0.0), 0.0) && near(marked(1.0), 1.0));
}

/// An agent of an access point with 11 Mbit/s.
struct AccessPoint {
    agent: LbmAgent,
    random: Stream,
    out: AgentEffects,
}

impl AccessPoint {
    fn new(set: &[(&'static str, ParamValue)]) -> Self {
        let random = Stream::new(3, "ap", Purpose::Agent);
        let mut new = Self { agent: LbmAgent::new(lbm(set)), random, out: AgentEffects::default() };
        let mut context = Context { now: Time::ZERO, random: &mut new.random, out: &mut new.out };
        new.agent.on_start(
            &AgentSetup {
                node: NodeId(0),
                rate: ELEVEN,
                exchange: LoneExchange::default(),
                neighbours: &[],
                sense_margin: None,
            },
            &mut context,
        );
        new
    }

    /// The probabilities of both directions after an interval.
    fn after(&mut self, link: LinkUse) -> [f64; 2] {
        let mut context = Context { now: Time::ZERO, random: &mut self.random, out: &mut self.out };
        self.agent.on_sample(&NodeSample { interval: T_AVG, link, ..NodeSample::default() }, &mut context);
        let of = |setting: Setting| match setting {
            Setting::Probability(_, p) => p.numerator() as f64 / 4_294_967_296.0,
            other => panic!("{other:?}"),
        };
        let settings: Vec<Setting> = self.out.settings.drain(..).collect();
        assert!(matches!(settings[0], Setting::Probability(Direction::Outgoing, _)));
        assert!(matches!(settings[1], Setting::Probability(Direction::Incoming, _)));
        [of(settings[0]), of(settings[1])]
    }

    fn gauge(&self, name: &str) -> f64 {
        self.agent.gauges().iter().find(|gauge| gauge.0 == name).unwrap().1
    }
}

/// 120 packets of 1000 B down, 120 of 375 B up: rho is 0.24, p 0.04 in both directions, whatever the delay.
#[test]
fn an_interval_sets_both_probabilities() {
    let mut ap = AccessPoint::new(&[]);
    assert!(ap.gauge("delay_s").is_nan());
    let busy = link((120, 1000), (120, 375), Span::from_millis(50));
    let marked = ap.after(busy);
    assert!(marked.iter().all(|p| (p - 0.04).abs() < 1e-8), "{marked:?}");
    for (name, value) in [("rho", 0.24), ("rho0", 0.2), ("probability", 0.04), ("delay_s", 0.05)] {
        assert!(near(ap.gauge(name), value), "{name}");
    }
    assert_eq!(
        ap.after(LinkUse::default()),
        [0.0, 0.0],
        "tumbling windows: the next one knows nothing of it"
    );
    assert!(near(ap.gauge("delay_s"), 0.05) && near(ap.gauge("rho"), 0.0));
    let mut deaf = AccessPoint::new(&[("downlink_only", ParamValue::Flag(true)), number("rho0", 0.1)]);
    let [outgoing, incoming] = deaf.after(busy);
    assert!((outgoing - (120.0 / 687.5 - 0.1)).abs() < 1e-8 && incoming == 0.0);
}

/// Links whose rates a law chooses: 1 Mbit/s alone makes eleven times the load of 11 Mbit/s; of two links, one with 11 and one with 1,
/// half of the bits take 1/11 s a Mbit and half 1 s: 11/6 Mbit/s.
#[test]
fn the_load_follows_the_rates_of_links() {
    let mut ap = AccessPoint::new(&[]);
    let window = link((12, 1000), (12, 375), Span::from_millis(5));
    ap.after(window);
    assert!(near(ap.gauge("rho"), 0.024), "nominal: 11 Mbit/s");
    for (neighbour, mbps, rho) in [(1, 11, 0.024), (1, 1, 0.264), (2, 11, 0.144), (1, 11, 0.024)] {
        let exchange = LoneExchange { rate: Rate::from_mbps(mbps), ..LoneExchange::default() };
        let AccessPoint { agent, random, out } = &mut ap;
        agent.on_link_rate(NodeId(neighbour), exchange, &mut Context { now: Time::ZERO, random, out });
        ap.after(window);
        assert!((ap.gauge("rho") - rho).abs() < 1e-7, "{neighbour} {mbps}: {}", ap.gauge("rho"));
    }
}

/// A station that has left does not count, and without stations the rate is the nominal one; of a million stations the last 2007 count.
#[test]
fn the_rates_of_stations_that_have_left_are_forgotten() {
    let mut ap = AccessPoint::new(&[]);
    let mut rho = |stations: core::ops::Range<u32>, mbps, left: Option<&[NodeId]>| {
        let AccessPoint { agent, random, out } = &mut ap;
        let mut context = Context { now: Time::ZERO, random, out };
        for station in stations {
            let exchange = LoneExchange { rate: Rate::from_mbps(mbps), ..LoneExchange::default() };
            agent.on_link_rate(NodeId(station), exchange, &mut context);
        }
        if let Some(left) = left {
            agent.on_neighbours(left, &mut context);
        }
        ap.after(link((12, 1000), (12, 375), Span::from_millis(5)));
        ap.gauge("rho")
    };
    let near = |rho: f64, expected: f64| assert!((rho - expected).abs() < 1e-7, "{rho}, not {expected}");
    near(rho(1..2, 1, None), 0.264);
    near(rho(2..3, 11, None), 0.144);
    near(rho(0..0, 1, Some(&[NodeId(2), NodeId(3)])), 0.024);
    near(rho(1..2, 1, Some(&[NodeId(1)])), 0.264);
    near(rho(0..0, 1, Some(&[])), 0.024);
    rho(0..3_000, 1, None);
    near(rho(3_000..5_007, 11, None), 0.024);
}

/// The probability uses the threshold after its update: 0.24 - 0.19.
#[test]
fn the_threshold_moves_first() {
    let mut ap = AccessPoint::new(&[ADAPT]);
    let [p, _] = ap.after(link((120, 1000), (120, 375), Span::from_millis(50)));
    assert!((p - 0.05).abs() < 1e-8, "{p}");
    assert!(near(ap.gauge("rho0"), 0.19));
}

/// LBM marks at an access point's radio; wires have RED with ECN; other interfaces have no AQM.
#[test]
fn only_access_points_and_wires_act() {
    let red = |scheme: &dyn Scheme, at: &Interface| {
        let Some(mut aqm) = scheme.aqm(at) else { return false };
        let mut random = Stream::new(1, "wire", Purpose::Queue);
        let full = QueueView { packets: 10, bytes: 10_000, limit_packets: 50 };
        // RED's average passes min_th, 5 packets, after some 350 arrivals at a queue of 10.
        (0..5_000).any(|_| {
            let mut context = Context { now: Time::ZERO, random: &mut random, out: &mut AqmEffects };
            let verdict = aqm.on_enqueue(&packet(PacketClass::Data, Ecn::Ect), &full, &mut context);
            verdict == Verdict::Mark(MarkReason("red-early"))
        })
    };
    let built = lbm(&[]);
    for at in Interface::all_kinds() {
        let (radio, ap) = (at.medium == Medium::Radio, at.access_point);
        assert_eq!(built.agent(&at).is_some(), radio && ap, "{at:?}");
        let wants = built.wants(&at);
        let ecn = Wants::of(&[Capability::Ecn]);
        let subscribed = ecn.and(&[Capability::LinkUse, Capability::Received]).samples_every(T_AVG);
        let expected = if radio && ap { subscribed } else { ecn };
        // An estimate of the delay does: the target of `adapt` is a range.
        let adapting = lbm(&[("adapt", ParamValue::Flag(true))]).wants(&at);
        assert_eq!(adapting, expected.and_if(radio && ap, Capability::LinkTimes));
        let deaf = lbm(&[("downlink_only", ParamValue::Flag(true))]).wants(&at);
        assert!(!deaf.has(Capability::Received) && deaf.has(Capability::LinkUse) == (radio && ap), "{at:?}");
        assert_eq!(wants, expected, "{at:?}: packets that cannot be marked are left alone everywhere");
        assert_eq!(built.aqm(&at).is_some(), !radio || ap, "{at:?}");
        assert_eq!(red(&built, &at), !radio, "{at:?}");
        let drop_tail = lbm(&[("wired_red", ParamValue::Flag(false))]);
        assert_eq!(drop_tail.aqm(&at).is_some(), radio && ap, "{at:?}");
    }
}

/// RED's average ages by the packets of 1000 B that the wire could have sent while it was idle: at 8 kbit/s (a second each) 10 s are 10
/// packets, and an average of 10 stays above min_th; at 100 Mbit/s they are 125,000 packets, and the average is 0.
#[test]
fn reds_clock_is_that_of_the_wire() {
    let marks = |rate: Rate| {
        let wire = Interface { medium: Medium::Wire, access_point: true, rate, ..Interface::radio(50) };
        let mut aqm = lbm(&[]).aqm(&wire).unwrap();
        let mut random = Stream::new(1, "wire", Purpose::Queue);
        let data = packet(PacketClass::Data, Ecn::Ect);
        let mut arrive = |packets: u32, seconds: u64, last: bool| {
            let now = Time(seconds * 1_000_000_000);
            let mut context = Context { now, random: &mut random, out: &mut AqmEffects };
            let queue = QueueView { packets, bytes: 0, limit_packets: 50 };
            if last {
                aqm.on_dequeue(&data, &QueueView { packets: 1, ..queue }, &mut context);
            }
            aqm.on_enqueue(&data, &queue, &mut context)
        };
        for _ in 0..5_000 {
            arrive(10, 0, false);
        }
        arrive(10, 0, true);
        (0..200).any(|_| arrive(0, 10, false) != Verdict::Pass)
    };
    assert!(marks(Rate(8_000)));
    assert!(!marks(Rate::from_mbps(100)));
}

#[test]
fn parameters_that_contradict_each_other_are_refused() {
    let problem =
        |set: &[(&'static str, ParamValue)]| Lbm::from_params(&params(set)).unwrap_err().to_string();
    let ms = |n| ParamValue::Span(Span::from_millis(n));
    assert_eq!(problem(&[("min_delay", ms(20))]), "min_delay is above max_delay");
    assert_eq!(problem(&[ADAPT, number("max_rho0", 0.19)]), "rho0 is above max_rho0");
    assert_eq!(problem(&[ADAPT, number("rho0", 0.3)]), "rho0 is above max_rho0");
    assert!(Lbm::from_params(&params(&[number("rho0", 0.3)])).is_ok(), "a threshold that stays has no bound");
    assert_eq!(
        problem(&[("measure", ParamValue::Choice("noise"))]),
        "measure: expected one of utilisation, packets, access"
    );
    assert!(Lbm::from_params(&params(&[("min_delay", ms(15)), number("max_rho0", 0.2)])).is_ok());
    assert!(find("lbm").is_some());
}

proptest! {
    /// For any counters: probabilities are within 0 and 1 and rho_0 within its bounds; a load is never negative, and the load of both
    /// directions is the sum of their loads.
    #[test]
    fn nothing_leaves_its_range(
        windows in prop::collection::vec((0u64..5_000, 0u64..1_500, 0u64..5_000, 0u64..10_000_000), 1..60),
        rho0 in 0.0..=0.5f64,
        alpha in 0.0..=1000.0f64,
        curve in 0.1..=10.0f64,
        step in 0.0..=1.0f64,
        measure in prop::sample::select(Measure::WORDS),
    ) {
        let mut ap = AccessPoint::new(&[
            ADAPT,
            number("rho0", rho0),
            number("alpha", alpha),
            number("curve", curve),
            number("step", step),
            number("max_rho0", 0.5),
            ("measure", ParamValue::Choice(measure)),
        ]);
        for (sent, bytes, received, delay_us) in windows {
            let used = link((sent, bytes), (received, bytes), Span::from_micros(delay_us));
            let [outgoing, incoming] = ap.after(used);
            prop_assert!((0.0..=1.0).contains(&outgoing) && outgoing == incoming);
            prop_assert!((0.0..=0.5).contains(&ap.gauge("rho0")));
            prop_assert!(ap.gauge("rho") >= 0.0);
            let load = LOAD;
            let down = Load { downlink_only: true, ..load }.of(T_AVG, &used);
            let up = load.of(T_AVG, &link((0, 0), (received, bytes), Span::ZERO));
            prop_assert!((load.of(T_AVG, &used) - down - up).abs() < 1e-9);
        }
    }
}

/// Two downloads, one with three times the bytes of the other: 1.5 and 0.5 of the mean, with an exponent of 2 factors of 2.25 and 0.25. Of
/// p = 0.2 that is 0.45 and 0.05 of the packets, within four standard deviations of 20,000 and 60,000 draws (0.0062 and 0.0081). An
/// acknowledgement is no part of a flow's rate.
#[test]
fn marks_follow_the_rates_of_flows() {
    let mut mark = LbmMark::new(false, 2.0);
    let mut random = Stream::new(7, "ap", Purpose::Queue);
    let (mut sent, mut marked) = ([0_u32; 2], [0_u32; 2]);
    for window in 0..20_020 {
        for (flow, class) in [
            (0, PacketClass::Data),
            (1, PacketClass::Data),
            (0, PacketClass::Data),
            (0, PacketClass::Data),
            (1, PacketClass::Ack),
        ] {
            let mut context = Context { now: Time::ZERO, random: &mut random, out: &mut AqmEffects };
            let ecn = if class == PacketClass::Data { Ecn::Ect } else { Ecn::NotEct };
            let packet = Packet { flow: FlowId(flow), ..packet(class, ecn) };
            let verdict = mark.on_enqueue(&packet, &QueueView::default(), &mut context);
            if window >= 20 && class == PacketClass::Data {
                sent[flow as usize] += 1;
                marked[flow as usize] += u32::from(verdict != Verdict::Pass);
            }
        }
        mark.apply(Setting::Probability(Direction::Outgoing, Probability::new(0.2)));
    }
    let [large, small] = [0, 1].map(|flow| f64::from(marked[flow]) / f64::from(sent[flow]));
    assert!((large - 0.45).abs() < 0.0081 && (small - 0.05).abs() < 0.0062, "{large} {small}");
}

/// A host that judges packets elsewhere counts the bytes of each flow instead: the factors are the same, 2.25 and 0.25, and 1 for a flow of
/// which nothing is known. Without an exponent there are none.
#[test]
fn factors_are_the_same_by_bytes_that_a_host_has_counted() {
    let (mut by_packets, mut by_bytes) = (LbmMark::new(false, 2.0), LbmMark::new(false, 2.0));
    let mut random = Stream::new(7, "ap", Purpose::Queue);
    for _ in 0..5 {
        for flow in [0, 1, 0, 0] {
            let mut context = Context { now: Time::ZERO, random: &mut random, out: &mut AqmEffects };
            let packet = Packet { flow: FlowId(flow), ..packet(PacketClass::Data, Ecn::Ect) };
            by_packets.on_enqueue(&packet, &QueueView::default(), &mut context);
        }
        by_bytes.count_flow(FlowId(0), &FlowBytes { data: [3 * 1040, 5], answers: [0, 99_999] });
        by_bytes.count_flow(FlowId(1), &FlowBytes { data: [0, 1040], answers: [0, 0] });
        by_bytes.count_flow(FlowId(2), &FlowBytes { data: [0, 0], answers: [77, 0] });
        for mark in [&mut by_packets, &mut by_bytes] {
            mark.apply(Setting::Probability(Direction::Outgoing, Probability::new(0.2)));
        }
    }
    let factors = |mark: &LbmMark| [0, 1, 2, FlowId::NONE.0].map(|flow| mark.flow_factor(FlowId(flow)));
    assert_eq!(factors(&by_packets), [2.25, 0.25, 1.0, 1.0]);
    assert_eq!(factors(&by_bytes), factors(&by_packets));
    assert_eq!(factors(&LbmMark::new(false, 0.0)), [1.0; 4]);
}

/// Frames of others to others for a fifth of each interval, in an average that moves by a tenth: 0.02 after one interval, 0.038 after two,
/// more than 0.03. Frames for the access point are not foreign.
#[test]
fn nothing_is_marked_in_foreign_air() {
    let mut ap = AccessPoint::new(&[number("most_foreign", 0.03)]);
    let busy = link((120, 1000), (120, 375), Span::from_millis(50));
    let ms = Span::from_millis;
    let mut sample = NodeSample { interval: T_AVG, link: busy, ..NodeSample::default() };
    sample.airtime.receive = ms(200);
    sample.receive_own = ms(150);
    sample.airtime.busy = ms(30);
    sample.airtime.nav = ms(20);
    assert!(near(sample.foreign(), 0.2));
    let mut marks = || {
        let mut context = Context { now: Time::ZERO, random: &mut ap.random, out: &mut ap.out };
        ap.agent.on_sample(&sample, &mut context);
        ap.out.settings.drain(..).all(|setting| {
            setting == Setting::Probability(Direction::Outgoing, Probability::ZERO)
                || setting == Setting::Probability(Direction::Incoming, Probability::ZERO)
        })
    };
    assert_eq!([marks(), marks(), marks()], [false, true, true]);
    assert!(
        lbm(&[number("most_foreign", 0.03)])
            .wants(&Interface { access_point: true, ..Interface::radio(50) })
            .has(Capability::Airtime)
    );
}
