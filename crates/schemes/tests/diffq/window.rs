//! The window of a source by its path, with numbers worked by hand. Segments have 1000 B, α is 3 segments.

use airfair_schemes::ParamValue::{Integer, Rate as Speed, Span as Duration};
use airfair_schemes::diffq::trailer::KIND;
use airfair_schemes::places::{
    Acked, Allowance, Calls, Congestion, CongestionCause, FlowSetup, Header, Interface, Medium, Source,
    SourceContext, SourceEffects, Spurious, Timer, Waiting,
};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};

use super::build;

struct Flow {
    source: Box<dyn Source>,
    random: Stream,
    out: SourceEffects,
}

/// An interface of this medium.
fn at(medium: Medium) -> Interface {
    Interface { medium, ..Interface::radio(50) }
}

/// The acknowledgement of data that has passed `with` of DiffQ's interfaces and `without` others, and a queue of `longest` packets.
fn ack(with: u8, without: u8, longest: u32) -> Header {
    let mut kept = Header::default();
    let data = Header { supported: with, unsupported: without, fields: [0, 0, 0, longest << 16] };
    (KIND.keep)(&mut kept, &data);
    (KIND.answer)(&mut kept)
}

impl Flow {
    fn new(window: u64) -> Self {
        Self::with(window, Span::ZERO)
    }

    /// `calls`: the time for which a call limits.
    fn with(window: u64, calls: Span) -> Self {
        let set =
            [("window", Integer(window)), ("rate_start", Speed(Rate(1_000_000))), ("calls", Duration(calls))];
        let source = build("diffq", &set).source().unwrap();
        let mut flow =
            Self { source, random: Stream::new(1, "flow", Purpose::Source), out: SourceEffects::default() };
        let setup = FlowSetup {
            mss: Bytes(1000),
            headers: Bytes(40),
            initial_window: Bytes(4000),
            window_limit: Bytes(1 << 30),
            rtt: None,
            syn_lost: false,
            link: None,
        };
        flow.hook(|source, context| source.on_start(&setup, context));
        flow
    }

