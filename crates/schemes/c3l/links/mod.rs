//! The links of a node: the flows on each, the queue, the share, and each flow's part of the share.
//!
//! Readings:
//! - The queue of an interface serves all of its links. So a link is overloaded if the packets that wait for it exceed the threshold of an
//!   even part of the queue's limit.
//! - A link without a valid share gives each flow a part of C_max (`default_part`, 0.1) by the flows of the node by the links of the flow
//!   that end at one of the link's ends (1 to 3; the length of a path is not known here, and only these links share the air of both ends
//!   for certain).
//! - C_max of a link whose rate a law chooses is that of its present rate. As many rates are stored as links; that of a neighbour which can
//!   no longer decode the node's frames is forgotten.
//! - A flow that appears gets an even part of the link's share at once. It is on one link, the last on which it was seen: when its next
//!   hop changes, it has no part of the earlier link's share any more.
//! - f_s, the sending rate of a flow, is what its source says that it sends, in the header. What arrives is less by what is lost on the
//!   way, and varies: with it (`sending = "arrivals"`) a flow that loses packets looks finite to all nodes behind, is given δ more than
//!   arrives, sends that, loses again, and goes down to about δ by its loss, whatever the controller assigns to it. The same holds for "all
//!   the senders sending at their assigned rate" (§III-D).
//! - What arrives of a flow is measured over ten packets, or half a cycle if it has fewer (half of `flow_expiry` if that is shorter): in an
//!   epoch a slow flow may have no packet, would look finite and be given δ, and would then stay slow.

mod link;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use airfair_units::{Rate, Span, Time};

use super::overload::{InjectionConfig, OverloadConfig, first_rate};
use super::shares;
use crate::link_values::LinkValues;
use crate::places::{AnswerSample, FlowId, FlowSample, FlowShare, LinkSample, LoneExchange, NodeId};
use crate::words;

pub use link::Ended;
pub(super) use link::NO_LIMIT;
use link::{Flow, LinkState};

/// Packets from which a rate is known well enough to judge a flow by it.
const ENOUGH: u32 = 10;

words! {
    /// The quantity that counts as the sending rate of a flow at a node of its path.
    pub enum Sending {
        /// The rate that the flow's source states.
        Stated = "stated",
        /// The rate at which packets arrive.
        Arrivals = "arrivals",
    }
}

words! {
    /// The meaning of C_max, the capacity of a link.
    pub enum Capacity {
        /// The goodput of a lone saturated link.
        Goodput = "goodput",
        /// The rate of its data frames, the paper's "raw capacity" (§III-A): back-off, headers and RTS are left to re-estimation.
        Rate = "rate",
    }
}

/// The size of packets on a link of which none is known, bytes; the paper's C_max has no size. 1000 bytes, headers of IP and UDP, and
/// C3L's own.
pub(in crate::c3l) const PACKET: u32 = 1048;

/// The parameters of a node's links.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinksConfig {
    /// The division among flows.
    pub shares: shares::SharesConfig,
    /// When a link is overloaded.
    pub overload: OverloadConfig,
    /// How the node injects less.
    pub injection: InjectionConfig,
    /// The quantity that counts as the rate of a flow.
    pub sending: Sending,
    /// The meaning of C_max.
    pub c_max: Capacity,
    /// Part of C_max that flows divide without a controller's share.
    pub default_part: f64,
    /// Most links of a node.
    pub most: usize,
    /// Length of a cycle.
    pub cycle: Span,
    /// True if the air that acknowledgements take is told.
    pub answers: bool,
    /// True if the part of its packets that a link loses is told, and what flows require of a link without a limit.
    pub losses: bool,
    /// The quantity that counts as a link's use of its share.
    pub used: Sending,
}

/// The links of a node's radio.
#[derive(Debug, Clone)]
pub struct Links {
    config: LinksConfig,
    /// The exchange at the radio's nominal rate, and those of links whose rates a law chooses.
    exchange: LoneExchange,
    chosen: LinkValues<LoneExchange>,
    me: NodeId,
    limit: u32,
    links: BTreeMap<NodeId, LinkState>,
    /// Start of the cycle.
    since: Time,
    /// No controller assigns shares here.
    unled: bool,
}

/// Bytes over a time as a rate.
pub(super) fn rate(bytes: u64, over: Span) -> Rate {
    let nanos = u128::from(over.as_nanos().max(1));
    Rate(u64::try_from(u128::from(bytes) * 8_000_000_000 / nanos).unwrap_or(u64::MAX))
}

