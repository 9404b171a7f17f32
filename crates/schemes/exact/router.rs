//! The router: the flows of an interface, and the rate that it stamps for each.

use alloc::vec::Vec;

use airfair_units::{Rate, Span, Time};

use super::header::{STAMP, current_rate, stamp};
use super::{Bandwidths, Demand, ExactParameters, Share, level};
use crate::places::{
    Backlog, Finished, FlowId, Header, HeaderKind, Hop, HopContext, Interface, Medium, NodeId, PacketClass,
    Passage, Timer,
};

/// Most flows; of more, the one whose last packet is oldest gives way. Ours.
const MOST: usize = 256;
/// Time without a packet after which a flow has ended, if five of its intervals are not longer; open in the texts.
const LEAST_LIFE: Span = Span::from_secs(1);
const INTERVALS: u64 = 5;
/// A flow's rate is computed anew after this time, and when a flow comes or goes; open in the texts.
const REFRESH: Span = Span::from_millis(100);

/// A flow that passes.
#[derive(Debug, Clone, Copy)]
struct Passing {
    flow: FlowId,
    next_hop: NodeId,
    bytes: u32,
    /// The rate that its source states, bytes/s.
    current: u32,
    last: Time,
    /// The time between its last two packets.
    interval: Span,
    /// The rate that it is told, bytes/s, and when that was computed; 0: not yet.
    told: u32,
    computed: Time,
}

impl Passing {
    fn has_ended(&self, now: Time) -> bool {
        now.since(self.last) > Span(self.interval.0.saturating_mul(INTERVALS)).max(LEAST_LIFE)
    }
}

/// The hop of an interface.
#[derive(Debug, Clone)]
pub struct ExactRouter {
    share: Share,
    utilisation: f64,
    growth: f64,
    bandwidths: Bandwidths,
    measures: bool,
    charges_given_up: bool,
    /// Sorted by flow.
    flows: Vec<Passing>,
    /// The last time at which a flow came or went.
    changed: Time,
    looked: Time,
}

impl ExactRouter {
    /// The hop of an interface that no flow has passed.
    #[must_use]
    pub fn new(set: &ExactParameters, interface: &Interface) -> Self {
        Self {
            share: set.share,
            utilisation: set.utilisation,
            growth: set.growth,
            bandwidths: Bandwidths::new(interface.rate),
            measures: interface.medium == Medium::Radio,
            charges_given_up: set.charges_given_up,
            flows: Vec::new(),
            changed: Time::ZERO,
            looked: Time::ZERO,
        }
    }

    /// Forgets flows that have ended.
    fn forget(&mut self, now: Time) {
        if now.since(self.looked) < REFRESH {
            return;
        }
        self.looked = now;
        let before = self.flows.len();
        self.flows.retain(|flow| !flow.has_ended(now));
        if self.flows.len() < before {
            self.changed = now;
        }
    }

    /// Notes a packet of a flow. Returns the flow's place.
    fn note(&mut self, passage: &Passage, current: u32, now: Time) -> usize {
        let found = self.flows.binary_search_by_key(&passage.flow, |flow| flow.flow);
        let at = match found {
            Ok(at) => at,
            Err(at) => {
                let (mut at, full) = (at, self.flows.len() >= MOST);
                if full {
                    let oldest = (0..MOST).min_by_key(|&at| (self.flows[at].last, self.flows[at].flow));
                    let oldest = oldest.unwrap_or(0);
                    self.flows.remove(oldest);
                    at -= usize::from(oldest < at);
                }
                let &Passage { flow, next_hop, bytes, .. } = passage;
                let interval = Span::ZERO;
                let new =
                    Passing { flow, next_hop, bytes, current, last: now, interval, told: 0, computed: now };
                self.flows.insert(at, new);
                // A flow in the place of another changes the share of none.
                if !full {
                    self.changed = now;
                }
                return at;
            }
        };
        let flow = &mut self.flows[at];
        if flow.next_hop != passage.next_hop {
            flow.next_hop = passage.next_hop;
            self.changed = now;
        }
        (flow.bytes, flow.current) = (passage.bytes, current);
        (flow.interval, flow.last) = (now.since(flow.last), now);
        at
    }

    /// The rate of a flow that takes all it gets beside the others, bytes/s.
    fn rate(&self, at: usize, now: Time) -> u32 {
        let bandwidth = |flow: &Passing| self.bandwidths.to(flow.next_hop, flow.bytes, now);
        let others: Vec<Demand> = (self.flows.iter().enumerate())
            .filter(|&(place, _)| place != at)
            .map(|(_, flow)| Demand {
                rate: self.growth * f64::from(flow.current),
                bandwidth: bandwidth(flow),
            })
            .collect();
        level(self.share, self.utilisation, bandwidth(&self.flows[at]), &others) as u32
    }
}

impl Hop for ExactRouter {
    fn header(&self) -> &'static HeaderKind {
        &STAMP
    }

    fn on_start(&mut self, _: &mut HopContext<'_>) {}

    fn on_arrival(&mut self, passage: &Passage, header: Option<&mut Header>, now: Time) {
        let Some(header) = header.filter(|_| passage.class == PacketClass::Data) else { return };
        self.forget(now);
        let at = self.note(passage, current_rate(header), now);
        let flow = self.flows[at];
        if flow.told == 0 || flow.computed <= self.changed || now.since(flow.computed) >= REFRESH {
            let told = self.rate(at, now).max(1);
            (self.flows[at].told, self.flows[at].computed) = (told, now);
        }
        stamp(header, self.flows[at].told);
    }

    fn on_finished(&mut self, finished: &Finished, now: Time) {
        let &Finished { next_hop, bytes, access, acknowledged, .. } = finished;
        if self.measures && acknowledged {
            self.bandwidths.on_success(next_hop, bytes, access, now);
        } else if self.measures && self.charges_given_up {
            self.bandwidths.on_given_up(next_hop, access);
        }
    }

    fn on_rate(&mut self, rate: Rate) {
        self.bandwidths.on_rate(rate);
        self.flows.iter_mut().for_each(|flow| flow.told = 0);
    }

    fn stated_rate(&self, flow: FlowId) -> Option<Rate> {
        let at = self.flows.binary_search_by_key(&flow, |flow| flow.flow).ok()?;
        Some(Rate(8 * u64::from(self.flows[at].current)))
    }

    fn stamped_rate(&self, flow: FlowId, _packet_bytes: u32) -> Option<Rate> {
        let at = self.flows.binary_search_by_key(&flow, |flow| flow.flow).ok()?;
        Some(self.flows[at].told).filter(|&told| told > 0).map(|told| Rate(8 * u64::from(told)))
    }

    fn on_timer(&mut self, _: Timer, _: Backlog, _: &mut HopContext<'_>) {}

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let told: u64 = self.flows.iter().map(|flow| 8 * u64::from(flow.told)).sum();
        alloc::vec![("flows", self.flows.len() as f64), ("told_bps", told as f64)]
    }
}
