//! The agent beside a radio interface: it announces the node's links, divides the air among the pairs around each of them, and sets the
//! rates of its queue.

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Rate, Span, Time};
use airfair_wire::airtime::{Announcement, Link, State};

use super::allocation::{Around, level, pair_key};
use super::neighbourhood::Neighbourhood;
use super::usage::{SHORT_BELOW, Share, Usage, Use};
use super::{Airtime, Weight};
use crate::link_values::LinkValues;
use crate::places::{
    Agent, AgentContext, AgentSetup, Destination, LinkRate, LinkShare, LoneExchange, Message, NodeId,
    NodeSample, Setting,
};

/// Most neighbours whose rates are known.
const MOST_RATES: usize = 64;

/// Weight of a period in the mean of the time that is lost to others outside.
const OUTSIDE_WEIGHT: f64 = 0.2;

/// Part of the counted share by which a share grows in a period without need for relief. 0.01 and 0.05 decide nothing.
const GROWTH: f64 = 0.02;

/// Least share of a pair: no announcement of another node stops a link.
const FLOOR: f64 = 0.01;

/// Part of a pair's share that each direction has, whatever the other uses.
const OWN_PART: f64 = 0.5;

/// Air that the acknowledgements of a flow take, as a part of that of its data.
const ANSWERS: f64 = 0.5;

/// Bytes of a data packet: where these have RTS/CTS, that is part of the overhead of all.
const DATA_BYTES: u32 = 1000;

/// The allocator's agent.
#[derive(Debug, Clone)]
pub struct AirtimeAgent {
    config: Airtime,
    me: NodeId,
    exchange: LoneExchange,
    /// Exchanges of links with a rate of their own.
    rates: LinkValues<LoneExchange>,
    neighbourhood: Neighbourhood,
    usage: Usage,
    /// Part of the time in which the air is busy by what no announcement explains.
    outside: f64,
    /// The time of the last sample.
    sampled: Time,
    /// Links of announcements looked at.
    work: u64,
}

impl AirtimeAgent {
    /// An agent with a run's parameters.
    #[must_use]
    pub const fn new(config: Airtime) -> Self {
        let none = LoneExchange { fixed: Span::ZERO, rts: Span::ZERO, rts_above: u32::MAX, rate: Rate(0) };
        Self {
            me: NodeId(u32::MAX),
            exchange: none,
            rates: LinkValues::new(MOST_RATES),
            neighbourhood: Neighbourhood::new(config.lifetime),
            usage: Usage::new(config.memory),
            outside: 0.0,
            sampled: Time::ZERO,
            work: 0,
            config,
        }
    }

    /// The links over which the node sends that count.
    fn links(&self, sample: &NodeSample<'_>, now: Time) -> Vec<Link> {
        let links = sample.links.iter().filter_map(|link| {
            let of = self.usage.of(link.neighbour, now)?;
            Some(Link {
                from: self.me.0,
                to: link.neighbour.0,
                used: (of.used * f64::from(u16::MAX)) as u16,
                flows: self.usage.flows(link.neighbour),
                state: of.state(&self.config, now),
                spoiled: of.is_spoiled(),
            })
        });
        links.collect()
    }

    /// Averages the part of the time in which the air is busy beside what announcements explain.
    fn observe_outside(&mut self, sample: &NodeSample<'_>, near: &Around) {
        let airtime = sample.airtime;
        let busy = airtime.sum().0.saturating_sub(airtime.idle.0) as f64 / sample.interval.0.max(1) as f64;
        let heard = sample.links.iter().flat_map(|link| self.neighbourhood.heard_by(link.neighbour));
        let explained: f64 = near.with(heard).pairs(false).iter().map(|(_, pair)| pair.used).sum();
        self.outside += OUTSIDE_WEIGHT * ((busy - explained).clamp(0.0, 1.0) - self.outside);
    }