/// The shares that a node gives the flows of its links.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Flows.
    pub flows: usize,
    /// Sum of the links' shares by allocations that are valid and limit them; none without one.
    pub allocated: Option<Rate>,
    /// Sum of the rates that flows are stamped with, those by default included, and those without a limit not.
    pub stamped: Rate,
    /// The smallest factor of the node itself on a link with flows; none without flows. It stays until the next allocation.
    pub scale: Option<f64>,
}

impl Links {
    /// No link yet. `limit`: of the interface's queue, packets.
    #[must_use]
    pub fn new(config: LinksConfig, limit: u32) -> Self {
        let (me, exchange) = (NodeId(u32::MAX), LoneExchange::default());
        let (chosen, links) = (LinkValues::new(config.most), BTreeMap::new());
        Self { config, exchange, chosen, me, limit, links, since: Time::ZERO, unled: false }
    }

    /// The interface starts.
    pub fn start(&mut self, me: NodeId, exchange: LoneExchange, now: Time) {
        (self.me, self.exchange, self.since) = (me, exchange, now);
    }

    /// From now on no controller assigns shares here, or one does.
    pub fn set_unled(&mut self, unled: bool) {
        self.unled = unled;
    }

    /// The rate of a link is this exchange's from now on: so is its C_max.
    pub fn set_exchange(&mut self, to: NodeId, exchange: LoneExchange) {
        self.chosen.set(to, exchange, |to| self.links.contains_key(&to));
    }

    /// Only these neighbours are left. True if a C_max may have changed.
    pub fn keep_exchanges(&mut self, neighbours: &[NodeId]) -> bool {
        self.chosen.keep(neighbours)
    }

    fn link(&mut self, to: NodeId, now: Time) -> &mut LinkState {
        if !self.links.contains_key(&to) && self.links.len() >= self.config.most.max(1) {
            let oldest = self.links.iter().min_by_key(|(_, link)| link.used).map(|(&to, _)| to);
            oldest.map(|oldest| self.links.remove(&oldest));
        }
        self.links.entry(to).or_insert_with(|| LinkState::new(&self.config, now))
    }

    /// A flow passes this link now, and no other.
    fn leave_others(&mut self, flow: FlowId, to: NodeId) {
        for (_, link) in self.links.iter_mut().filter(|(other, _)| **other != to) {
            if link.flows.remove(&flow).is_some() {
                link.shares.forget(flow);
            }
        }
    }

    /// A sample of the interface. True if a flow is new, or a link injects less from now on.
    pub fn sample(&mut self, links: &[LinkSample], flows: &[FlowSample], now: Time) -> bool {
        let (since, cycle) = (now.since(self.since), self.config.cycle);
        let mut changed = false;
        for sample in flows {
            let most = self.config.shares.most;
            let stated = self.config.sending == Sending::Stated;
            let link = self.link(sample.neighbour, now);
            if !link.flows.contains_key(&sample.flow) {
                if link.flows.len() >= most {
                    let oldest = link.flows.iter().min_by_key(|(_, flow)| flow.seen).map(|(&id, _)| id);
                    if let Some(oldest) = oldest {
                        link.flows.remove(&oldest);
                        link.shares.forget(oldest);
                    }
                }
                let new = Flow {
                    from: sample.from,
                    to: sample.to,
                    measured: (0, 0, now),
                    bytes: 0,
                    stated: None,
                    seen: now,
                    told: None,
                };
                link.flows.insert(sample.flow, new);
                self.leave_others(sample.flow, sample.neighbour);
            }
            let Some(link) = self.links.get_mut(&sample.neighbour) else { continue };
            let Some(flow) = link.flows.get_mut(&sample.flow) else { continue };
            flow.measured.0 += sample.bytes;
            flow.measured.1 = flow.measured.1.saturating_add(sample.packets);
            flow.bytes += sample.bytes;
            flow.stated = sample.stated.filter(|_| stated).map(|rate| (rate, true)).or(flow.stated);
            flow.seen = now;
            changed |= link.shares.passes(sample.flow, now);
            link.packets += u64::from(sample.packets);
            link.bytes += sample.bytes;
            link.used = now;
        }
        let limit = self.limit_of_link();
        for sample in links {
            let Some(link) = self.links.get_mut(&sample.neighbour) else { continue };
            link.waiting = sample.waiting;
            link.finished += u64::from(sample.sent) + u64::from(sample.given_up);
            link.arrived += u64::from(sample.arrived);
            link.through += u64::from(sample.sent);
            link.attempts += u64::from(sample.attempts);
            link.overload.observe(sample.waiting, since, cycle);
            changed |= link.injection.observe(&self.config.injection, sample.waiting, limit, now);
        }
        if changed {
            self.divide_each(now, false);
        }
        changed
    }

