//! §4.1, source rate control: rates step by step, with numbers computed by hand.

use airfair_schemes::ParamValue::{Choice as Word, Integer, Number, Rate as Speed, Span as Length};
use airfair_schemes::places::{
    Allowance, Calls, Congestion, CongestionCause, FlowSetup, Header, Interface, Sent, Source, SourceContext,
    SourceEffects, Timer, Waiting,
};
use airfair_schemes::{ParamValue, Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

use super::build;

/// A source whose steps are called as its host calls them.
struct Flow {
    source: Box<dyn Source>,
    now: Time,
    random: Stream,
    out: SourceEffects,
    /// The time between the last two steps.
    interval: Span,
}

impl Flow {
    /// A flow over UDP with packets of `bytes`.
    fn with_packets(bytes: u64, set: &[(&str, ParamValue)]) -> Self {
        Self::of(build("diffq", set).udp().unwrap().source, bytes)
    }

    fn new(set: &[(&str, ParamValue)]) -> Self {
        Self::with_packets(1000, set)
    }

    fn of(source: Box<dyn Source>, bytes: u64) -> Self {
        let random = Stream::new(1, "flow", Purpose::Source);
        let (now, out) = (Time(3_000_000_000), SourceEffects::default());
        let mut flow = Self { source, now, random, out, interval: Span::ZERO };
        let setup = FlowSetup {
            mss: Bytes(bytes),
            headers: Bytes(40),
            initial_window: Bytes(4 * bytes),
            window_limit: Bytes(u64::MAX),
            rtt: None,
            syn_lost: false,
            link: None,
        };
        flow.hook(|source, context| source.on_start(&setup, context));
        flow
    }

    fn hook(&mut self, hook: impl FnOnce(&mut dyn Source, &mut SourceContext<'_>)) {
        let Self { source, now, random, out, .. } = self;
        hook(&mut **source, &mut SourceContext { now: *now, random, out });
        let timers: Vec<_> = self.out.timers.drain(..).collect();
        assert_eq!(timers.len(), 1, "a step is always due");
        assert_eq!(timers[0].0, Timer(1));
        self.interval = timers[0].1.since(self.now);
        assert!(self.out.is_empty());
    }

    /// A step with this many packets in the queue of the flow's destination. Returns the new rate, bit/s.
    fn step(&mut self, packets: u32) -> u64 {
        self.now += self.interval;
        self.source.on_own_queue(&Waiting { all: packets, own: packets, at: None, calls: Calls::default() });
        self.hook(|source, context| source.on_timer(Timer(1), context));
        self.rate()
    }

    fn steps(&mut self, packets: &[u32]) -> Vec<u64> {
        packets.iter().map(|&packets| self.step(packets)).collect()
    }

    fn rate(&self) -> u64 {
        let Allowance { window, rate, quantum } = self.source.allowance(self.now);
        assert_eq!((window, quantum), (None, None), "no window");
        rate.unwrap().0
    }
}

/// 100 kbit/s at first, 10 kbit/s more after each 10 ms: 1 Mbit/s in a second.
#[test]
fn a_rate_rises_while_the_queue_is_short() {
    let mut flow = Flow::new(&[]);
    assert_eq!(flow.rate(), 100_000);
    assert_eq!(flow.interval, Span::from_millis(10));
    assert_eq!(flow.steps(&[0, 1, 24, 25]), [110_000, 120_000, 130_000, 140_000]);
    for _ in 0..96 {
        flow.step(0);
    }
    assert_eq!(flow.rate(), 1_100_000);
}

/// QUEUE_THRESH = 25: a queue of 26 packets is longer than that, a queue of 25 is not.
#[test]
fn a_rate_falls_at_26_packets_and_not_at_25() {
    let mut flow = Flow::new(&[]);
    assert_eq!(flow.step(25), 110_000);
    assert_eq!(flow.step(26), 55_000);
    assert_eq!(flow.step(25), 65_000);
}

/// After a decrease at 0 ms those at 10 to 90 ms are held, and nothing is added; the next is at 100 ms.
#[test]
fn a_decrease_is_repeated_after_the_hold() {
    let mut flow = Flow::new(&[]);
    let rates = flow.steps(&[26; 21]);
    assert_eq!(rates[..10], [50_000; 10]);
    assert_eq!(rates[10..20], [25_000; 10]);
    assert_eq!(rates[20], 12_500);
    // A short queue within the hold lets the rate rise, and does not end the hold.
    let mut flow = Flow::new(&[]);
    assert_eq!(flow.steps(&[26, 0, 26, 26]), [50_000, 60_000, 60_000, 60_000]);
    assert_eq!(flow.steps(&[26, 26, 26, 26, 26, 26, 26])[5..], [60_000, 30_000]);
    // Without a hold each step halves it, as printed.
    let mut flow = Flow::new(&[("hold", Length(Span::ZERO))]);
    assert_eq!(flow.steps(&[26, 26, 26]), [50_000, 25_000, 12_500]);
}

/// The least rate is a packet a second: 8000 bit/s for 1000 B, 64 bit/s for 8 B.
#[test]
fn a_rate_has_a_floor_of_a_packet_a_second() {
    let held = [("hold", Length(Span::ZERO))];
    let mut flow = Flow::new(&held);
    // 100, 50, 25, 12.5, 6.25.
    assert_eq!(flow.steps(&[26, 26, 26, 26, 26]), [50_000, 25_000, 12_500, 8_000, 8_000]);
    assert_eq!(flow.step(0), 18_000);
    let mut small = Flow::with_packets(8, &held);
    assert_eq!(small.steps(&[99; 12])[10..], [64, 64]);
    // From the start, and above the cap: the flow's packets are that large.
    let slow = [("rate_start", Speed(Rate(1))), ("rate_max", Speed(Rate(9_000)))];
    assert_eq!(Flow::new(&slow).rate(), 8_000);
    assert_eq!(Flow::with_packets(1400, &slow).step(0), 11_200);
}

#[test]
fn a_rate_has_a_cap() {
    let mut flow = Flow::new(&[("rate_max", Speed(Rate(125_000)))]);
    assert_eq!(flow.steps(&[0, 0, 0, 0, 26]), [110_000, 120_000, 125_000, 125_000, 62_500]);
    let mut fast = Flow::new(&[("rate_start", Speed(Rate(10_995_000)))]);
    assert_eq!(fast.steps(&[0, 0]), [11_000_000, 11_000_000], "the data rate of the radio");
}

#[test]
fn constants_of_the_law_can_be_set() {
    let set = [
        ("threshold", Integer(3)),
        ("alpha", Speed(Rate(500))),
        ("beta", Number(0.9)),
        ("interval", Length(Span::from_millis(50))),
        ("hold", Length(Span::from_millis(60))),
        ("rate_start", Speed(Rate(1_000_000))),
    ];
    let mut flow = Flow::new(&set);
    assert_eq!((flow.rate(), flow.interval), (1_000_000, Span::from_millis(50)));
    // Held at 50 ms, repeated at 100 ms.
    assert_eq!(flow.steps(&[3, 4, 4, 4]), [1_000_500, 900_450, 900_450, 810_405]);
}

/// With `only_used` a source that sends nothing keeps its rate. A packet of 1000 B that leaves at 100 kbit/s counts for its 80 ms and two
/// steps of 10 ms; each step shortens its time. At 70 ms the rate is 160 kbit/s: 50 + 20 = 70 ms, it still counts. At 80 ms it is 170
/// kbit/s: 47.1 + 20 = 67.1 ms, it does not.
#[test]
fn a_rate_that_is_not_used_does_not_grow() {
    let mut flow = Flow::new(&[("only_used", ParamValue::Flag(true))]);
    assert_eq!(flow.steps(&[0, 0, 0]), [100_000; 3], "nothing was sent");
    let sent = Sent { bytes: Bytes(1000), in_flight: Bytes(0), retransmission: false };
    let Flow { source, now, random, out, .. } = &mut flow;
    source.on_sent(&sent, &mut SourceContext { now: *now, random, out });
    let rates = flow.steps(&[0; 10]);
    assert_eq!(rates[..7], [110_000, 120_000, 130_000, 140_000, 150_000, 160_000, 170_000]);
    assert_eq!(rates[7..], [170_000; 3]);
    assert_eq!(Flow::new(&[]).steps(&[0, 0]), [110_000, 120_000], "the paper's law grows");
}

/// With `steps = "packets"` the clock changes nothing, each packet adds 10 kbit/s, and with 26 packets in the queue the next packet halves
/// the rate.
#[test]
fn a_law_that_packets_call() {
    let mut flow = Flow::new(&[("steps", Word("packets"))]);
    let send = |flow: &mut Flow| {
        let sent = Sent { bytes: Bytes(1000), in_flight: Bytes(0), retransmission: false };
        let Flow { source, now, random, out, .. } = flow;
        source.on_sent(&sent, &mut SourceContext { now: *now, random, out });
        flow.rate()
    };
    assert_eq!(flow.steps(&[0, 0, 25]), [100_000; 3]);
    assert_eq!([send(&mut flow), send(&mut flow)], [110_000, 120_000]);
    assert_eq!(flow.step(26), 120_000);
    assert_eq!(send(&mut flow), 60_000);
}

/// At a threshold of 0: packets of the node count while they are more than those that it passes on. Of 1 + 1 packets the own one does not
/// count, of 2 + 1 the own two do; all of them count as printed.
#[test]
fn a_relay_counts_its_own_packets() {
    let after = |counts, own, passed_on| {
        let mut flow = Flow::new(&[("threshold", Integer(0)), ("counts", Word(counts))]);
        flow.now += flow.interval;
        flow.source.on_own_queue(&Waiting { all: own + passed_on, own, at: None, calls: Calls::default() });
        flow.hook(|source, context| source.on_timer(Timer(1), context));
        flow.rate()
    };
    let cases = [(0, 0), (0, 9), (1, 1), (2, 1), (1, 0)];
    assert_eq!(
        cases.map(|(own, other)| after("own", own, other)),
        [110_000, 110_000, 110_000, 50_000, 50_000]
    );
    assert_eq!(cases.map(|(own, other)| after("all", own, other)), [110_000, 50_000, 50_000, 50_000, 50_000]);
}

/// (2 / 11)^1.5 = 0.07753, (44 / 11)^1.5 = 8: 10 kbit/s a step at 11 Mbit/s are 775 bit/s at 2 Mbit/s and 80 kbit/s at 44 Mbit/s. Over UDP
/// `udp_alpha` holds at any rate, and two packets more may wait.
#[test]
fn alpha_by_the_rate_of_the_first_hop() {
    let set = [("alpha_by", Word("link")), ("udp_alpha", Speed(Rate(3_000))), ("slack", Integer(2))];
    let after = |set: &[(&str, ParamValue)], udp: bool, mbps, packets| {
        let scheme = build("diffq", set);
        let source = if udp { scheme.udp().unwrap().source } else { scheme.source().unwrap() };
        let mut flow = Flow::of(source, 1000);
        flow.now += flow.interval;
        let at = Some(Interface { rate: Rate::from_mbps(mbps), ..Interface::radio(50) });
        flow.source.on_own_queue(&Waiting { all: packets, own: packets, at, calls: Calls::default() });
        flow.hook(|source, context| source.on_timer(Timer(1), context));
        flow.rate()
    };
    let rates = |set: &[(&str, ParamValue)], udp| [2, 11, 44].map(|mbps| after(set, udp, mbps, 25));
    assert_eq!(rates(&set, false), [100_775, 110_000, 180_000]);
    assert_eq!(rates(&set, true), [103_000; 3]);
    assert_eq!(rates(&set[..1], true), [100_775, 110_000, 180_000], "alpha as over TCP");
    assert_eq!(rates(&[], false), [110_000; 3]);
    assert_eq!([26, 27, 28].map(|packets| after(&set, true, 11, packets)), [103_000, 103_000, 50_000]);
}

/// A source without a decrease gains half of its rate in a step while that is more than 10 kbit/s; after a decrease 10 kbit/s until 40 ms
/// are over.
#[test]
fn a_source_gains_fast_while_nothing_holds_it() {
    let quiet = ("quiet", Length(Span::from_millis(40)));
    let mut flow = Flow::new(&[("gain", Number(0.5)), quiet]);
    assert_eq!(flow.steps(&[0, 0]), [150_000, 225_000]);
    assert_eq!(flow.steps(&[26, 0, 0, 0, 0, 0]), [112_500, 122_500, 132_500, 142_500, 213_750, 320_625]);
    let mut slow = Flow::new(&[("gain", Number(0.05)), quiet]);
    assert_eq!(slow.steps(&[0, 0]), [110_000, 120_000], "5 kbit/s are less than alpha");
}

/// V / q, where V is 25 packets times 1 Mbit/s: 1 Mbit/s at 25 packets, 2.5 at 10, 0.25 at 100; an empty queue counts as one packet, and
/// the cap is 11 Mbit/s. The rate does not depend on the one before.
#[test]
fn the_log_law() {
    let log = [("law", Word("log"))];
    let mut flow = Flow::new(&log);
    assert_eq!(flow.rate(), 100_000);
    let rates = flow.steps(&[25, 10, 100, 50, 3, 2, 1, 0, 25]);
    let expected =
        [1_000_000, 2_500_000, 250_000, 500_000, 8_333_333, 11_000_000, 11_000_000, 11_000_000, 1_000_000];
    assert_eq!(rates, expected);
    let mut flow = Flow::new(&[log[0], ("log_rate", Speed(Rate(80_000))), ("threshold", Integer(50))]);
    // 4 Mbit/s over q; at 1000 packets 4 kbit/s are less than a packet a second.
    assert_eq!(flow.steps(&[50, 100, 1000, 1]), [80_000, 40_000, 8_000, 4_000_000]);
    let mut flow = Flow::new(&[log[0], ("threshold", Integer(0))]);
    assert_eq!(flow.steps(&[1, 2]), [1_000_000, 500_000], "a threshold of 0 counts as 1");
}

/// An echoed mark halves the rate, within the same hold and down to the same floor; a loss does not, nor does a mark under the log law.
#[test]
fn marks_reduce_the_rate() {
    use CongestionCause::{FastLoss, LinkDrop, Mark, Timeout};
    let congestion = |flow: &mut Flow, cause| {
        let (in_flight, pipe) = (Bytes(9000), Bytes(9000));
        let Flow { source, now, random, out, .. } = flow;
        let event = Congestion { cause, in_flight, pipe, repeated: false };
        source.on_congestion(&event, &mut SourceContext { now: *now, random, out });
        flow.rate()
    };
    let mut flow = Flow::new(&[]);
    for cause in [FastLoss, Timeout, LinkDrop] {
        assert_eq!(congestion(&mut flow, cause), 100_000);
    }
    assert_eq!([Mark, Mark].map(|cause| congestion(&mut flow, cause)), [50_000, 50_000]);
    assert_eq!(flow.step(26), 50_000, "held");
    flow.now += Span::from_millis(89);
    assert_eq!(congestion(&mut flow, Mark), 50_000, "99 ms");
    flow.now += Span::from_millis(1);
    assert_eq!(congestion(&mut flow, Mark), 25_000);
    let mut slow = Flow::new(&[("rate_start", Speed(Rate(9_000)))]);
    assert_eq!(congestion(&mut slow, Mark), 8_000);
    let mut log = Flow::new(&[("law", Word("log"))]);
    assert_eq!(congestion(&mut log, Mark), 100_000);
}

/// Over TCP the source is the same; a variant differs in its queue.
#[test]
fn the_source_over_tcp_and_of_the_variants() {
    for name in ["diffq", "diffq-rc", "diffq-rc-sched", "diffq-occupancy"] {
        let scheme = build(name, &[]);
        for source in [scheme.source().unwrap(), scheme.udp().unwrap().source] {
            let mut flow = Flow::of(source, 1000);
            assert_eq!(flow.steps(&[25, 26]), [110_000, 55_000]);
        }
        assert!(scheme.udp().unwrap().receiver.is_none(), "no reports");
    }
}

#[test]
fn packets_of_a_source_are_numbered() {
    let mut flow = Flow::new(&[]);
    for number in 0..3 {
        let mut header = Header::default();
        flow.source.stamp(&mut header, flow.now);
        // Type 0 (data) and no size yet; no writer yet.
        assert_eq!(header, Header { fields: [0, 0, 0, number], ..Header::default() });
    }
}

#[test]
fn a_first_rate_above_the_largest_is_refused() {
    let build = |start, most| {
        let set = [("rate_start", Speed(Rate(start))), ("rate_max", Speed(Rate(most)))];
        let params = Params(set.iter().map(|&(name, value)| (name.to_string(), value)).collect());
        (find("diffq").unwrap().build)(&params).err()
    };
    assert_eq!(build(2_000_000, 1_999_999).unwrap().to_string(), "rate_start is above rate_max");
    assert!(build(2_000_000, 2_000_000).is_none());
}

proptest! {
    /// Whatever the queue does, a rate stays within its limits, rises by no more than alpha, and falls by no more than half.
    #[test]
    fn a_rate_stays_within_its_limits(queue in proptest::collection::vec(0u32..=200, 0..500)) {
        let mut flow = Flow::new(&[("rate_max", Speed(Rate(300_000)))]);
        let mut before = flow.rate();
        for packets in queue {
            let rate = flow.step(packets);
            prop_assert!((8_000..=300_000).contains(&rate));
            if packets > 25 {
                prop_assert!(rate == before || rate == (before / 2).max(8_000));
            } else {
                prop_assert!(rate == (before + 10_000).min(300_000) || rate == before + 9_999 || rate == before + 10_001);
            }
            before = rate;
        }
    }
}