    /// The share of the node's direction of a link. `near`: the links of the node and of its neighbours, `far`: those
    /// one hop farther away that are spoiled.
    fn share_of_link(&self, neighbour: NodeId, near: &Around, far: &[Link], before: f64) -> Share {
        // They count, and nobody gives way to them: hearsay from so far away lowers totals and helps few.
        let counts = |link: Link| match link.state {
            State::Short => Link { state: State::Keeps, ..link },
            State::Keeps | State::Lends => link,
        };
        let far = far.iter().copied().chain(self.neighbourhood.far_from(neighbour)).map(counts);
        let heard = self.neighbourhood.heard_by(neighbour);
        let around = near.with(heard.chain(far.filter(|_| self.config.spoiled)));
        let mut pairs = around.pairs(self.config.weight == Weight::Flows);
        let mine = pair_key(self.me.0, neighbour.0);
        let Ok(at) = pairs.binary_search_by_key(&mine, |&(ends, _)| ends) else { return Share::ALL };
        let pair = &mut pairs[at].1;
        // The share that it has when it uses it.
        pair.lends = false;
        let weight = pair.weight;
        let divided = 1.0 - self.outside;
        let counted = level(pairs.iter().map(|(_, pair)| pair), divided);
        // Those that have more than one that is short give way to it.
        let has = before * counted;
        let gives_way = pairs
            .iter()
            .any(|&(other, of)| other != mine && of.short && of.used < SHORT_BELOW * has * of.weight);
        let factor = if gives_way {
            (before * (1.0 - self.config.relief)).max(self.config.least)
        } else {
            (before + GROWTH).min(1.0)
        };
        let weights: f64 = pairs.iter().map(|(_, pair)| pair.weight).sum();
        let part = |level: f64| self.own_part(neighbour, (factor * level * weight).clamp(FLOOR, 1.0));
        Share { part: part(counted), unlent: part(divided / weights), factor }
    }

    /// The part of a pair's share that the node's direction has: as many as flows pass it, if both have some and the other lends nothing,
    /// or else the part that the other leaves.
    fn own_part(&self, neighbour: NodeId, share: f64) -> f64 {
        let Some(there) = self.neighbourhood.link(neighbour, self.me) else { return share };
        let here = f64::from(self.usage.flows(neighbour));
        if self.config.weight == Weight::Flows && here > 0.0 && there.flows > 0 && there.state != State::Lends
        {
            let there = f64::from(there.flows);
            return share * (here + ANSWERS * there) / ((1.0 + ANSWERS) * (here + there));
        }
        let back = f64::from(there.used) / f64::from(u16::MAX);
        (share - back).max(OWN_PART * share)
    }

    /// The rate of a share.
    fn rate(&self, neighbour: NodeId, share: f64, of: &Use) -> LinkRate {
        let exchange = exchange_of(&self.rates, self.exchange, neighbour);
        let attempts = if self.config.charges_retries { of.attempts.max(1.0) } else { 1.0 };
        let bits = exchange.rate.as_bps() as f64 / attempts;
        let rts = if DATA_BYTES > exchange.rts_above { exchange.rts } else { Span::ZERO };
        let overhead = (exchange.fixed + rts).as_secs_f64() * exchange.rate.as_bps() as f64 / 8.0;
        LinkRate {
            rate: Rate((share * bits) as u64),
            overhead: overhead as u32,
            burst: (self.config.depth.as_secs_f64() * bits / 8.0) as u32,
        }
    }