    fn hook(&mut self, hook: impl FnOnce(&mut dyn Source, &mut SourceContext<'_>)) {
        let Self { source, random, out } = self;
        hook(&mut **source, &mut SourceContext { now: Time(1_000_000_000), random, out });
        self.out.timers.clear();
    }

    /// A round trip of so many ms is over, which acknowledges `kilobytes`; `full`: the window was. Returns the window, bytes.
    fn round(&mut self, header: Header, ms: u64, kilobytes: u64, full: bool) -> u64 {
        let acked = Acked {
            bytes: Bytes(1000 * kilobytes),
            cumulative: Bytes(1000 * kilobytes),
            lost: Bytes(0),
            prior_in_flight: Bytes(1000 * kilobytes),
            in_flight: Bytes(0),
            rtt: Some(Span::from_millis(ms)),
            rate_sample: None,
            round_ended: true,
            window_limited: full,
            in_recovery: false,
            sent_at: Time::ZERO,
        };
        self.hook(|source, context| {
            source.on_feedback(&header, context);
            source.on_acked(&acked, context);
        });
        self.window()
    }

    fn congestion(&mut self, cause: CongestionCause) -> u64 {
        let event = Congestion { cause, in_flight: Bytes(8000), pipe: Bytes(8000), repeated: false };
        self.hook(|source, context| source.on_congestion(&event, context));
        self.window()
    }

    fn limits(&self) -> Allowance {
        self.source.allowance(Time(1_000_000_000))
    }

    fn window(&self) -> u64 {
        self.limits().window.unwrap().0
    }

    fn waits_at(&mut self, medium: Medium) {
        self.hook(|source, _| {
            source.on_own_queue(&Waiting { all: 0, own: 0, at: Some(at(medium)), calls: Calls::default() })
        });
    }
}

impl Flow {
    /// The interval of the source is over, with or without a call of late.
    fn interval(&mut self, called: bool) -> u64 {
        let near = called.then_some(Time(1_000_000_000));
        let calls = Calls { near, for_us: None };
        self.hook(|source, context| {
            source.on_own_queue(&Waiting { all: 0, own: 0, at: Some(at(Medium::Radio)), calls });
            source.on_timer(Timer(0), context);
        });
        self.window()
    }
}

/// A free source has NewReno's window, which starts with 4 segments and gains one with an acknowledgement. A call limits it to 3, and to 6
/// after a round trip; what is lost then is nothing to NewReno, nor is what that window lets pass. When nobody calls any more NewReno goes
/// on from there, a ninth of a segment with an acknowledgement; the next call begins with 3 again.
#[test]
fn limits_come_and_go() {
    let mut flow = Flow::with(3, Span::from_secs(1));
    let path = ack(3, 0, 0);
    assert_eq!(flow.interval(false), 4000);
    assert_eq!((flow.round(path, 10, 4, true), flow.source.ssthresh().is_some()), (5000, true));
    assert_eq!((flow.interval(true), flow.source.ssthresh()), (3000, None));
    assert_eq!(flow.congestion(CongestionCause::FastLoss), 3000);
    assert_eq!([10, 10].map(|ms| flow.round(path, ms, 3, true)), [6000, 9000]);
    assert_eq!((flow.interval(false), flow.source.ssthresh()), (9000, Some(Bytes(9000))));
    assert_eq!(flow.round(path, 10, 9, true), 9111);
    assert_eq!(flow.interval(true), 3000);
}

/// On a mixed path NewReno's window is in force whoever calls. After a call NewReno knows no loss from before it.
#[test]
fn limits_on_a_mixed_path() {
    let mut flow = Flow::with(3, Span::from_secs(1));
    flow.interval(false);
    assert_eq!(flow.round(ack(2, 1, 0), 10, 4, true), 5000);
    assert_eq!([true, false].map(|called| flow.interval(called)), [5000, 5000]);
    let mut flow = Flow::with(3, Span::from_secs(1));
    flow.interval(false);
    flow.congestion(CongestionCause::Timeout);
    assert_eq!([true, false].map(|called| flow.interval(called)), [3000, 3000]);
    let spurious = Spurious { cause: CongestionCause::Timeout, acked: Bytes(1000), in_flight: Bytes(8000) };
    flow.hook(|source, context| source.on_spurious(&spurious, context));
    assert_eq!((flow.window(), flow.source.ssthresh()), (3000, Some(Bytes(3000))));
}

/// W = W · 10 ms / RTT + 3 segments. The first round trip is the shortest: 3 · 1 + 3 = 6. At 20 ms 6 / 2 + 3 = 6; at 40 ms 6 / 4 + 3 is
/// 4.5; at 1 s 0.045 + 3; at 10 ms 6.045, not more than twice as much; a window that was not full keeps its size. Losses change nothing.
#[test]
fn a_mesh() {
    let mut flow = Flow::new(3);
    assert_eq!(flow.window(), 3000);
    let path = ack(3, 0, 9);
    assert_eq!([10, 20, 40, 1000].map(|ms| flow.round(path, ms, 3, true)), [6000, 6000, 4500, 3045]);
    assert_eq!(flow.round(path, 10, 3, true), 6045);
    assert_eq!(flow.round(path, 10, 3, false), 6045);
    use CongestionCause::{FastLoss, Timeout};
    assert_eq!([FastLoss, Timeout].map(|cause| flow.congestion(cause)), [6045; 2]);
    assert_eq!(flow.limits().rate, Some(Rate(1_000_000)));
}

/// A window of one segment is two: a lost segment needs another one behind it.
#[test]
fn the_smallest_window_has_two_segments() {
    let mut flow = Flow::new(1);
    assert_eq!(flow.window(), 2000);
    assert_eq!([10, 1000, 1000].map(|ms| flow.round(ack(1, 0, 0), ms, 2, true)), [2000 + 1000, 2000, 2000]);
}

/// NewReno's slow start: each acknowledgement of the full window doubles 4 segments. No rate: DiffQ has no queue there, and the host's own
/// limits hold. A time-out leaves one segment, as TCP has it.
#[test]
fn cables() {
    let mut flow = Flow::new(3);
    flow.waits_at(Medium::Wire);
    let path = ack(0, 3, 0);
    // One acknowledgement adds one segment at most.
    assert_eq!([10, 20].map(|ms| flow.round(path, ms, 4, true)), [5000, 6000]);
    assert_eq!(flow.limits().rate, None);
    flow.waits_at(Medium::Wire);
    assert!(!flow.source.goes_by_own_queue());
    assert_eq!(flow.congestion(CongestionCause::Timeout), 1000);
}

/// Half of what a queue has above 3 packets is taken from NewReno's window: at a queue of 7 packets 6 segments become 4, at one of 40 the
/// least, two; in each round trip with a queue of up to 3 one comes back, up to NewReno's. The shortest queue of a round trip counts. After
/// a time-out two segments are left.
#[test]
fn a_mixed_path() {
    let mut flow = Flow::new(3);
    flow.waits_at(Medium::Wire);
    assert_eq!(flow.round(ack(1, 2, 3), 10, 4, true), 5000);
    // NewReno has 6 segments by now.
    assert_eq!(flow.round(ack(1, 2, 7), 10, 4, true), 4000);
    assert_eq!(flow.round(ack(1, 2, 40), 10, 4, true), 2000);
    assert_eq!([3, 3].map(|longest| flow.round(ack(1, 2, longest), 10, 2, true)), [3000, 4000]);
    flow.hook(|source, context| source.on_feedback(&ack(1, 2, 2), context));
    assert_eq!(flow.round(ack(1, 2, 40), 10, 2, true), 5000);
    assert_eq!(flow.congestion(CongestionCause::Timeout), 2000);
    assert_eq!(flow.limits().rate, None, "its first hop is a wire");
    flow.waits_at(Medium::Radio);
    assert_eq!(flow.limits().rate, Some(Rate(1_000_000)));
    assert!(flow.source.goes_by_own_queue());
}

/// Without the parameter there is no window on any path, and the rate holds at wires too.
#[test]
fn the_paper_has_no_window() {
    let mut flow = Flow::new(0);
    for path in [ack(3, 0, 9), ack(0, 3, 0), ack(1, 2, 7)] {
        flow.hook(|source, context| source.on_feedback(&path, context));
        flow.waits_at(Medium::Wire);
        assert_eq!(flow.limits(), Allowance { window: None, rate: Some(Rate(1_000_000)), quantum: None });
        assert!(flow.source.goes_by_own_queue());
    }
}
