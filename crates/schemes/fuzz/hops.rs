//! The hop of an interface under attack.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::fuzz::Input;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};

use super::timers::Timers;
use super::{MOST_EFFECTS, Target, check, node, wait};
use crate::Scheme;
use crate::places::{
    Backlog, Context, Finished, FlowId, Header, Hop, HopContext, HopEffects, Interface, NodeId, PacketClass,
    Passage,
};

/// A hop of a radio, the packets of any flows with any headers, and the ends of transmissions.
pub struct Hops {
    hop: Box<dyn Hop>,
    random: Stream,
    timers: Timers,
    now: Time,
    headers: Vec<Header>,
}

impl Hops {
    /// The hop of a scheme at a radio of 11 Mbit/s; `None` if it has none.
    #[must_use]
    pub fn new(scheme: &dyn Scheme) -> Option<Self> {
        let radio = Interface { rate: Rate::from_mbps(11), ..Interface::radio(50) };
        let mut all = Self {
            hop: scheme.hop(&radio)?,
            random: Stream::new(1, "hop", Purpose::Agent),
            timers: Timers::default(),
            now: Time(1),
            headers: vec![Header::default()],
        };
        all.call(|hop, context| hop.on_start(context));
        Some(all)
    }

    fn call(&mut self, hook: impl FnOnce(&mut dyn Hop, &mut HopContext<'_>)) {
        let mut out = HopEffects::default();
        hook(&mut *self.hop, &mut Context { now: self.now, random: &mut self.random, out: &mut out });
        assert!(out.timers.len() <= MOST_EFFECTS);
        self.timers.set(&out.timers);
    }
}

fn class(input: &mut Input<'_>) -> PacketClass {
    match input.byte() % 8 {
        0 => PacketClass::Ack,
        1 => PacketClass::Control,
        _ => PacketClass::Data,
    }
}

impl Target for Hops {
    fn step(&mut self, input: &mut Input<'_>) {
        self.now = self.now.saturating_add(wait(input));
        while let Some((timer, _)) = self.timers.take_due(self.now) {
            self.call(|hop, context| hop.on_timer(timer, Backlog::default(), context));
        }
        let flow = FlowId(if input.byte() < 200 { u32::from(input.byte()) % 9 } else { input.word() });
        let (next_hop, class) = (NodeId(node(input)), class(input));
        let bytes = input.word() >> (16 + input.byte() % 16);
        let packets = u32::from(input.byte());
        let backlog = Backlog { packets, bytes: u64::from(packets) * u64::from(bytes) };
        let passage = Passage { bytes, flow, next_hop, class, backlog };
        let mut header = *input.of(&self.headers).unwrap_or(&Header::default());
        for field in &mut header.fields {
            *field = input.near(u64::from(*field)) as u32;
        }
        let carries = input.byte() < 230;
        match input.byte() % 8 {
            0..=3 => self.hop.on_arrival(&passage, carries.then_some(&mut header), self.now),
            4 => self.hop.on_departure(&passage, carries.then_some(&mut header), self.now),
            5 => self.hop.on_rate(Rate(u64::from(input.word()))),
            _ => {
                let (waited, access) = (Span(input.number()), Span(input.number()));
                let acknowledged = input.flag();
                let finished = Finished { bytes, flow, next_hop, class, acknowledged, waited, access };
                self.hop.on_finished(&finished, self.now);
            }
        }
        if self.headers.len() < 64 {
            self.headers.push(header);
        } else {
            let at = input.below(self.headers.len());
            self.headers[at] = header;
        }
        check(&self.hop.gauges());
    }
}
