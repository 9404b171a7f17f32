//! A router and a flow of any scheme in the registry, and a host for both.

use airfair_schemes::places::{
    Acked, Backlog, Congestion, CongestionCause, Context, FlowId, FlowSetup, Header, HeaderKind, Hop,
    HopContext, HopEffects, Idle, Interface, Medium, NodeId, PacketClass, Passage, Source, SourceContext,
    SourceEffects, Timer, Wants,
};
use airfair_schemes::{ParamValue, Params, Scheme, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};

/// A packet in bytes.
pub const PACKET: u32 = 1000;

/// The payload of a segment, bytes.
pub const MSS: u64 = 1000;

/// Milliseconds.
pub fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

pub fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{found} instead of {expected}");
}

pub fn build(name: &str, params: &[(&str, ParamValue)]) -> Box<dyn Scheme> {
    let params = Params(params.iter().map(|&(name, value)| (name.to_string(), value)).collect());
    (find(name).expect("in the registry").build)(&params).expect("good parameters")
}

/// Each of these values is refused, and the error names the parameter.
pub fn refuses(name: &str, values: &[(&str, ParamValue)]) {
    for &(param, value) in values {
        let params = Params([(param.to_string(), value)].into());
        let error = (find(name).expect("in the registry").build)(&params).err();
        assert_eq!(error.map(|error| error.name), Some(param), "{value:?}");
    }
}

/// A wire with a queue of 50 packets.
pub fn wire(rate: Rate) -> Interface {
    Interface { medium: Medium::Wire, rate, ..Interface::radio(50) }
}

/// A gauge of a hop.
pub fn gauge(hop: &dyn Hop, name: &str) -> f64 {
    hop.gauges().iter().find(|gauge| gauge.0 == name).expect("a gauge of this name").1
}

/// Index of the header field that routers lower.
pub fn lowered(kind: &HeaderKind) -> usize {
    if kind.name == "xcp" { 2 } else { 1 }
}

/// Index of the header field of the receiver's echo.
pub fn echoed(kind: &HeaderKind) -> usize {
    if kind.name == "xcp" { 3 } else { 2 }
}

/// A substitute for the simulator: random numbers and a buffer of effects.
pub struct Host<E> {
    random: Stream,
    out: E,
}

impl<E: Default> Host<E> {
    pub fn new() -> Self {
        Self { random: Stream::new(1, "host", Purpose::Hop), out: E::default() }
    }

    pub fn context(&mut self, now: Time) -> Context<'_, E> {
        Context { now, random: &mut self.random, out: &mut self.out }
    }
}

/// A hop, the time, and its timers.
pub struct Router {
    pub wants: Wants,
    pub hop: Box<dyn Hop>,
    pub now: Time,
    /// Queue length, bytes, and the size of its packets.
    pub waiting: u64,
    pub waiting_packet: u32,
    timers: Vec<(Timer, Time)>,
    host: Host<HopEffects>,
}

impl Router {
    pub fn new(name: &str, params: &[(&str, ParamValue)], at: &Interface) -> Self {
        let scheme = build(name, params);
        let mut router = Self {
            wants: scheme.wants(at),
            hop: scheme.hop(at).expect("stands at every interface"),
            now: Time::ZERO,
            waiting: 0,
            waiting_packet: PACKET,
            timers: Vec::new(),
            host: Host::new(),
        };
        router.hook(|hop, _, context| hop.on_start(context));
        router
    }

    /// At a wire of 8 Mbit/s.
    pub fn slow(name: &str, params: &[(&str, ParamValue)]) -> Self {
        Self::new(name, params, &wire(Rate::from_mbps(8)))
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: (self.waiting / u64::from(self.waiting_packet)) as u32, bytes: self.waiting }
    }

    fn hook(&mut self, hook: impl FnOnce(&mut dyn Hop, Backlog, &mut HopContext<'_>)) {
        let backlog = self.backlog();
        hook(self.hop.as_mut(), backlog, &mut self.host.context(self.now));
        // A timer that is set again has only its last time.
        for (timer, at) in self.host.out.timers.drain(..) {
            self.timers.retain(|&(other, _)| other != timer);
            self.timers.push((timer, at));
        }
    }

    /// The next timer and its time.
    pub fn due(&self) -> (Timer, Time) {
        self.timers.iter().copied().min_by_key(|&(timer, at)| (at, timer)).expect("a hop has a timer")
    }

    /// Advances to the next timer, and fires it.
    pub fn fire(&mut self) {
        let (timer, at) = self.due();
        self.timers.retain(|&(other, _)| other != timer);
        self.now = self.now.max(at);
        self.hook(|hop, backlog, context| hop.on_timer(timer, backlog, context));
    }

    /// Advances to `end`; timers fire at their times.
    pub fn until(&mut self, end: Time) {
        while self.due().1 <= end {
            self.fire();
        }
        self.now = end;
    }

    /// Advances by a number of milliseconds.
    pub fn pass(&mut self, milliseconds: u64) {
        self.until(self.now.saturating_add(ms(milliseconds)));
    }

    fn passage(&self, bytes: u32) -> Passage {
        Passage {
            bytes,
            flow: FlowId(0),
            next_hop: NodeId(1),
            class: PacketClass::Data,
            backlog: self.backlog(),
        }
    }

    /// A packet of `bytes` arrives for the queue.
    pub fn arrive(&mut self, header: Option<&mut Header>, bytes: u32) {
        self.hop.on_arrival(&self.passage(bytes), header, self.now);
    }

    /// A packet leaves the queue.
    pub fn depart(&mut self, header: Option<&mut Header>, bytes: u32) {
        self.hop.on_departure(&self.passage(bytes), header, self.now);
    }

    /// A packet is received by the interface.
    pub fn receive(&mut self, header: Option<&mut Header>, bytes: u32) {
        self.hop.on_receive(&self.passage(bytes), header, self.now);
    }

    /// `count` packets of 1000 bytes arrive at once with this header; returns the header of the first afterwards.
    pub fn burst(&mut self, count: u32, header: &Header) -> Header {
        let mut first = None;
        for _ in 0..count {
            let mut header = *header;
            self.arrive(Some(&mut header), PACKET);
            first.get_or_insert(header);
        }
        first.unwrap_or_default()
    }

    /// `count` packets of 1000 bytes of another scheme arrive at once.
    pub fn strangers(&mut self, count: u32) {
        (0..count).for_each(|_| self.arrive(None, PACKET));
    }

    pub fn gauge(&self, name: &str) -> f64 {
        gauge(self.hop.as_ref(), name)
    }
}

