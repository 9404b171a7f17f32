//! The shares that a controller, agents and hops give the flow: the set of links whose capacity limits it, and the node that gives it the
//! smallest share.
//!
//! The first are constant between a round, or an agent's epoch, and the next: they are sampled. The rates that hops stamp are noted for
//! each packet of the flow.

use std::collections::BTreeMap;

use airfair_schemes::places::{AirShare, FlowId, FlowLimit, FlowShare, LinkName};

use super::{AirExplanation, AllocationExplanation, LimitExplanation, ShareExplanation};
use crate::ids::{ControllerIx, FlowIx, NodeIx};
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

/// Samples of the flow's share at a node.
#[derive(Debug, Default)]
struct Stamping {
    samples: u64,
    smallest: u64,
    /// Samples in which a controller could have allocated it, and those in which one had.
    allocable: u64,
    allocated: u64,
    /// Means over the samples, by weight.
    rate: Mean,
    scale: Mean,
    air: Option<AirMeans>,
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

/// Shares of a link's air.
#[derive(Debug, Default)]
struct AirMeans {
    share: Mean,
    used: Mean,
    /// What others lend it beyond its own share, and what it lends of this.
    borrowed: Mean,
    lent: Mean,
}

impl AirMeans {
    fn add(&mut self, AirShare { share, own, used, lends }: AirShare, weight: f64) {
        self.share.add(share, weight);
        self.used.add(used, weight);
        self.borrowed.add((share - own).max(0.0), weight);
        self.lent.add(if lends { (own - used).max(0.0) } else { 0.0 }, weight);
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

/// A node of the path and the next hop, with the flow's share there.
pub(super) type ShareOfLink = ((NodeIx, NodeIx), FlowShare);

/// The flow's shares by the agents of nodes.
fn by_agents(id: FlowId, network: &Network) -> Vec<ShareOfLink> {
    let interfaces = &network.plane.interfaces;
    let shares = interfaces.stations().filter_map(|station| {
        let share = network.hosts.agents.share(station, id)?;
        Some(((interfaces.of_station(station).0, interfaces.node_of_id(share.to)?), share))
    });
    shares.collect()
}

/// The rate that a hop has stamped into a packet of the flow that leaves it now.
pub(super) fn stamped(flow: FlowIx, hop: &ObservedHop, network: &Network) -> Option<ShareOfLink> {
    let (endpoints, interfaces) = (&network.endpoints, &network.plane.interfaces);
    let pipeline = interfaces.pipeline(view::port(network, hop.ends.link, flow));
    let bytes = endpoints.packet_bytes(&network.plane, flow);
    let rate = pipeline.stamped_rate(endpoints.header(flow), endpoints.flows[flow].id, bytes)?;
    let to = interfaces.id(hop.ends.to);
    Some(((hop.ends.from, hop.ends.to), FlowShare { to, rate, scale: 1.0, allocated: None, air: None }))
}

/// The samples of a run.
#[derive(Debug, Default)]
pub(super) struct Allocations {
    next: u64,
    samples: u64,
    /// By the controller and the links, ascending; no links: the flow has what it asks for.
    limits: BTreeMap<(ControllerIx, Vec<LinkName>), Limiting>,
    /// Samples of shares: those of the agents, and the packets that hops have stamped.
    share_samples: u64,
    /// By node and next hop.
    shares: BTreeMap<(NodeIx, NodeIx), Stamping>,
    /// The smallest share of each sample.
    smallest: Mean,
}

impl Allocations {
    /// Takes a sample of what controllers and agents give the flow, if one is due at this time of the window.
    pub fn observe(&mut self, flow: FlowIx, network: &Network, now: u64, window: (u64, u64)) {
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
        // A share lasts until the next sample.
        self.take(&by_agents(id, network), network, |_| 1.0);
    }

    /// Takes the rates that the hops of the path have stamped into a packet of the flow, which has arrived.
    pub fn on_delivered(&mut self, stamped: &[ShareOfLink], network: &Network, now: u64, window: (u64, u64)) {
        if !stamped.is_empty() && (window.0..=window.1).contains(&now) {
            // A rate lasts for the packet.
            self.take(stamped, network, |rate| 1.0 / rate.max(1.0));
        }
    }

    /// Adds a sample, in which rates have weights.
    fn take(&mut self, shares: &[ShareOfLink], network: &Network, weight: impl Fn(f64) -> f64) {
        self.share_samples += 1;
        for &(key, share) in shares {
            let rate = share.rate.0 as f64;
            let of = self.shares.entry(key).or_default();
            of.samples += 1;
            of.allocable += u64::from(share.allocated.is_some());
            of.allocated += u64::from(share.allocated == Some(true));
            of.rate.add(rate, weight(rate));
            of.scale.add(share.scale, weight(rate));
            share.air.into_iter().for_each(|air| of.air.get_or_insert_default().add(air, weight(rate)));
        }
        let name_order = |node: NodeIx| network.plane.routes.name_order(node);
        let smallest = shares.iter().min_by_key(|&&((node, _), share)| (share.rate, name_order(node)));
        if let Some(&(key, share)) = smallest {
            let rate = share.rate.0 as f64;
            self.smallest.add(rate, weight(rate));
            self.shares.entry(key).or_default().smallest += 1;
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
        if self.shares.is_empty() && self.limits.is_empty() {
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
        let share = |(&(from, to), of): (&(NodeIx, NodeIx), &Stamping)| ShareExplanation {
            from: name(from),
            to: name(to),
            samples: of.samples,
            smallest: of.smallest,
            allocated: (of.allocable > 0).then_some(of.allocated),
            air: of.air.as_ref().map(AirMeans::explanation),
            share_bps: of.rate.value().unwrap_or(0.0),
            scale: of.scale.value().unwrap_or(1.0),
        };
        let mut limits: Vec<LimitExplanation> = self.limits.iter().map(limit).collect();
        limits.sort_by(|a, b| {
            b.samples.cmp(&a.samples).then_with(|| (&a.controller, &a.links).cmp(&(&b.controller, &b.links)))
        });
        let mut shares: Vec<ShareExplanation> = self.shares.iter().map(share).collect();
        shares.sort_by(|a, b| {
            b.smallest.cmp(&a.smallest).then_with(|| (&a.from, &a.to).cmp(&(&b.from, &b.to)))
        });
        Some(AllocationExplanation {
            samples: self.samples,
            packet_bytes,
            share_samples: self.share_samples,
            smallest_bps: self.smallest.value(),
            limits,
            shares,
            inhibited,
        })
    }
}
