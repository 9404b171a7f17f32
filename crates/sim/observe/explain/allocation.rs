//! The shares that a controller and agents give the flow: the set of links whose capacity limits it, and the node that stamps the smallest
//! share.
//!
//! Both are constant between a round, or an agent's epoch, and the next: they are sampled.

use std::collections::BTreeMap;

use airfair_schemes::places::{FlowLimit, FlowShare, LinkName};

use super::{AllocationExplanation, LimitExplanation, ShareExplanation};
use crate::ids::{ControllerIx, FlowIx, NodeIx};
use crate::measure::summary::InhibitedLink;
use crate::node::Network;
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
    allocated: u64,
    /// Sums over the samples.
    rate: f64,
    scale: f64,
}

/// The samples of a run.
#[derive(Debug, Default)]
pub(super) struct Allocations {
    next: u64,
    samples: u64,
    /// By the controller and the links, ascending; no links: the flow has what it asks for.
    limits: BTreeMap<(ControllerIx, Vec<LinkName>), Limiting>,
    /// By node and next hop.
    shares: BTreeMap<(NodeIx, NodeIx), Stamping>,
    /// Sum of the smallest share of each sample, and the number of samples with one.
    smallest: (f64, u64),
}

impl Allocations {
    /// Takes a sample, if one is due at this time of the window.
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
        let mut smallest: Option<(f64, (NodeIx, NodeIx))> = None;
        for station in network.plane.interfaces.stations() {
            let Some(FlowShare { to, rate, scale, allocated }) = network.hosts.agents.share(station, id)
            else {
                continue;
            };
            let Some(to) = network.plane.interfaces.node_of_id(to) else { continue };
            let (key, rate) = ((network.plane.interfaces.of_station(station).0, to), rate.0 as f64);
            let stamping = self.shares.entry(key).or_default();
            stamping.samples += 1;
            stamping.allocated += u64::from(allocated);
            stamping.rate += rate;
            stamping.scale += scale;
            let order =
                |(rate, (node, _)): (f64, (NodeIx, NodeIx))| (rate, network.plane.routes.name_order(node));
            if smallest.is_none_or(|least| order((rate, key)) < order(least)) {
                smallest = Some((rate, key));
            }
        }
        if let Some((rate, key)) = smallest {
            self.smallest = (self.smallest.0 + rate, self.smallest.1 + 1);
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
            allocated: of.allocated,
            share_bps: mean(of.rate, of.samples),
            scale: mean(of.scale, of.samples),
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
            smallest_bps: (self.smallest.1 > 0).then(|| mean(self.smallest.0, self.smallest.1)),
            limits,
            shares,
            inhibited,
        })
    }
}