/// An initial window of ten segments, a round-trip time of 100 ms, a window of at most a million bytes.
pub fn setup() -> FlowSetup {
    FlowSetup {
        mss: Bytes(MSS),
        headers: Bytes(40),
        initial_window: Bytes(10 * MSS),
        window_limit: Bytes(1_000_000),
        rtt: Some(ms(100)),
        syn_lost: false,
        link: None,
    }
}

/// An acknowledgement of a segment with this round-trip time.
pub fn acked(rtt: Option<Span>) -> Acked {
    Acked {
        bytes: Bytes(MSS),
        cumulative: Bytes(MSS),
        lost: Bytes(0),
        prior_in_flight: Bytes(2 * MSS),
        in_flight: Bytes(MSS),
        rtt,
        rate_sample: None,
        round_ended: false,
        window_limited: true,
        in_recovery: false,
        sent_at: Time::ZERO,
    }
}

/// A congestion event with ten segments in flight.
pub fn congestion(cause: CongestionCause) -> Congestion {
    Congestion { cause, in_flight: Bytes(10 * MSS), pipe: Bytes(10 * MSS), repeated: false }
}

/// An idle period of two time-outs.
pub const IDLE: Idle = Idle { span: Span::from_secs(2), rto: Span::from_secs(1) };

/// A source. Each event returns the window afterwards, bytes; `u64::MAX` if there is no limit.
pub struct Flow {
    pub law: Box<dyn Source>,
    host: Host<SourceEffects>,
}

impl Flow {
    /// A flow before its SYN.
    pub fn new(name: &str, params: &[(&str, ParamValue)]) -> Self {
        let law = build(name, params).source().expect("has a source");
        Self { law, host: Host::new() }
    }

    /// A flow that has started and has no feedback of routers.
    pub fn started(name: &str, params: &[(&str, ParamValue)]) -> Self {
        let mut flow = Self::new(name, params);
        flow.start(&setup());
        flow
    }

    fn hook(&mut self, hook: impl FnOnce(&mut dyn Source, &mut SourceContext<'_>)) -> u64 {
        hook(self.law.as_mut(), &mut self.host.context(Time::ZERO));
        self.window()
    }

    pub fn window(&self) -> u64 {
        self.law.allowance(Time::ZERO).window.map_or(u64::MAX, Bytes::get)
    }

    /// The pacing rate, if there is one.
    pub fn pace(&self) -> Option<Rate> {
        self.law.allowance(Time::ZERO).rate
    }

    pub fn start(&mut self, setup: &FlowSetup) -> u64 {
        self.hook(|law, context| law.on_start(setup, context))
    }

    /// The header of a packet to be sent.
    pub fn stamp(&mut self) -> Header {
        let mut header = Header::default();
        self.law.stamp(&mut header, Time::ZERO);
        header
    }

    /// An echo of the receiver with this field.
    pub fn echo(&mut self, word: u32) -> u64 {
        self.echo_past(0, word)
    }

    /// The same after a path with `unsupported` interfaces without support.
    pub fn echo_past(&mut self, unsupported: u8, word: u32) -> u64 {
        let place = echoed(self.law.header().expect("it speaks with routers"));
        let mut header = Header { unsupported, ..Header::default() };
        header.fields[place] = word;
        self.hook(|law, context| law.on_feedback(&header, context))
    }

    pub fn ack(&mut self, rtt: Option<Span>) -> u64 {
        self.hook(|law, context| law.on_acked(&acked(rtt), context))
    }

    pub fn congestion(&mut self, cause: CongestionCause) -> u64 {
        self.hook(|law, context| law.on_congestion(&congestion(cause), context))
    }

    pub fn recovered(&mut self, in_flight: u64) -> u64 {
        self.hook(|law, context| law.on_recovered(Bytes(in_flight), context))
    }

    pub fn idle(&mut self) -> u64 {
        self.hook(|law, context| law.on_idle(&IDLE, context))
    }
}
