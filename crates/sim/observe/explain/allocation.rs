//! The shares that a controller, agents and hops give the flow: the set of links whose capacity limits it, and the node that gives it the
//! smallest share.
//!
//! The first are constant between a round, or an agent's epoch, and the next: they are sampled. The rates that hops stamp are noted for
//! each packet of the flow.

use std::collections::BTreeMap;

use airfair_schemes::places::{FlowLimit, FlowShare, LinkName, LinkShare};
use airfair_units::Rate;

use super::{AirExplanation, AllocationExplanation, LimitExplanation, ShareExplanation};
use crate::ids::{ControllerIx, FlowIx, LinkRef, NodeIx};
use crate::measure::summary::InhibitedLink;
use crate::node::Network;
use crate::observe::explain::hop::ObservedHop;
use crate::observe::explain::view;
use crate::record::Names;

/// Time between two samples, ns: that of the agents' counters.
const INTERVAL: u64 = 100_000_000;

/// Samples in which a set of links limited the flow.
#[derive(Debug, Default)]
struct Limiting {
    samples: u64,
    /// Sums over the samples.
    rate: f64,
    capacity: f64,
    overloaded: BTreeMap<LinkName, u64>,
}

/// A mean of values with weights.
#[derive(Debug, Default)]
struct Mean {
    sum: f64,
    weights: f64,
}

impl Mean {
    fn add(&mut self, value: f64, weight: f64) {
        self.sum += weight * value;
        self.weights += weight;
    }

    /// The mean; none without a value.
    fn value(&self) -> Option<f64> {
        (self.weights > 0.0).then(|| self.sum / self.weights)
    }
}

/// Time over which rates are averaged before they are averaged over the run, ns: the epoch of ATP's sources. A rate in a packet lasts for
/// the packet; of rates that change much the mean over packets is far below that over the time.
const SECOND: u64 = 1_000_000_000;

/// A mean over the seconds of a run that have values.
#[derive(Debug, Default)]
struct SecondsMean {
    second: u64,
    of_second: Mean,
    before: Mean,
}

impl SecondsMean {
    fn add(&mut self, now: u64, value: f64, weight: f64) {
        if now / SECOND != self.second {
            let ended = std::mem::take(&mut self.of_second);
            ended.value().into_iter().for_each(|value| self.before.add(value, 1.0));
            self.second = now / SECOND;
        }
        self.of_second.add(value, weight);
    }

    /// The mean; none without a value.
    fn value(&self) -> Option<f64> {
        let Mean { mut sum, mut weights } = self.before;
        self.of_second.value().into_iter().for_each(|last| (sum, weights) = (sum + last, weights + 1.0));
        (weights > 0.0).then(|| sum / weights)
    }
}

/// A share, for a packet or a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShareOfLink {
    /// The node, the next hop and the link between them: two nodes may have several.
    link: (NodeIx, NodeIx, LinkRef),
    rate: Rate,
    scale: f64,
    allocated: Option<bool>,
    air: Option<LinkShare>,
}

/// Samples of the flow's share on a link.
#[derive(Debug, Default)]
struct LinkSamples {
    samples: u64,
    smallest: u64,
    /// Samples in which a controller could have allocated it, and those in which one had.
    allocable: u64,
    allocated: u64,
    rate: SecondsMean,
    /// Means over the samples.
    scale: Mean,
    air: Option<AirMeans>,
}

/// The air of a link; means over the samples.
#[derive(Debug, Default)]
struct AirMeans {
    share: Mean,
    used: Mean,
    /// The part that others lend it beyond its own share, and the part that it lends of this.
    borrowed: Mean,
    lent: Mean,
}

impl AirMeans {
    fn add(&mut self, LinkShare { share, own, used, lends, .. }: LinkShare) {
        self.share.add(share, 1.0);
        self.used.add(used, 1.0);
        self.borrowed.add((share - own).max(0.0), 1.0);
        self.lent.add(if lends { (own - used).max(0.0) } else { 0.0 }, 1.0);
    }

    fn explanation(&self) -> AirExplanation {
        let value = |mean: &Mean| mean.value().unwrap_or(0.0);
        AirExplanation {
            share: value(&self.share),
            used: value(&self.used),
            borrowed: value(&self.borrowed),
            lent: value(&self.lent),
        }
    }
}

