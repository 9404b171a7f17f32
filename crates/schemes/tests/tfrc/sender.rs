//! RFC 5348 §4 and §8.2.1: the allowed rate by scripted reports, with numbers computed by hand.

use airfair_schemes::ParamValue::{Flag, Integer, Number, Span as Length};
use airfair_schemes::places::{FlowSetup, Header, Sent, Source, SourceContext, SourceEffects, Timer};
use airfair_schemes::tfrc::equation::Path;
use airfair_schemes::tfrc::header::{Data, Report, us};
use airfair_schemes::{ParamValue, Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Span, Time};

use super::ends;

/// Payload of a packet, bytes.
const S: u64 = 1000;
const RTT: Span = Span::from_millis(100);
const NO_DAMPING: &[(&str, ParamValue)] = &[("damping", Flag(false))];

struct Flow {
    source: Box<dyn Source>,
    now: Time,
    random: Stream,
    out: SourceEffects,
    /// The last setting of the nofeedback timer, from now on.
    timer: Option<Span>,
}

impl Flow {
    fn new(set: &[(&str, ParamValue)]) -> Self {
        let (source, random) = (ends("tfrc", set).source, Stream::new(1, "flow", Purpose::Source));
        let (now, out) = (Time(10_000_000_000), SourceEffects::default());
        let mut flow = Self { source, now, random, out, timer: None };
        let setup = FlowSetup {
            mss: Bytes(S),
            headers: Bytes(40),
            initial_window: Bytes(4 * S),
            window_limit: Bytes(u64::MAX),
            rtt: None,
            syn_lost: false,
            link: None,
        };
        flow.hook(|source, context| source.on_start(&setup, context));
        flow
    }

    /// A flow without damping that has had its first report, without losses: R is 100 ms, X is 4 packets in that time.
    fn started() -> Self {
        let mut flow = Self::new(NO_DAMPING);
        flow.send();
        flow.after(RTT).report(RTT, 0.0, 0.0);
        flow
    }

    fn hook(&mut self, hook: impl FnOnce(&mut dyn Source, &mut SourceContext<'_>)) {
        let Self { source, now, random, out, .. } = self;
        hook(&mut **source, &mut SourceContext { now: *now, random, out });
        for (timer, at) in self.out.timers.drain(..) {
            assert_eq!(timer, Timer(1));
            self.timer = Some(at.since(self.now));
        }
        assert!(self.out.is_empty());
    }

    fn after(&mut self, span: Span) -> &mut Self {
        self.now += span;
        self
    }

    /// X_inst, bytes/s.
    fn rate(&self) -> u64 {
        self.source.allowance(self.now).rate.unwrap().0 / 8
    }

    /// Sends a packet; what it carries.
    fn send(&mut self) -> Data {
        let mut header = Header::default();
        self.source.stamp(&mut header, self.now);
        let sent = Sent { bytes: Bytes(S), in_flight: Bytes(0), retransmission: false };
        self.hook(|source, context| source.on_sent(&sent, context));
        Data::read(header.fields)
    }

    /// A report on a packet that was sent `ago`; the receiver has waited for no time.
    fn report(&mut self, ago: Span, received: f64, loss: f64) -> &mut Self {
        self.delayed_report(ago, Span::ZERO, received, loss)
    }

    fn delayed_report(&mut self, ago: Span, delay: Span, received: f64, loss: f64) -> &mut Self {
        let sent_us = us(Time(self.now.0 - ago.0));
        let report = Report { sent_us, delay, received, loss }.encode().unwrap();
        self.hook(|source, context| source.on_report(report.as_slice(), context));
        self
    }

    /// The nofeedback timer expires.
    fn silence(&mut self) -> &mut Self {
        let after = self.timer.take().unwrap();
        self.after(after).hook(|source, context| source.on_timer(Timer(1), context));
        self
    }

    /// Sends as fast as allowed for a time.
    fn send_for(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            self.send();
            let gap = Span((S as f64 / self.rate() as f64 * 1e9) as u64);
            if self.now + gap > end {
                break;
            }
            self.after(gap);
        }
        self.now = end;
    }
}

fn near(found: u64, expected: f64) {
    assert!((found as f64 - expected).abs() <= 1.0, "{found} {expected}");
}

