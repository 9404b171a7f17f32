//! Explicit-rate schemes against numbers worked by hand from their papers.

mod qfcp;
mod shared;

use airfair_schemes::places::{
    Acked, Backlog, Congestion, CongestionCause, Context, FlowId, FlowSetup, Header, Hop, Outbox,
    PacketClass, Passage, Source, Timer,
};
use airfair_schemes::{ParamValue, Params};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Span, Time};

/// The payload of a segment.
const MSS: u64 = 1000;

fn params(set: &[(&str, ParamValue)]) -> Params {
    Params(set.iter().map(|(name, value)| ((*name).to_string(), *value)).collect())
}

fn setup(rtt_ms: u64) -> FlowSetup {
    FlowSetup {
        mss: Bytes(MSS),
        initial_window: Bytes(2 * MSS),
        window_limit: Bytes(1 << 30),
        rtt: (rtt_ms > 0).then(|| Span::from_millis(rtt_ms)),
        syn_lost: false,
    }
}

/// An acknowledgement of a segment with this round-trip time; 0: not measured.
fn acked(rtt_ms: u64) -> Acked {
    Acked {
        bytes: Bytes(MSS),
        cumulative: Bytes(MSS),
        lost: Bytes(0),
        prior_in_flight: Bytes(2 * MSS),
        in_flight: Bytes(MSS),
        rtt: (rtt_ms > 0).then(|| Span::from_millis(rtt_ms)),
        rate_sample: None,
        round_ended: false,
        window_limited: true,
        in_recovery: false,
        sent_at: Time::ZERO,
    }
}

fn congestion(cause: CongestionCause, in_flight: u64) -> Congestion {
    Congestion { cause, in_flight: Bytes(in_flight), pipe: Bytes(in_flight), repeated: false }
}

/// A backlog of packets of 1000 bytes.
fn backlog(packets: u32) -> Backlog {
    Backlog { packets, bytes: 1000 * u64::from(packets) }
}

/// A hop, its clock and its timers.
struct Router<H> {
    hop: H,
    now: Time,
    random: Stream,
    out: Outbox,
}

impl<H: Hop> Router<H> {
    fn new(hop: H) -> Self {
        let random = Stream::new(1, "router", Purpose::Hop);
        let mut router = Self { hop, now: Time::ZERO, random, out: Outbox::default() };
        let mut context = Context { now: Time::ZERO, random: &mut router.random, out: &mut router.out };
        router.hop.on_start(&mut context);
        router
    }

    fn passage(bytes: u32, packets: u32) -> Passage {
        Passage { bytes, flow: FlowId(0), class: PacketClass::Data, backlog: backlog(packets) }
    }

    /// A packet arrives that finds so many waiting.
    fn arrives(&mut self, bytes: u32, packets: u32, header: Option<&mut Header>) {
        self.hop.on_arrival(&Self::passage(bytes, packets), header, self.now);
    }

    /// When the timer that is due next fires.
    fn due(&self) -> Option<(Timer, Time)> {
        self.out.timers.iter().copied().min_by_key(|timer| timer.1)
    }

    /// The timer that is due next fires, with so many packets waiting.
    fn fire(&mut self, packets: u32) {
        let (timer, at) = self.due().expect("a hop has a timer");
        self.out.timers.retain(|other| other.0 != timer);
        self.now = at;
        let mut context = Context { now: at, random: &mut self.random, out: &mut self.out };
        self.hop.on_timer(timer, backlog(packets), &mut context);
    }

    fn gauge(&self, name: &str) -> f64 {
        self.hop.gauges().iter().find(|gauge| gauge.0 == name).expect("there is such a gauge").1
    }
}

/// A source and what it is handed.
struct Flow {
    law: Box<dyn Source>,
    random: Stream,
    out: Outbox,
    now: Time,
}

impl Flow {
    fn new(law: Box<dyn Source>) -> Self {
        let random = Stream::new(1, "flow", Purpose::Source);
        Self { law, random, out: Outbox::default(), now: Time::ZERO }
    }

    fn ask(&mut self, hook: impl FnOnce(&mut dyn Source, &mut Context<'_>)) -> u64 {
        let mut context = Context { now: self.now, random: &mut self.random, out: &mut self.out };
        hook(&mut *self.law, &mut context);
        self.window()
    }

    fn start(&mut self, rtt_ms: u64) -> u64 {
        self.ask(|law, context| law.on_start(&setup(rtt_ms), context))
    }

    fn feedback(&mut self, header: &Header) -> u64 {
        self.ask(|law, context| law.on_feedback(header, context))
    }

    fn ack(&mut self, rtt_ms: u64) -> u64 {
        self.ask(|law, context| law.on_acked(&acked(rtt_ms), context))
    }

    fn congestion(&mut self, cause: CongestionCause, in_flight: u64) -> u64 {
        self.ask(|law, context| law.on_congestion(&congestion(cause, in_flight), context))
    }

    fn stamped(&mut self) -> Header {
        let mut header = Header::default();
        self.law.stamp(&mut header, self.now);
        header
    }

    fn window(&self) -> u64 {
        self.law.allowance(self.now).window.expect("it has a window").get()
    }
}