/// Shares of one kind: by agents, at moments; or by hops, of packets.
#[derive(Debug, Default)]
struct Shares {
    samples: u64,
    links: BTreeMap<(NodeIx, NodeIx, LinkRef), LinkSamples>,
    /// The smallest share of each sample, by the number of shares: at first the nodes far from the source have none.
    smallest: BTreeMap<usize, (u64, SecondsMean)>,
}

impl Shares {
    /// Adds a sample, in which rates have weights.
    fn take(&mut self, shares: &[ShareOfLink], network: &Network, now: u64, weight: impl Fn(f64) -> f64) {
        if shares.is_empty() {
            return;
        }
        self.samples += 1;
        for share in shares {
            let rate = share.rate.0 as f64;
            let of = self.links.entry(share.link).or_default();
            of.samples += 1;
            of.allocable += u64::from(share.allocated.is_some());
            of.allocated += u64::from(share.allocated == Some(true));
            of.rate.add(now, rate, weight(rate));
            of.scale.add(share.scale, 1.0);
            share.air.into_iter().for_each(|air| of.air.get_or_insert_default().add(air));
        }
        let order = |share: &&ShareOfLink| (share.rate, network.plane.routes.name_order(share.link.0));
        if let Some(least) = shares.iter().min_by_key(order) {
            let rate = least.rate.0 as f64;
            let (samples, mean) = self.smallest.entry(shares.len()).or_default();
            *samples += 1;
            mean.add(now, rate, weight(rate));
            self.links.entry(least.link).or_default().smallest += 1;
        }
    }

    /// The mean of the smallest share, of the samples in which as many links had one as in most.
    fn smallest(&self) -> Option<f64> {
        self.smallest.values().max_by_key(|of| of.0).and_then(|of| of.1.value())
    }

    fn explanations(&self, name: impl Fn(NodeIx) -> String) -> Vec<ShareExplanation> {
        let mut shares: Vec<ShareExplanation> = (self.links.iter())
            .map(|(&(from, to, _), of)| ShareExplanation {
                from: name(from),
                to: name(to),
                samples: of.samples,
                smallest: of.smallest,
                allocated: (of.allocable > 0).then_some(of.allocated),
                air: of.air.as_ref().map(AirMeans::explanation),
                share_bps: of.rate.value().unwrap_or(0.0),
                scale: of.scale.value().unwrap_or(1.0),
            })
            .collect();
        shares.sort_by(|a, b| {
            let names = |of: &ShareExplanation| (of.from.clone(), of.to.clone());
            b.smallest
                .cmp(&a.smallest)
                .then(a.share_bps.total_cmp(&b.share_bps))
                .then(names(a).cmp(&names(b)))
        });
        shares
    }
}

/// The share that the agent of a hop's radio gives the flow, or the hop's link.
fn by_agent(flow: FlowIx, hop: &ObservedHop, network: &Network) -> Option<ShareOfLink> {
    let LinkRef::Station(station) = hop.ends.link else { return None };
    let to = network.plane.interfaces.id(hop.ends.to);
    let link = (hop.ends.from, hop.ends.to, hop.ends.link);
    let of_flow = network.hosts.agents.share(station, network.endpoints.flows[flow].id);
    let of_flow =
        of_flow.filter(|share| share.to == to).map(|FlowShare { rate, scale, allocated, .. }| ShareOfLink {
            link,
            rate,
            scale,
            allocated,
            air: None,
        });
    of_flow.or_else(|| {
        let air = network.hosts.agents.link_share(station, to)?;
        Some(ShareOfLink { link, rate: air.rate, scale: air.scale, allocated: None, air: Some(air) })
    })
}

/// The rate that a hop has stamped into a packet of the flow that leaves it now.
pub(super) fn stamped(flow: FlowIx, hop: &ObservedHop, network: &Network) -> Option<ShareOfLink> {
    let (endpoints, interfaces) = (&network.endpoints, &network.plane.interfaces);
    let pipeline = interfaces.pipeline(view::port(network, hop.ends.link, flow));
    let bytes = endpoints.packet_bytes(&network.plane, flow);
    let rate = pipeline.stamped_rate(endpoints.header(flow), endpoints.flows[flow].id, bytes)?;
    let link = (hop.ends.from, hop.ends.to, hop.ends.link);
    Some(ShareOfLink { link, rate, scale: 1.0, allocated: None, air: None })
}

