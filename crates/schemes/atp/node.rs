//! The node: averages of the time that packets wait, and of the time that the link takes for one.

use alloc::vec::Vec;

use airfair_units::{Bytes, Rate, Span, Time};

use super::AtpParameters;
use super::header::{self, STAMP};
use crate::places::{
    Backlog, Finished, FlowId, Header, HeaderKind, Hop, HopContext, Interface, Medium, Passage, Timer,
};

/// Parts of one in which weights of new values are counted.
const WHOLE: u64 = 1024;

/// A moving average of times.
#[derive(Debug, Clone, Copy)]
struct Average {
    value: Option<Span>,
    /// Weight of a new value, of [`WHOLE`].
    weight: u64,
}

impl Average {
    fn add(&mut self, new: Span) {
        self.value = Some(match self.value {
            None => new,
            Some(old) if new >= old => Span(old.0 + self.part(new.0 - old.0)),
            Some(old) => Span(old.0 - self.part(old.0 - new.0)),
        });
    }

    fn part(&self, of: u64) -> u64 {
        (u128::from(of) * u128::from(self.weight) / u128::from(WHOLE)) as u64
    }
}

/// The hop of an interface.
#[derive(Debug, Clone)]
pub struct AtpNode {
    medium: Medium,
    rate: Rate,
    /// Q and T.
    wait: Average,
    service: Average,
    /// eta, in parts of [`WHOLE`].
    factor: u64,
    idle: Span,
    /// The last packet that the link has finished, or that has left the queue for it.
    active: Option<Time>,
}

impl AtpNode {
    /// The hop of an interface that has sent nothing.
    #[must_use]
    pub fn new(set: &AtpParameters, interface: &Interface) -> Self {
        let weight = ((1.0 - set.alpha) * WHOLE as f64 + 0.5) as u64;
        let average = Average { value: None, weight };
        Self {
            medium: interface.medium,
            rate: interface.rate.max(Rate(1)),
            wait: average,
            service: average,
            factor: (set.probe_factor * WHOLE as f64 + 0.5) as u64,
            idle: set.idle,
            active: None,
        }
    }

    /// Q + T; without a sample, the time of the packet at the link's rate.
    fn delay(&self, packet_bytes: u32) -> Span {
        let wait = self.wait.value.unwrap_or(Span::ZERO);
        let alone = || self.rate.time_for(Bytes(u64::from(packet_bytes)));
        Span(wait.0.saturating_add(self.service.value.unwrap_or_else(alone).0))
    }

    /// Stamps a packet that leaves.
    fn stamp(&mut self, passage: &Passage, header: Option<&mut Header>, now: Time) {
        let idle = self.active.is_none_or(|active| now.since(active) >= self.idle);
        self.active = Some(now);
        let Some(header) = header else { return };
        let mut delay = self.delay(passage.bytes);
        // A wire is not shared with the next hop.
        if self.medium == Medium::Radio && idle && header::is_probe(header) {
            let times = u128::from(delay.0) * u128::from(self.factor) / u128::from(WHOLE);
            delay = Span(u64::try_from(times).unwrap_or(u64::MAX));
        }
        header::stamp(header, delay);
    }
}

impl Hop for AtpNode {
    fn header(&self) -> &'static HeaderKind {
        &STAMP
    }

    fn on_start(&mut self, _: &mut HopContext<'_>) {}

    fn on_arrival(&mut self, passage: &Passage, header: Option<&mut Header>, now: Time) {
        if self.medium == Medium::Wire {
            self.wait.add(self.rate.time_for(Bytes(passage.backlog.bytes)));
            self.service.add(self.rate.time_for(Bytes(u64::from(passage.bytes))));
            self.stamp(passage, header, now);
        }
    }

    fn on_departure(&mut self, passage: &Passage, header: Option<&mut Header>, now: Time) {
        if self.medium == Medium::Radio {
            self.stamp(passage, header, now);
        }
    }

    fn on_finished(&mut self, finished: &Finished, now: Time) {
        self.wait.add(finished.waited);
        self.service.add(finished.access);
        self.active = Some(now);
    }

    /// A packet in each Q + T.
    fn stamped_rate(&self, _flow: FlowId, packet_bytes: u32) -> Option<Rate> {
        let bits = 8.0 * f64::from(packet_bytes);
        Some(Rate((bits / self.delay(packet_bytes).as_secs_f64().max(1e-9)) as u64))
    }

    fn on_rate(&mut self, rate: Rate) {
        self.rate = rate.max(Rate(1));
    }

    fn on_timer(&mut self, _: Timer, _: Backlog, _: &mut HopContext<'_>) {}

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let value = |average: &Average| average.value.unwrap_or(Span::ZERO).as_secs_f64();
        alloc::vec![("wait_s", value(&self.wait)), ("service_s", value(&self.service))]
    }
}