    /// Announces these links of the node, those with an end at a neighbour, those over which the node receives among them, and those of
    /// `far`.
    fn announce(&self, links: Vec<Link>, far: &[Link], context: &mut AgentContext<'_>) {
        let around = Around::of(self.neighbourhood.at_neighbours().filter(|link| link.from != self.me.0));
        // Those over which the node receives are more to its neighbours than to those of its neighbours.
        let (here, there): (Vec<Link>, Vec<Link>) =
            around.links().into_iter().partition(|link| link.to == self.me.0);
        let known = |link: &Link| link.from == self.me.0 || around.has(link);
        let farther = Around::of(far.iter().copied().filter(|link| !known(link)));
        if links.is_empty() && here.is_empty() && there.is_empty() {
            return;
        }
        let heard = here.into_iter().chain(there);
        let said = Announcement::new(self.me.0, links.into_iter(), heard, farther.links().into_iter());
        let mut bytes = vec![0; said.wire_len()];
        if said.encode(&mut bytes).is_ok() {
            let to = Destination::Broadcast;
            context.out.messages.push(Message { to, bytes, ahead: true, transmit: None });
        }
    }
}

/// The exchange of a link: its own, or the usual one.
fn exchange_of(rates: &LinkValues<LoneExchange>, usual: LoneExchange, neighbour: NodeId) -> LoneExchange {
    rates.get(neighbour).copied().unwrap_or(usual)
}

impl Agent for AirtimeAgent {
    fn on_start(&mut self, setup: &AgentSetup<'_>, _context: &mut AgentContext<'_>) {
        self.me = setup.node;
        self.exchange = setup.exchange;
    }

    fn on_link_rate(&mut self, neighbour: NodeId, exchange: LoneExchange, _context: &mut AgentContext<'_>) {
        self.rates.set(neighbour, exchange, |_| false);
    }

    fn on_sample(&mut self, sample: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        let now = context.now;
        self.sampled = now;
        self.neighbourhood.expire(now);
        let (rates, usual) = (&self.rates, self.exchange);
        let exchange = |neighbour| exchange_of(rates, usual, neighbour);
        self.usage.update(sample, &self.config, exchange, now);
        let links = self.links(sample, now);
        let near = Around::of(links.iter().copied().chain(self.neighbourhood.at_neighbours()));
        self.observe_outside(sample, &near);
        let far: Vec<Link> =
            if self.config.spoiled { self.neighbourhood.spoiled().collect() } else { Vec::new() };
        for link in sample.links {
            let neighbour = link.neighbour;
            if self.usage.expire(neighbour, now) {
                let rate = LinkRate { rate: Rate(0), overhead: 0, burst: 0 };
                context.out.settings.push(Setting::LinkRate { neighbour, rate });
            }
            let Some(&of) = self.usage.of(neighbour, now) else { continue };
            let share = self.share_of_link(neighbour, &near, &far, of.share.factor);
            self.usage.set_share(neighbour, share);
            let rate = self.rate(neighbour, share.part, &of);
            context.out.settings.push(Setting::LinkRate { neighbour, rate });
        }
        self.announce(links, &far, context);
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], _to_me: bool, context: &mut AgentContext<'_>) {
        if let Ok((said, _)) = Announcement::decode(bytes) {
            self.work += self.neighbourhood.take(from, said, context.now);
        }
    }

    /// The part of the air that is lost to others, the sum of the shares of the node's links, the least factor in them.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let (shares, factor) = self.usage.shares(self.sampled);
        vec![("outside", self.outside), ("shares", shares), ("factor", factor)]
    }

    fn work(&self) -> u64 {
        self.work
    }

    /// A pair lends where both directions do.
    fn link_share(&self, neighbour: NodeId) -> Option<LinkShare> {
        let of = self.usage.of(neighbour, self.sampled)?;
        let &Use { share, bytes, used, .. } = of;
        let time = exchange_of(&self.rates, self.exchange, neighbour).time(bytes as u32).as_secs_f64();
        let back = self.neighbourhood.link(neighbour, self.me);
        Some(LinkShare {
            rate: Rate((share.part * 8.0 * bytes / time.max(1e-9)) as u64),
            scale: share.factor,
            share: share.part,
            own: share.unlent,
            used,
            lends: of.state(&self.config, self.sampled) == State::Lends
                && back.is_none_or(|back| back.state == State::Lends),
        })
    }
}