    /// Acknowledgements of flows that have arrived at the interface's queue since the last sample.
    pub fn answer(&mut self, answers: &[AnswerSample], now: Time) {
        let (told, most) = (self.config.answers, self.config.shares.most);
        for sample in answers.iter().filter(|sample| told && sample.packets > 0) {
            let exchange = *self.chosen.get(sample.neighbour).unwrap_or(&self.exchange);
            let size = sample.bytes / u64::from(sample.packets);
            let one = exchange.time(u32::try_from(size).unwrap_or(u32::MAX));
            let link = self.link(sample.neighbour, now);
            link.used = now;
            if link.answers.len() < most || link.answers.contains_key(&sample.flow) {
                let time = link.answers.entry(sample.flow).or_default();
                time.0 = time.0.saturating_add(one.0.saturating_mul(sample.packets.into()));
            }
        }
    }

    /// Divides the links' shares by what flows have sent since the last time.
    pub fn divide(&mut self, now: Time) {
        self.divide_each(now, true);
    }

    fn divide_each(&mut self, now: Time, measured: bool) {
        let expiry = self.config.shares.expiry;
        // In time: a flow of which nothing is measured for `expiry` has no part any more.
        let longest = Span(self.config.cycle.min(expiry).as_nanos() / 2);
        for link in self.links.values_mut() {
            if measured {
                let LinkState { flows, shares, .. } = link;
                flows.retain(|&id, flow| {
                    let stays = now.since(flow.seen) < expiry;
                    if !stays {
                        shares.forget(id);
                    }
                    stays
                });
                for (&id, flow) in flows {
                    if let Some((rate, new)) = &mut flow.stated {
                        if core::mem::take(new) {
                            shares.sent(id, *rate, now);
                        }
                        continue;
                    }
                    let (bytes, packets, since) = flow.measured;
                    if packets >= ENOUGH || now.since(since) >= longest {
                        shares.sent(id, rate(bytes, now.since(since)), now);
                        flow.measured = (0, 0, now);
                    }
                }
            }
            if let Some(share) = link.valid_share(now).filter(|&share| share < NO_LIMIT) {
                link.shares.divide(share, now);
            }
        }
        if measured {
            self.links.retain(|_, link| {
                !link.flows.is_empty() || !link.answers.is_empty() || link.valid_share(now).is_some()
            });
        }
    }

    /// The share of a link has arrived.
    pub fn allocate(&mut self, to: NodeId, share: Rate, until: Time, now: Time) {
        let link = self.link(to, now);
        link.share = Some((share, until));
        link.injection.allocated();
        if share < NO_LIMIT {
            link.shares.divide(share, now);
        }
    }

    /// The even part of the queue's limit for each link that has carried packets in this cycle, packets.
    fn limit_of_link(&self) -> u32 {
        let loaded = self.links.values().filter(|link| link.bytes > 0).count().max(1) as u32;
        self.limit / loaded
    }

    /// C_max of each link, by the size of its packets and by its rate.
    fn c_max(&self) -> Vec<Rate> {
        let of = |(to, link): (&NodeId, &LinkState)| {
            let exchange = self.chosen.get(*to).unwrap_or(&self.exchange);
            match self.config.c_max {
                Capacity::Goodput => exchange.goodput(link.size.unwrap_or(PACKET).max(1)),
                Capacity::Rate => exchange.rate,
            }
        };
        self.links.iter().map(of).collect()
    }

    /// Calls `set` for each flow whose rate has changed since the last call.
    pub fn rates(&mut self, now: Time, mut set: impl FnMut(FlowId, Rate)) {
        let flows = self.links.values().map(|link| link.flows.len()).sum::<usize>() as u32;
        let me = self.me;
        let part = self.config.default_part;
        let goodputs = self.c_max();
        for ((&to, link), goodput) in self.links.iter_mut().zip(goodputs) {
            let (shared, free) = (link.valid_share(now).is_some(), link.free(now));
            let c_max = Rate((goodput.0 as f64 * part) as u64);
            for (&id, flow) in &mut link.flows {
                let hops = 1 + u32::from(flow.from != me) + u32::from(flow.to != to);
                let own = if shared { link.shares.share(id) } else { None };
                let share = match own {
                    _ if free || (self.unled && own.is_none()) => NO_LIMIT,
                    Some(own) => link.injection.scaled(own),
                    None => link.injection.scaled(first_rate(c_max, flows, hops)),
                };
                if flow.told != Some(share) {
                    flow.told = Some(share);
                    set(id, share);
                }
            }
        }
    }

