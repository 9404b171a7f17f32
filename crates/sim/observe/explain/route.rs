//! The route of the flow over time, where a protocol maintains routes: for how long there was none, and at which links it was lost.

use std::collections::BTreeMap;

use super::RouteExplanation;
use crate::ids::{FlowIx, NodeIx};
use crate::node::Network;
use crate::observe::paths;
use crate::record::Names;

/// A directed link: a node and its next hop.
type Link = [NodeIx; 2];

/// Observer of the route. Among the states of one moment the last one counts, as in the results of the run.
#[derive(Debug, Default)]
pub(super) struct Route {
    /// Number of changes of next hops that were seen.
    changes: Option<u64>,
    /// The path before the present moment; none without a route.
    before: Option<Vec<NodeIx>>,
    /// The path now, where that differs from the one before, and the link at which this one was lost.
    now: Option<(Option<Vec<NodeIx>>, Option<Link>)>,
    /// Time without a route, ns.
    without: u64,
    /// Losses of the route by the link that ceased to be part of it.
    lost: BTreeMap<Link, u64>,
}

impl Route {
    /// Observes the next hops after an event; costs nothing while none has changed.
    pub fn observe(&mut self, network: &Network, flow: FlowIx) {
        let changes = network.plane.routes.changes();
        if self.changes == changes {
            return;
        }
        self.changes = changes;
        let path = paths::nodes(network, flow);
        let destination = network.endpoints.flows[flow].ends(true).1;
        let follows = |link: &&[NodeIx]| {
            network.plane.routes.next_hop(link[0], destination).is_some_and(|hop| hop.node == link[1])
        };
        let link = match (&self.before, &path) {
            (Some(before), None) => before.windows(2).find(|link| !follows(link)).map(|l| [l[0], l[1]]),
            _ => None,
        };
        self.now = Some((path, link));
    }

    /// Time passes from the present moment on; `counts`: the moment is in the explained time.
    pub fn settle(&mut self, counts: bool) {
        let Some((path, link)) = self.now.take() else { return };
        if let Some(link) = link.filter(|_| counts) {
            *self.lost.entry(link).or_default() += 1;
        }
        self.before = path;
    }

    /// Adds time to the explained time.
    pub fn add(&mut self, ns: u64) {
        self.without += if self.before.is_none() { ns } else { 0 };
    }

    /// None unless a protocol maintains routes.
    pub fn explanation(&self, network: &Network, names: &Names) -> Option<RouteExplanation> {
        network.plane.routes.changes()?;
        let name = |node: NodeIx| names.nodes[node.ix()].clone();
        let lost = self.lost.iter().map(|(&[from, to], &times)| ((name(from), name(to)), times));
        let mut lost: Vec<_> = lost.collect();
        lost.sort();
        Some(RouteExplanation { without: self.without, lost })
    }
}
