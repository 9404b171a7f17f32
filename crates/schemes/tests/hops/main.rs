//! Explicit-rate schemes from outside: what routers write and senders do, with numbers worked by hand from the laws, and what holds
//! whatever comes in headers.
//!
//! Packets of 1000 bytes and a link of 8 Mbit/s, 10^6 bytes/s, so that most numbers are round.

mod rcp;
mod senders;
mod wire;
mod xcp;
mod xcp_b;

use airfair_schemes::places::{
    Backlog, Context, FlowId, Header, Hop, Interface, Medium, Outbox, PacketClass, Passage, Source, Timer,
};
use airfair_schemes::{ParamValue, Params, Scheme, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};

/// A packet in bytes.
const PACKET: u32 = 1000;

/// Milliseconds.
fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{found} instead of {expected}");
}

fn build(name: &str, params: &[(&str, ParamValue)]) -> Box<dyn Scheme> {
    let params = Params(params.iter().map(|&(name, value)| (name.to_string(), value)).collect());
    (find(name).expect("in the registry").build)(&params).expect("good parameters")
}

/// A wire whose queue takes 50 packets.
fn wire(rate: Rate) -> Interface {
    Interface { medium: Medium::Wire, access_point: false, rate, limit_packets: 50 }
}

/// A hop, the time, and its timers.
struct Router {
    hop: Box<dyn Hop>,
    now: Time,
    /// What waits, bytes; packets are not looked at.
    waiting: u64,
    timers: Vec<(Timer, Time)>,
    random: Stream,
}

impl Router {
    fn new(name: &str, params: &[(&str, ParamValue)], at: &Interface) -> Self {
        let hop = build(name, params).hop(at).expect("stands at every interface");
        let random = Stream::new(1, "router", Purpose::Source);
        let mut router = Self { hop, now: Time(0), waiting: 0, timers: Vec::new(), random };
        router.hook(|hop, _, context| hop.on_start(context));
        router
    }

    /// At 8 Mbit/s.
    fn slow(name: &str, params: &[(&str, ParamValue)]) -> Self {
        Self::new(name, params, &wire(Rate::from_mbps(8)))
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: (self.waiting / u64::from(PACKET)) as u32, bytes: self.waiting }
    }

    fn hook(&mut self, hook: impl FnOnce(&mut dyn Hop, Backlog, &mut Context<'_>)) {
        let (mut out, backlog) = (Outbox::default(), self.backlog());
        let mut context = Context { now: self.now, random: &mut self.random, out: &mut out };
        hook(self.hop.as_mut(), backlog, &mut context);
        for (timer, at) in out.timers {
            self.timers.retain(|&(other, _)| other != timer);
            self.timers.push((timer, at));
        }
    }

    /// Time passes, timers fire.
    fn until(&mut self, end: Time) {
        while let Some(&(timer, at)) = self.timers.iter().filter(|t| t.1 <= end).min_by_key(|t| (t.1, t.0)) {
            self.timers.retain(|&(other, _)| other != timer);
            self.now = self.now.max(at);
            self.hook(|hop, backlog, context| hop.on_timer(timer, backlog, context));
        }
        self.now = end;
    }

    /// The same by a number of milliseconds.
    fn pass(&mut self, milliseconds: u64) {
        self.until(self.now.saturating_add(ms(milliseconds)));
    }

    /// A packet of so many bytes arrives.
    fn arrive(&mut self, header: Option<&mut Header>, bytes: u32) {
        let passage = Passage { bytes, flow: FlowId(0), class: PacketClass::Data, backlog: self.backlog() };
        self.hop.on_arrival(&passage, header, self.now);
    }

    /// So many of 1000 bytes arrive at once with this header; returns how the first one goes on.
    fn burst(&mut self, count: u32, header: &Header) -> Header {
        let mut first = None;
        for _ in 0..count {
            let mut header = *header;
            self.arrive(Some(&mut header), PACKET);
            first.get_or_insert(header);
        }
        first.unwrap_or_default()
    }

    fn gauge(&self, name: &str) -> f64 {
        self.hop.gauges().iter().find(|gauge| gauge.0 == name).expect("a gauge of this name").1
    }
}

/// A source, and what its hooks need.
struct Flow {
    law: Box<dyn Source>,
    random: Stream,
    out: Outbox,
}

impl Flow {
    fn new(name: &str, params: &[(&str, ParamValue)]) -> Self {
        let law = build(name, params).source().expect("has a source");
        Self { law, random: Stream::new(1, "flow", Purpose::Source), out: Outbox::default() }
    }

    fn hook(&mut self, hook: impl FnOnce(&mut dyn Source, &mut Context<'_>)) -> &mut Self {
        let mut context = Context { now: Time(0), random: &mut self.random, out: &mut self.out };
        hook(self.law.as_mut(), &mut context);
        self
    }
}