fn equation(loss: f64) -> f64 {
    Path { segment: S as f64, rtt: 0.1, least_rto: 0.0, per_ack: 1.0 }.rate(loss)
}

/// §4.2: a packet a second, then W_init/R. The timer starts at 2 s and is then the longer of 4 R and 2 s/X.
#[test]
fn the_first_report_ends_a_packet_a_second() {
    let mut flow = Flow::new(NO_DAMPING);
    assert_eq!((flow.rate(), flow.timer), (S, Some(Span::from_secs(2))));
    let first = flow.send();
    assert_eq!((first.sequence, first.rtt, first.sent_us), (0, None, 10_000_000));
    flow.after(RTT).report(RTT, 0.0, 0.0);
    assert_eq!(flow.rate(), 4 * S * 10);
    assert_eq!(flow.timer, Some(Span::from_millis(400)));
    let second = flow.send();
    assert_eq!((second.sequence, second.rtt), (1, Some(RTT)));
}

/// §4.3, step 1: the receiver's delay is no part of the round-trip time.
#[test]
fn the_round_trip_time_leaves_out_the_receiver_s_delay() {
    let mut flow = Flow::new(NO_DAMPING);
    flow.send();
    flow.after(Span::from_millis(130)).delayed_report(
        Span::from_millis(130),
        Span::from_millis(30),
        0.0,
        0.0,
    );
    assert_eq!(flow.send().rtt, Some(RTT));
    // Step 2: 0.9 of the old, 0.1 of the new.
    flow.after(Span::from_millis(200)).report(Span::from_millis(200), 0.0, 0.0);
    assert_eq!(flow.send().rtt, Some(Span::from_millis(110)));
    let mut half = Flow::new(&[("rtt_weight", Number(0.5)), ("damping", Flag(false))]);
    half.send();
    half.after(RTT).report(RTT, 0.0, 0.0);
    half.after(RTT * 2).report(RTT * 2, 0.0, 0.0);
    assert_eq!(half.send().rtt, Some(Span::from_millis(150)));
    let mut early = Flow::new(NO_DAMPING);
    early.send();
    early.delayed_report(Span::ZERO, Span::from_secs(1), 0.0, 0.0);
    assert_eq!(early.send().rtt, Some(Span::from_micros(1)), "never 0");
}

/// §4.3, step 4: the rate doubles once a round-trip time, to twice X_recv at most, and not below W_init/R.
#[test]
fn slow_start_doubles_once_a_round_trip() {
    let mut flow = Flow::started();
    flow.send_for(RTT);
    flow.report(RTT, 40_000.0, 0.0);
    assert_eq!(flow.rate(), 80_000);
    flow.after(Span::from_millis(99)).report(RTT, 80_000.0, 0.0);
    assert_eq!(flow.rate(), 80_000, "99 ms later");
    flow.after(Span::from_millis(1)).report(RTT, 80_000.0, 0.0);
    assert_eq!(flow.rate(), 160_000);
    flow.send_for(RTT);
    flow.report(RTT, 90_000.0, 0.0);
    assert_eq!(flow.rate(), 180_000, "twice X_recv");
    let mut slow = Flow::started();
    slow.send_for(RTT);
    slow.send_for(RTT);
    slow.send_for(RTT);
    slow.report(RTT, 3000.0, 0.0);
    assert_eq!(slow.rate(), 40_000, "W_init/R");
}

/// §4.3: the largest receive rate of two round-trip times limits the rate.
#[test]
fn receive_rates_count_for_two_round_trips() {
    let mut flow = Flow::started();
    for _ in 0..4 {
        flow.send_for(RTT);
        flow.report(RTT, 300_000.0, 0.0);
    }
    assert_eq!(flow.rate(), 600_000);
    let report = |flow: &mut Flow, received: f64| {
        flow.send_for(RTT);
        flow.report(RTT, received, 1e-9);
        flow.rate()
    };
    let rates = [20_000.0, 10_000.0, 10_000.0, 5_000.0, 5_000.0].map(|received| report(&mut flow, received));
    assert_eq!(rates, [600_000, 600_000, 40_000, 20_000, 20_000]);
}

