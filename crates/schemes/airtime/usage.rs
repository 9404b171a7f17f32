//! The use of the node's own links, from the counters of its samples.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::airtime::State;

use super::Airtime;
use crate::link_values::LinkValues;
use crate::places::{FlowId, LinkSample, LoneExchange, NodeId, NodeSample};

/// Most links of which the use is kept.
const MOST_LINKS: usize = 64;

/// Most flows that are counted.
const MOST_FLOWS: usize = 256;

/// Weight of a period in the mean of the attempts of packets.
const ATTEMPTS_WEIGHT: f64 = 0.3;

/// Bytes of a packet of which none is known yet.
const USUAL_BYTES: f64 = 1000.0;

/// Attempts for a packet above which a link that uses less than its share is short of air, and those above which, in the mean of some
/// periods, it is spoiled.
const STRUGGLES: f64 = 1.5;

/// Part of a share below which a link is not at its limit.
const AT_LIMIT: f64 = 0.9;

/// Periods in a row below its limit after which a link lends.
const PATIENCE: u64 = 3;

/// Part of its share below which a link that struggles is short of air. 0.9 decides nothing; with 0.5 fewer get relief.
pub(super) const SHORT_BELOW: f64 = 0.8;

/// The share of the node's direction of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Share {
    /// The part of the air's time that it has.
    pub part: f64,
    /// The part that it would have if no pair lent any.
    pub unlent: f64,
    /// The part of the counted share that the pair has, which falls for the sake of those that are short.
    pub factor: f64,
}

impl Share {
    /// That of a link that nothing limits.
    pub(super) const ALL: Self = Self { part: 1.0, unlent: 1.0, factor: 1.0 };
}

/// A link of the node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Use {
    /// Part of the air's time in the last period: of all attempts where retries are charged, or else of one for each packet that was
    /// acknowledged.
    pub used: f64,
    /// Mean attempts of a packet that was acknowledged, with those for packets that were given up.
    pub attempts: f64,
    /// Mean bytes of a packet.
    pub bytes: f64,
    /// When it was last used.
    last: Time,
    /// When a packet was last acknowledged on it.
    last_sent: Time,
    /// Periods in a row in which it was not at its limit.
    periods_below: u64,
    /// The last share of the node's direction.
    pub share: Share,
    /// Until when it counts as short of air.
    short_until: Time,
}

impl Use {
    /// A link that is used for the first time.
    const fn new(now: Time) -> Self {
        Self {
            used: 0.0,
            attempts: 1.0,
            bytes: USUAL_BYTES,
            last: now,
            last_sent: now,
            periods_below: 0,
            share: Share::ALL,
            short_until: Time::ZERO,
        }
    }

    /// Takes the counters of a period of this length.
    fn update(
        &mut self,
        link: &LinkSample,
        counted: Span,
        fails: bool,
        config: &Airtime,
        exchange: LoneExchange,
        now: Time,
    ) {
        if link.sent > 0 {
            self.last_sent = now;
            self.bytes = link.bytes as f64 / f64::from(link.sent);
        }
        if link.attempts > 0 {
            let attempts = f64::from(link.attempts) / f64::from(link.sent.max(1));
            self.attempts += ATTEMPTS_WEIGHT * (attempts.clamp(1.0, 32.0) - self.attempts);
        }
        let time = exchange.time(self.bytes as u32);
        let frames = if config.charges_retries { link.attempts } else { link.sent };
        self.used = f64::from(frames) * time.0 as f64 / counted.0.max(1) as f64;
        let active = is_active(link);
        self.last = if active { now } else { self.last };
        let at_limit = self.used >= AT_LIMIT * self.share.part || link.waiting > 0;
        self.periods_below = if at_limit { 0 } else { self.periods_below.saturating_add(1) };
        let struggles = link.waiting > 0
            || link.given_up > 0
            || fails
            || f64::from(link.attempts) > STRUGGLES * f64::from(link.sent);
        // Giving way does not help a link whose neighbour has gone.
        let answers = now.since(self.last_sent) <= config.memory;
        if active && answers && struggles && self.is_below() {
            self.short_until = now.saturating_add(config.memory);
        }
    }

    /// True if it uses clearly less than its share.
    fn is_below(&self) -> bool {
        self.used < SHORT_BELOW * self.share.part
    }

