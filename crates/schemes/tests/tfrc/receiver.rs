//! RFC 5348 §6: when a receiver reports, and what.

use airfair_schemes::ParamValue;
use airfair_schemes::places::{
    Arrived, Ecn, Header, LossEvents, Receiver, ReceiverContext, ReceiverEffects, Timer,
};
use airfair_schemes::tfrc::equation::Path;
use airfair_schemes::tfrc::header::{Data, Report, us};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Span, Time};

use super::ends;

const S: u64 = 1000;
const RTT: Span = Span::from_millis(100);
const DELAY: Span = Span::from_millis(50);

struct End {
    receiver: Box<dyn Receiver>,
    now: Time,
    random: Stream,
    out: ReceiverEffects,
    timer: Option<Time>,
    sequence: u32,
}

impl End {
    fn new(scheme: &str, set: &[(&str, ParamValue)]) -> Self {
        let receiver = ends(scheme, set).receiver.unwrap();
        let random = Stream::new(1, "flow", Purpose::Receiver);
        let (now, out) = (Time(1_000_000_000), ReceiverEffects::default());
        Self { receiver, now, random, out, timer: None, sequence: 0 }
    }

    /// The reports that the hook has made.
    fn hook(&mut self, hook: impl FnOnce(&mut dyn Receiver, &mut ReceiverContext<'_>)) -> Vec<Report> {
        let Self { receiver, now, random, out, .. } = self;
        hook(&mut **receiver, &mut ReceiverContext { now: *now, random, out });
        for (timer, at) in self.out.timers.drain(..) {
            assert_eq!(timer, Timer(1));
            self.timer = Some(at);
        }
        self.out.reports.drain(..).map(|report| Report::decode(report.as_slice()).unwrap()).collect()
    }

    fn at(&mut self, ms: u64) -> &mut Self {
        self.now = Time(1_000_000_000 + ms * 1_000_000);
        self
    }

    /// The next packet arrives, sent 50 ms before.
    fn data(&mut self, rtt: Option<Span>, ecn: Ecn) -> Vec<Report> {
        let sent_us = us(Time(self.now.0 - DELAY.0));
        let fields = Data { sequence: self.sequence, sent_us, rtt }.fields();
        self.sequence += 1;
        let header = Header { fields, ..Header::default() };
        let data = Arrived { bytes: Bytes(S), ecn, header };
        self.hook(|receiver, context| receiver.on_data(&data, context))
    }

    fn packet(&mut self) -> Vec<Report> {
        self.data(Some(RTT), Ecn::Ect)
    }

    /// The timer fires, which has to be due now.
    fn expire(&mut self) -> Vec<Report> {
        assert_eq!(self.timer.take(), Some(self.now));
        self.hook(|receiver, context| receiver.on_timer(Timer(1), context))
    }

    /// A packet every `step` ms from `from` up to and including `until`, and the timer whenever it is due; all reports with their times.
    fn stream(&mut self, from: u64, until: u64, step: u64) -> Vec<(u64, Report)> {
        let mut reports = Vec::new();
        for ms in from..=until {
            self.at(ms);
            if self.timer == Some(self.now) {
                reports.extend(self.expire().into_iter().map(|report| (ms, report)));
            }
            if (ms - from).is_multiple_of(step) {
                reports.extend(self.packet().into_iter().map(|report| (ms, report)));
            }
        }
        reports
    }
}

/// §6.3: the first packet is reported at once; without the sender's round-trip time every packet is.
#[test]
fn the_first_packets_are_reported_at_once() {
    let mut end = End::new("tfrc", &[]);
    for ms in [0, 700] {
        let reports = end.at(ms).data(None, Ecn::NotEct);
        let [report] = reports[..] else { panic!("{reports:?}") };
        let sent_us = us(Time(end.now.0 - DELAY.0));
        assert_eq!((report.sent_us, report.delay, report.loss), (sent_us, Span::ZERO, 0.0));
        assert_eq!(end.timer, None, "there is no round-trip time to wait for");
    }
    assert_eq!(end.receiver.loss_events(), Some(LossEvents { count: 0, rate: 0.0 }));
    let mut known = End::new("tfrc", &[]);
    let reports = known.at(0).packet();
    assert_eq!((reports.len(), reports[0].received), (1, 0.0));
    assert_eq!(known.timer, Some(known.now + RTT));
    assert!(known.at(10).packet().is_empty());
}

/// §6.2: once a round-trip time, with the receive rate of that time and the age of the last packet.
#[test]
fn reports_come_once_a_round_trip() {
    let mut end = End::new("tfrc", &[]);
    let reports = end.stream(0, 450, 10);
    let times: Vec<u64> = reports.iter().map(|report| report.0).collect();
    assert_eq!(times, [0, 100, 200, 300, 400]);
    assert_eq!(reports[1].1.received, 90_000.0, "the first packet was reported at its arrival");
    for (_, report) in &reports[2..] {
        assert_eq!((report.received, report.delay, report.loss), (100_000.0, Span::from_millis(10), 0.0));
    }
    // A longer round-trip time in a packet: from the next report on.
    end.at(455).data(Some(RTT * 2), Ecn::Ect);
    end.at(500);
    assert_eq!(end.expire().len(), 1);
    assert_eq!(end.timer, Some(end.now + RTT * 2));
}

/// §6.2: without data no report; the timer's phase stays, and the receive rate is that of one round-trip time.
#[test]
fn silence_is_not_reported() {
    let mut end = End::new("tfrc", &[]);
    end.stream(0, 95, 10);
    end.at(100);
    assert_eq!(end.expire().len(), 1);
    end.at(200);
    assert!(end.expire().is_empty());
    assert_eq!(end.timer, None);
    assert!(end.at(570).packet().is_empty());
    assert_eq!(end.timer, Some(Time(1_600_000_000)));
    assert!(end.at(580).packet().is_empty());
    end.at(600);
    let reports = end.expire();
    assert_eq!((reports.len(), reports[0].received, reports[0].delay), (1, 20_000.0, Span::from_millis(20)));
    end.at(700);
    assert!(end.expire().is_empty());
    // In the first round-trip time after an expiry there is none to catch up on.
    end.at(750).packet();
    end.at(800);
    assert_eq!(end.expire()[0].received, 10_000.0);
    assert!(end.hook(|receiver, context| receiver.on_timer(Timer(2), context)).is_empty());
}

/// §6.1, step 3: a new loss event is reported at once. §6.3.1: p is such that the equation gives the largest receive rate.
#[test]
fn a_loss_event_is_reported_at_once() {
    for (share, part) in [(None, 1.0), (Some(0.5), 0.5)] {
        let set: Vec<_> = share.map(|share| ("first_share", ParamValue::Number(share))).into_iter().collect();
        let mut end = End::new("tfrc", &set);
        // 100 kB/s, and 200 kB/s in the third round-trip time.
        end.stream(0, 199, 10);
        end.stream(200, 299, 5);
        end.stream(300, 329, 10);
        end.sequence += 1;
        let reports = end.stream(330, 360, 10);
        let [(350, report)] = reports[..] else { panic!("{reports:?}") };
        let path = Path { segment: S as f64, rtt: 0.1, least_rto: 0.0, per_ack: 1.0 };
        let given = path.rate(report.loss) / (part * 200_000.0);
        assert!((given - 1.0).abs() < 0.02, "{given}");
        assert_eq!(end.receiver.loss_events().unwrap().count, 1);
        assert_eq!(end.timer, Some(Time(1_450_000_000)), "a round-trip time later");
        // Since the expiry at 200 ms, which is a round-trip time old.
        assert_eq!(report.received, (26_000.0_f64 / 0.15).floor());
        // Another loss of the same event is not reported early, nor one that does not raise p.
        end.sequence += 1;
        assert!(end.stream(361, 400, 10).is_empty());
    }
}

/// §6.3.1: a mark or loss of the first packet stands for half a packet in a round-trip time.
#[test]
fn the_first_packet_may_be_marked() {
    let mut end = End::new("tfrc", &[("ecn", ParamValue::Flag(true))]);
    let report = end.at(0).data(Some(RTT), Ecn::Ce)[0];
    let path = Path { segment: S as f64, rtt: 0.1, least_rto: 0.0, per_ack: 1.0 };
    let given = path.rate(report.loss) / (0.5 * S as f64 / 0.1);
    assert!((given - 1.0).abs() < 1e-4, "{given}");
    let mut deaf = End::new("tfrc", &[]);
    assert_eq!(deaf.at(0).data(Some(RTT), Ecn::Ce)[0].loss, 0.0, "without ecn a mark is no loss");
}

/// The history of `tfrc-ecn`: losses are no events, and marks are.
#[test]
fn tfrc_ecn_responds_to_marks_alone() {
    let mut end = End::new("tfrc-ecn", &[]);
    end.stream(0, 49, 10);
    end.sequence += 5;
    end.stream(50, 95, 10);
    assert_eq!(end.receiver.loss_events(), Some(LossEvents { count: 0, rate: 0.0 }));
    let reports = end.at(96).data(Some(RTT), Ecn::Ce);
    assert!(reports.len() == 1 && reports[0].loss > 0.0);
    assert_eq!(end.receiver.loss_events().unwrap().count, 1);
}