/// §4.3, step 4: X = max(min(X_Bps, recv_limit), s/t_mbi).
#[test]
fn the_equation_limits_the_rate() {
    let mut flow = Flow::started();
    flow.send_for(RTT);
    flow.report(RTT, 1e6, 0.01);
    near(flow.rate(), equation(0.01));
    flow.send_for(RTT);
    flow.report(RTT, 1e6, 0.04);
    near(flow.rate(), equation(0.04));
    // Losses become rarer: the rate rises at once.
    flow.send_for(RTT);
    flow.report(RTT, 1e6, 0.001);
    near(flow.rate(), equation(0.001));
    for (longest, least) in [(64, S / 64), (10, S / 10)] {
        let gap = Length(Span::from_secs(longest));
        let mut slow = Flow::new(&[("longest_gap", gap), ("damping", Flag(false))]);
        slow.send();
        // A round-trip time of 500 s.
        slow.after(Span::from_secs(500)).report(Span::from_secs(500), 1.0, 1.0);
        assert_eq!(slow.rate(), least);
    }
}

#[test]
fn parameters_of_the_equation_reach_it() {
    let of = |set: &[(&str, ParamValue)]| {
        let set: Vec<_> = set.iter().chain(NO_DAMPING).copied().collect();
        let mut flow = Flow::new(&set);
        flow.send();
        flow.after(RTT).report(RTT, 1e6, 0.05);
        flow.rate()
    };
    let path = Path { segment: S as f64, rtt: 0.1, least_rto: 0.0, per_ack: 1.0 };
    near(of(&[]), path.rate(0.05));
    near(of(&[("per_ack", Number(2.0))]), Path { per_ack: 2.0, ..path }.rate(0.05));
    near(of(&[("least_rto", Length(Span::from_secs(1)))]), Path { least_rto: 1.0, ..path }.rate(0.05));
}

/// §4.5: X_inst = X R_sqmean / sqrt(R_sample), R_sqmean with 0.9 of the old mean.
#[test]
fn damping_follows_the_root_of_the_last_sample() {
    let run = |set: &[(&str, ParamValue)]| {
        let mut flow = Flow::new(set);
        flow.send();
        flow.after(RTT).report(RTT, 0.0, 0.0);
        assert_eq!(flow.rate(), 40_000, "the first sample is the mean");
        flow.after(RTT * 4).report(RTT * 4, 1e6, 0.0);
        flow.rate()
    };
    // X doubles: 80000 (0.9 sqrt(0.1) + 0.1 sqrt(0.4)) / sqrt(0.4) = 80000 (0.45 + 0.1).
    near(run(&[]), 44_000.0);
    near(run(&[("damping_weight", Number(0.5))]), 60_000.0);
    near(run(NO_DAMPING), 80_000.0);
}

/// Reports on packets that were sent before the last reported one say nothing new.
#[test]
fn overtaken_reports_are_ignored() {
    let mut flow = Flow::started();
    flow.send_for(RTT);
    flow.report(RTT, 1e6, 0.01);
    let (rate, timer) = (flow.rate(), flow.timer.take());
    flow.after(Span::from_millis(1)).report(Span::from_millis(102), 1e6, 0.5);
    assert_eq!((flow.rate(), flow.timer), (rate, None));
    flow.report(Span::from_millis(101), 1e6, 0.5);
    assert_ne!((flow.rate(), flow.timer), (rate, timer), "the same packet again");
}

/// §4.4 before any report: the rate halves, unless nothing was sent.
#[test]
fn without_a_first_report_the_rate_halves() {
    let mut flow = Flow::new(NO_DAMPING);
    flow.silence();
    assert_eq!((flow.rate(), flow.timer), (S, Some(Span::from_secs(2))), "nothing was sent");
    flow.send();
    flow.silence();
    assert_eq!((flow.rate(), flow.timer), (S / 2, Some(Span::from_secs(4))));
    for _ in 0..10 {
        flow.send();
        flow.silence();
    }
    assert_eq!(flow.rate(), S / 64, "never below s/t_mbi");
}