    /// True if its frames are spoiled, as by senders that it does not hear.
    pub(super) fn is_spoiled(&self) -> bool {
        self.attempts > STRUGGLES
    }

    /// The use that the link makes of its share.
    pub(super) fn state(&self, config: &Airtime, now: Time) -> State {
        if config.relief > 0.0 && now < self.short_until && self.is_below() {
            State::Short
        } else if self.periods_below >= PATIENCE {
            State::Lends
        } else {
            State::Keeps
        }
    }
}

/// True if packets were on the link, or wait for it.
const fn is_active(link: &LinkSample) -> bool {
    link.arrived > 0 || link.sent > 0 || link.given_up > 0 || link.waiting > 0
}

/// The links over which a node sends, and the flows on them.
#[derive(Debug, Clone)]
pub(super) struct Usage {
    links: LinkValues<Use>,
    flows: BTreeMap<(NodeId, FlowId), Time>,
    memory: Span,
}

impl Usage {
    pub(super) const fn new(memory: Span) -> Self {
        Self { links: LinkValues::new(MOST_LINKS), flows: BTreeMap::new(), memory }
    }

    /// Takes a sample; `exchange` has the times of packets of a link.
    pub(super) fn update(
        &mut self,
        sample: &NodeSample<'_>,
        config: &Airtime,
        exchange: impl Fn(NodeId) -> LoneExchange,
        now: Time,
    ) {
        let active: Vec<NodeId> =
            sample.links.iter().filter(|link| is_active(link)).map(|link| link.neighbour).collect();
        // Attempts at an RTS are counted by the radio alone.
        let sent: u32 = sample.links.iter().map(|link| link.sent).sum();
        let fails = f64::from(sample.retries) > (STRUGGLES - 1.0) * f64::from(sent);
        for link in sample.links {
            let before = self.links.get(link.neighbour).copied();
            if let Some(mut it) = before.or_else(|| is_active(link).then(|| Use::new(now))) {
                it.update(link, sample.counted, fails, config, exchange(link.neighbour), now);
                self.links.set(link.neighbour, it, |other| active.contains(&other));
            }
        }
        for flow in sample.flows.iter().filter(|flow| flow.packets > 0) {
            if self.flows.len() >= MOST_FLOWS && !self.flows.contains_key(&(flow.neighbour, flow.flow)) {
                let oldest = self.flows.iter().min_by_key(|&(&key, &last)| (last, key)).map(|(&key, _)| key);
                oldest.map(|oldest| self.flows.remove(&oldest));
            }
            self.flows.insert((flow.neighbour, flow.flow), now);
        }
        let memory = self.memory;
        self.flows.retain(|_, last| now.since(*last) <= memory);
    }

    /// The use of a link, if it counts.
    pub(super) fn of(&self, neighbour: NodeId, now: Time) -> Option<&Use> {
        self.links.get(neighbour).filter(|of| now.since(of.last) <= self.memory)
    }

    /// The share that the node's direction of a link has from now on.
    pub(super) fn set_share(&mut self, neighbour: NodeId, share: Share) {
        if let Some(&of) = self.links.get(neighbour) {
            self.links.set(neighbour, Use { share, ..of }, |_| true);
        }
    }

    /// Flows whose data the node sends over a link.
    pub(super) fn flows(&self, neighbour: NodeId) -> u8 {
        let of = (neighbour, FlowId(0))..=(neighbour, FlowId(u32::MAX));
        u8::try_from(self.flows.range(of).count()).unwrap_or(u8::MAX)
    }

    /// True of a link that no longer counts, and still has a share: it has none from now on.
    pub(super) fn expire(&mut self, neighbour: NodeId, now: Time) -> bool {
        let of = self.links.get(neighbour).copied();
        match of.filter(|of| now.since(of.last) > self.memory && of.share.part < 1.0) {
            Some(of) => {
                self.links.set(neighbour, Use { share: Share::ALL, ..of }, |_| true);
                true
            }
            None => false,
        }
    }

    /// The sum of the last shares of links that count, and the least factor in them.
    pub(super) fn shares(&self, now: Time) -> (f64, f64) {
        let counts = || self.links.iter().filter(|of| now.since(of.last) <= self.memory);
        (counts().map(|of| of.share.part).sum(), counts().map(|of| of.share.factor).fold(1.0, f64::min))
    }
}