/// The samples of a run.
#[derive(Debug, Default)]
pub(super) struct Allocations {
    next: u64,
    samples: u64,
    /// By the controller and the links, ascending; no links: the flow has what it asks for.
    limits: BTreeMap<(ControllerIx, Vec<LinkName>), Limiting>,
    by_agents: Shares,
    by_hops: Shares,
}

impl Allocations {
    /// Takes a sample of what controllers and agents give the flow, if one is due at this time of the window. `path`: the hops on which
    /// packets of the flow are, or were a moment ago.
    pub fn observe<'a>(
        &mut self,
        flow: FlowIx,
        path: impl Iterator<Item = &'a ObservedHop>,
        network: &Network,
        now: u64,
        window: (u64, u64),
    ) {
        if now < self.next.max(window.0) || now > window.1 || network.hosts.agents.is_empty() {
            return;
        }
        self.next = (now / INTERVAL + 1) * INTERVAL;
        self.samples += 1;
        let id = network.endpoints.flows[flow].id;
        if let Some((at, FlowLimit { rate, links, capacity, overloaded })) =
            network.hosts.controllers.limit(id)
        {
            let limiting = self.limits.entry((at, links)).or_default();
            limiting.samples += 1;
            limiting.rate += rate.0 as f64;
            limiting.capacity += capacity;
            overloaded.into_iter().for_each(|link| *limiting.overloaded.entry(link).or_default() += 1);
        }
        let shares: Vec<ShareOfLink> = path.filter_map(|hop| by_agent(flow, hop, network)).collect();
        // A share lasts until the next sample.
        self.by_agents.take(&shares, network, now, |_| 1.0);
    }

    /// Takes the rates that the hops of the path have stamped into a packet of the flow, which has arrived.
    pub fn on_delivered(&mut self, stamped: &[ShareOfLink], network: &Network, now: u64, window: (u64, u64)) {
        if (window.0..=window.1).contains(&now) {
            // A rate lasts for the packet.
            self.by_hops.take(stamped, network, now, |rate| 1.0 / rate.max(1.0));
        }
    }

    /// The explanation; none if nobody gives the flow a share. `packet_bytes`: of the flow's packets, as shares count them; `inhibited`:
    /// the inhibited links of its path.
    pub fn explanation(
        &self,
        network: &Network,
        (names, end): (&Names, u64),
        packet_bytes: u32,
        inhibited: Option<Vec<InhibitedLink>>,
    ) -> Option<AllocationExplanation> {
        // Rates that a source follows are told before shares that queues keep to.
        let stamped = self.by_hops.samples > 0;
        let shares = if stamped { &self.by_hops } else { &self.by_agents };
        if shares.samples == 0 && self.limits.is_empty() {
            return None;
        }
        let name = |node: NodeIx| names.nodes[node.ix()].clone();
        let link = |&[from, to]: &LinkName| {
            let name = |id| network.plane.interfaces.node_of_id(id).map_or_else(|| "?".to_string(), name);
            (name(from), name(to))
        };
        let mean = |sum: f64, samples: u64| sum / samples.max(1) as f64;
        let limit = |((at, links), of): (&(ControllerIx, Vec<LinkName>), &Limiting)| {
            let mut named: Vec<_> = links.iter().map(link).collect();
            named.sort();
            let mut overloaded: Vec<_> =
                of.overloaded.iter().map(|(of_link, &samples)| (link(of_link), samples)).collect();
            overloaded.sort();
            LimitExplanation {
                controller: name(network.hosts.controllers.node(*at)),
                stopped: network.hosts.controllers.times(*at).1.map(|stop| stop.0).filter(|&stop| stop < end),
                links: named,
                samples: of.samples,
                rate_bps: mean(of.rate, of.samples),
                capacity: mean(of.capacity, of.samples),
                overloaded,
            }
        };
        let mut limits: Vec<LimitExplanation> = self.limits.iter().map(limit).collect();
        limits.sort_by(|a, b| {
            b.samples.cmp(&a.samples).then_with(|| (&a.controller, &a.links).cmp(&(&b.controller, &b.links)))
        });
        Some(AllocationExplanation {
            samples: self.samples,
            packet_bytes,
            share_samples: shares.samples,
            stamped,
            smallest_bps: shares.smallest(),
            limits,
            shares: shares.explanations(name),
            inhibited,
        })
    }
}