/// §4.4 in slow start: half, unless the sender was idle below twice W_init/R.
#[test]
fn silence_in_slow_start_halves_the_rate() {
    let fast = || {
        let mut flow = Flow::started();
        for _ in 0..2 {
            flow.send_for(RTT);
            flow.report(RTT, 1e6, 0.0);
        }
        assert_eq!((flow.rate(), flow.timer), (160_000, Some(Span::from_millis(400))));
        flow
    };
    let mut flow = fast();
    flow.silence();
    assert_eq!(flow.rate(), 80_000, "idle, but twice W_init/R and more");
    flow.silence();
    assert_eq!(flow.rate(), 40_000);
    flow.silence();
    assert_eq!(flow.rate(), 40_000, "idle below twice W_init/R");
    flow.send();
    flow.silence();
    assert_eq!((flow.rate(), flow.timer), (20_000, Some(Span::from_millis(400))));
    (0..3).for_each(|_| {
        flow.send();
        flow.silence();
    });
    assert_eq!((flow.rate(), flow.timer), (2500, Some(Span::from_millis(800))), "2 s/X");
}

/// §4.4 after losses: the limit that was in force halves.
#[test]
fn silence_after_losses_halves_the_limit() {
    let lossy = |received: f64, loss: f64| {
        let mut flow = Flow::started();
        for _ in 0..4 {
            flow.send_for(RTT);
            flow.report(RTT, received, loss);
        }
        flow.send();
        flow
    };
    // X_Bps above 2 X_recv: X_recv_set becomes X_recv/2.
    let mut limited = lossy(50_000.0, 0.001);
    assert!(equation(0.001) > 100_000.0);
    assert_eq!(limited.rate(), 100_000);
    limited.silence();
    assert_eq!(limited.rate(), 50_000);
    // X_Bps below: half of it, and then half again, since X_recv has become small.
    let mut by_equation = lossy(1e6, 0.01);
    by_equation.silence();
    near(by_equation.rate(), equation(0.01) / 2.0);
    by_equation.send();
    by_equation.silence();
    near(by_equation.rate(), equation(0.01) / 4.0);
    // Idle, and X_recv below W_init/R: nothing.
    let mut idle = lossy(30_000.0, 0.001);
    idle.silence();
    assert_eq!(idle.rate(), 30_000, "it has sent");
    idle.silence();
    assert_eq!(idle.rate(), 30_000);
    let mut busy = lossy(50_000.0, 0.001);
    busy.silence().silence();
    assert_eq!(busy.rate(), 50_000, "X_recv is 25,000 after the first");
    let mut least = lossy(20.0, 0.001);
    assert_eq!(least.rate(), 40);
    least.silence();
    assert_eq!(least.rate(), 20);
    least.send();
    least.silence();
    assert_eq!(least.rate(), S / 64);
}

/// §4.3 and §8.2.1: a flow that its application limits keeps what was received before; a loss halves that.
#[test]
fn data_limited_intervals_keep_the_receive_rate() {
    // 1 MB/s received, then one packet a round-trip time.
    let quiet = || {
        let mut flow = Flow::started();
        for _ in 0..6 {
            flow.send_for(RTT);
            flow.report(RTT, 1e6, 0.0);
        }
        assert_eq!(flow.rate(), 2_000_000);
        for _ in 0..3 {
            flow.after(RTT).send();
            flow.after(RTT).report(RTT, 10_000.0, 0.0);
        }
        flow
    };
    let mut flow = quiet();
    assert_eq!(flow.rate(), 2_000_000, "not 20,000");
    // A loss with p > 0: the limit is the largest of 0.85 X_recv and half of the set, and not twice that.
    flow.after(RTT).send();
    flow.after(RTT).report(RTT, 10_000.0, 1e-7);
    assert_eq!(flow.rate(), 500_000);
    flow.after(RTT).send();
    flow.after(RTT).report(RTT, 10_000.0, 1e-7);
    assert_eq!(flow.rate(), 1_000_000, "no new loss: twice the largest");
    flow.after(RTT).send();
    flow.after(RTT).report(RTT, 800_000.0, 2e-7);
    assert_eq!(flow.rate(), 680_000, "0.85 of 800,000 is more than half of 500,000");
    // One packet at the pacing's time makes an interval one of the other kind.
    let mut flow = quiet();
    flow.after(RTT).send();
    flow.after(Span::from_micros(500)).send();
    flow.after(RTT).report(RTT, 10_000.0, 0.0);
    flow.after(RTT * 2).send();
    flow.after(RTT).report(RTT, 10_000.0, 0.0);
    let rate = flow.rate();
    assert!(rate <= 2_000_000);
}