    /// A cycle begins: what was counted so far belongs to an earlier one.
    pub fn begin(&mut self, now: Time) {
        self.since = now;
        self.links.values_mut().for_each(LinkState::begin);
    }

    /// The cycle ends: its links that carried flows, in the order of next hops. The next one begins.
    pub fn end(&mut self, now: Time) -> Vec<Ended> {
        let over = now.since(self.since);
        let limit = self.limit_of_link();
        let mut ended = Vec::new();
        for link in self.links.values_mut() {
            let mean = link.bytes.checked_div(link.packets);
            link.size = mean.map(|mean| u32::try_from(mean).unwrap_or(u32::MAX)).or(link.size);
        }
        let goodputs = self.c_max();
        for ((&to, link), goodput) in self.links.iter_mut().zip(goodputs) {
            let standing = link.overload.mean() > self.config.overload.threshold * f64::from(limit);
            let (lost, free) = (if self.config.losses { link.lost() } else { 0.0 }, link.free(now));
            let overloaded = link.overload.judge(&self.config.overload, limit);
            if link.bytes == 0 && link.waiting == 0 && link.answers.is_empty() {
                continue;
            }
            let flows: Vec<_> = link
                .flows
                .iter()
                .map(|(&id, flow)| {
                    // A flow of which nothing has arrived in the cycle sends nothing.
                    let stated = flow.stated.filter(|_| flow.bytes > 0).map(|(rate, _)| rate);
                    // Without a limit a source that states less than it may send wants no more, but where its packets wait, or it sends
                    // less than that.
                    let sent = rate(flow.bytes, over);
                    let content = |stated: &Rate| !standing && *stated < goodput && 2 * sent.0 >= stated.0;
                    let demand = match stated {
                        Some(stated) if free => Some(stated).filter(content),
                        _ => link.shares.demand(id),
                    };
                    (id, stated.unwrap_or(sent), demand)
                })
                .collect();
            let stated = flows.iter().fold(0, |sum: u64, &(_, Rate(rate), _)| sum.saturating_add(rate));
            let used = match self.config.used {
                Sending::Stated => Rate(stated),
                Sending::Arrivals => rate(link.bytes, over),
            };
            let mut flows = flows;
            if self.config.answers {
                // What acknowledgements take is compared with the data that they acknowledge.
                flows.iter_mut().for_each(|(id, told, _)| {
                    *told = rate(link.flows.get(id).map_or(0, |flow| flow.bytes), over);
                });
            }
            let micros = |time: Span| {
                let part = u128::from(time.as_nanos()) * 1_000_000 / u128::from(over.as_nanos().max(1));
                u32::try_from(part).unwrap_or(u32::MAX)
            };
            let answers = link.answers.iter().map(|(&flow, &time)| (flow, micros(time))).collect();
            let transmissions = (link.attempts * 256).checked_div(link.finished).unwrap_or(256);
            ended.push(Ended {
                to,
                goodput,
                used,
                transmissions: u16::try_from(transmissions.max(256)).unwrap_or(u16::MAX),
                overloaded,
                lost,
                flows,
                answers,
            });
        }
        self.begin(now);
        ended
    }

    /// For recordings.
    #[must_use]
    pub fn view(&self, now: Time) -> View {
        let links = || self.links.values();
        let used = || links().filter(|link| !link.flows.is_empty());
        let limited = |rate: &Rate| *rate < NO_LIMIT;
        let sum = |a: Rate, b: Rate| Rate(a.0.saturating_add(b.0));
        let flows = || links().flat_map(|link| link.flows.values());
        View {
            flows: flows().count(),
            allocated: links().filter_map(|link| link.valid_share(now)).filter(limited).reduce(sum),
            stamped: flows().filter_map(|flow| flow.told).filter(limited).fold(Rate(0), sum),
            scale: used().map(|link| link.injection.scale()).reduce(f64::min),
        }
    }

    /// The share of a flow as the hop was told it; none where nobody limits the flow.
    #[must_use]
    pub fn share_of(&self, flow: FlowId, now: Time) -> Option<FlowShare> {
        self.links.iter().find_map(|(&to, link)| {
            let rate = link.flows.get(&flow)?.told.filter(|&told| told < NO_LIMIT)?;
            let allocated = Some(link.valid_share(now).is_some());
            Some(FlowShare { to, rate, scale: link.injection.scale(), allocated })
        })
    }
}