/// A saturating flow paced as its host does it, in whole bit/s, is never limited by its data: X_recv counts for two round-trip times.
#[test]
fn slow_flows_are_not_limited_by_their_data() {
    let mut flow = Flow::new(NO_DAMPING);
    let second = Span::from_secs(1);
    let mut sent = flow.now;
    flow.send();
    flow.after(second).report(second, 0.0, 0.0);
    let mut report = |received: f64, loss: f64| {
        let gap = flow.source.allowance(flow.now).rate.unwrap().time_for(Bytes(S));
        flow.now = flow.now.max(sent + gap);
        sent = flow.now;
        flow.send();
        flow.after(second).report(second, received, loss);
        flow.rate()
    };
    (0..5).for_each(|_| {
        report(333.0, 1e-3);
    });
    // A packet and a report in 1.5 s, so that the one before still counts; then in 4.5 s.
    let rates = [333.0, 111.0, 111.0, 33.0].map(|received| report(received, 1e-3));
    assert_eq!(rates, [666, 666, 222, 66]);
    // A rate that is not a whole number of bit/s; a rising loss event rate leads to the equation's rate, not to 0.85 X_recv.
    (0..5).for_each(|_| {
        report(530.0, 0.2);
    });
    let path = Path { segment: S as f64, rtt: 1.0, least_rto: 0.0, per_ack: 1.0 };
    near(report(530.0, 0.21), path.rate(0.21));
}

/// A report raises the rate, so that the next packet has been due since before: it leaves at once, as early as allowed. One that leaves
/// later than that is limited by its data. Reports name times in whole us: parts of one do not matter.
#[test]
fn a_packet_that_a_report_releases_is_paced() {
    for (start, wait, expected) in [(0, 0, 20_000), (999, 0, 20_000), (0, 30, 5000), (999, 30, 5000)] {
        let mut flow = Flow::started();
        flow.now += Span(start);
        for _ in 0..4 {
            flow.send_for(RTT);
            flow.report(RTT, 5000.0, 1e-3);
        }
        assert_eq!(flow.rate(), 10_000, "a packet in 100 ms");
        // 90 ms after a packet; at the new rate the next one was due 40 ms ago.
        let ago = Span::from_millis(90);
        flow.send();
        flow.after(ago).report(ago, 10_000.0, 1e-3);
        assert_eq!(flow.rate(), 20_000);
        flow.after(Span::from_millis(wait)).send();
        flow.after(RTT).report(RTT, 5000.0, 2e-3);
        assert_eq!(flow.rate(), expected, "{start} ns, {wait} ms");
    }
}

/// Hosts pace by whole bit/s: the least rate is one, since a flow without a rate would never send again.
#[test]
fn the_least_rate_is_a_bit_a_second() {
    let mut flow = Flow::new(&[("longest_gap", Length(Span::from_secs(1000)))]);
    let setup = FlowSetup {
        mss: Bytes(50),
        headers: Bytes(40),
        initial_window: Bytes(200),
        window_limit: Bytes(u64::MAX),
        rtt: None,
        syn_lost: false,
        link: None,
    };
    flow.hook(|source, context| source.on_start(&setup, context));
    for _ in 0..12 {
        flow.send();
        flow.silence();
    }
    // s/t_mbi is 0.4 bit/s.
    assert_eq!(flow.source.allowance(flow.now).rate.unwrap().0, 1);
}

/// The first packet is all that the sender may send.
#[test]
fn the_first_interval_is_not_limited_by_data() {
    for start in [Time(0), Time(1)] {
        let mut flow = Flow::new(NO_DAMPING);
        flow.now = start;
        flow.send();
        flow.after(RTT).report(RTT, 1000.0, 0.01);
        assert!(flow.rate() > 100_000, "the infinite X_recv stays");
    }
}

#[test]
fn other_timers_do_nothing() {
    let mut flow = Flow::started();
    let rate = flow.rate();
    flow.timer = None;
    flow.hook(|source, context| source.on_timer(Timer(2), context));
    assert_eq!((flow.rate(), flow.timer), (rate, None));
    let refused = |name: &str, value| {
        let params = Params([(name.to_string(), value)].into());
        (find("tfrc").unwrap().build)(&params).err().unwrap().problem
    };
    assert_eq!(refused("intervals", Integer(1)), "expected a whole number from 2 to 64");
    assert_eq!(refused("least_discount", Number(0.0)), "expected a number from 0.01 to 1");
}
