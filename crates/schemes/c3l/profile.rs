//! The traffic profile: flows with their routes, from the reports of the nodes that they pass (§III-A, §III-C).
//!
//! Each node reports the flows that it sends on and their next hops. The controller joins these to routes: from a node that is nobody's
//! next hop, along next hops, to a node that does not report the flow.
//!
//! Readings:
//! - Where a report is missing, a flow falls into several pieces. Each piece is a route of its own with the flow's number, since each takes
//!   air; the flow gets the rate of the smallest (its packets carry the smallest stamp).
//! - A piece whose next hops are a ring, which a change of routes can leave for a moment, begins at its smallest node and ends before it
//!   comes back there.
//! - Of the flows that begin at a node no more than a number count (ours), so that a node cannot take the air of others by inventing flows.
//!   Those beyond it have parts of the link's share, which is that of fewer flows. Their routes count from the next node on that begins
//!   fewer, or a node could take shares from others by saying that it begins their flows.
//! - Acknowledgements (ours) are no routes of their own: what they take of the air of links is a part of what each bit of their flow takes,
//!   by the rate that its first node reports, and at most as much as the data would take there, or a node could say that it sends many.
//! - A node's report counts for `expiry`, so that a lost one does not stop its flows.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use airfair_units::{Span, Time};

use super::topology::Link;
use crate::places::{FlowId, NodeId};

/// A flow that a node sends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passing {
    /// The flow.
    pub flow: FlowId,
    /// The next hop of the link.
    pub next_hop: NodeId,
    /// The requirement, bit/s; `INFINITY`: as much as possible.
    pub demand: f64,
    /// The rate that it had, bit/s.
    pub rate: f64,
}

/// Most flows of a node whose acknowledgements count.
const MOST_ANSWERS: usize = 4096;

/// Acknowledgements of a flow that a node sends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answering {
    /// The flow whose data they acknowledge.
    pub flow: FlowId,
    /// The next hop of the acknowledgements.
    pub next_hop: NodeId,
    /// Air that they take, seconds a second.
    pub time: f64,
}

/// A route, or a piece of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The flow.
    pub flow: FlowId,
    /// The links of the path, from the source on.
    pub links: Vec<Link>,
    /// The smallest demand that a node on it reports, bit/s.
    pub demand: f64,
    /// The rate that its first node reports, bit/s.
    pub rate: f64,
    /// The rate that its last node reports, bit/s, and when that node reported.
    pub last: (f64, Time),
    /// The flow's first node reports that it takes all that it gets.
    pub takes_all: bool,
    /// The links that its acknowledgements take, with the seconds of air for each bit of data.
    pub answers: Vec<(Link, f64)>,
}

impl Route {
    const fn new(flow: FlowId) -> Self {
        Self {
            flow,
            links: Vec::new(),
            demand: f64::INFINITY,
            rate: 0.0,
            last: (0.0, Time::ZERO),
            takes_all: true,
            answers: Vec::new(),
        }
    }

    /// A number of its own for each route of a profile: [`super::allocation::Flows::push`].
    #[must_use]
    pub fn rank(&self) -> u64 {
        let first = self.links.first().map_or(0, |link| link.from.0);
        u64::from(self.flow.0) << 32 | u64::from(first)
    }
}

/// The flows that nodes have reported.
#[derive(Debug, Clone)]
pub struct Profile {
    expiry: Span,
    nodes: usize,
    reports: BTreeMap<NodeId, (Time, Vec<Passing>)>,
    answers: BTreeMap<NodeId, (Time, Vec<Answering>)>,
}

impl Profile {
    /// Nothing reported yet. `nodes`: the most nodes that are stored; the one that reported longest ago gives way.
    #[must_use]
    pub const fn new(expiry: Span, nodes: usize) -> Self {
        Self { expiry, nodes, reports: BTreeMap::new(), answers: BTreeMap::new() }
    }

    /// Number of nodes that have reported.
    #[must_use]
    pub fn len(&self) -> usize {
        self.reports.len()
    }

    /// True if none has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reports.is_empty()
    }

    /// A node's report replaces its last one.
    pub fn report(&mut self, node: NodeId, passing: Vec<Passing>, now: Time) {
        if !self.reports.contains_key(&node) && self.reports.len() >= self.nodes {
            let oldest = self.reports.iter().min_by_key(|(_, report)| report.0).map(|(&node, _)| node);
            oldest.map(|oldest| self.reports.remove(&oldest));
        }
        self.reports.insert(node, (now, passing));
    }

    /// The acknowledgements of a node's last report, which replace those of the one before: of each flow over one link.
    pub fn answers(&mut self, node: NodeId, mut answers: Vec<Answering>, now: Time) {
        answers.sort_by_key(|answer| (answer.flow, answer.next_hop));
        answers.dedup_by_key(|answer| answer.flow);
        answers.truncate(MOST_ANSWERS);
        // As many nodes as there are reports of flows.
        if self.reports.contains_key(&node) {
            self.answers.insert(node, (now, answers));
        }
        let Self { reports, answers, .. } = self;
        if answers.len() > reports.len() {
            answers.retain(|node, _| reports.contains_key(node));
        }
    }

    /// Forgets nodes that have not reported any more.
    pub fn expire(&mut self, now: Time) {
        let expiry = self.expiry;
        self.reports.retain(|_, report| now.since(report.0) < expiry);
        self.answers.retain(|_, report| now.since(report.0) < expiry);
    }

    /// Adds to routes what their acknowledgements take: for each bit of data, as much as nodes have reported for the rate that the flow
    /// had. A flow in several pieces has them with the first. `most`: seconds for a bit, of a link; no answer takes more.
    pub fn add_answers(&self, routes: &mut [Route], most: impl Fn(Link) -> f64) {
        for (&node, (_, answers)) in &self.answers {
            for answer in answers.iter().filter(|answer| answer.next_hop != node && answer.time > 0.0) {
                let at = routes.partition_point(|route| route.flow < answer.flow);
                let Some(route) = routes.get_mut(at).filter(|route| route.flow == answer.flow) else {
                    continue;
                };
                let link = Link::new(node, answer.next_hop);
                let most = most(link);
                let time = if route.rate > 0.0 { (answer.time / route.rate).min(most) } else { 0.0 };
                route.answers.push((link, time));
            }
        }
    }

    /// The routes of all flows, in the order of flows and first nodes, of those that begin at one node at most `own`.
    #[must_use]
    pub fn routes(&self, own: usize) -> Vec<Route> {
        // The steps of all flows, by flow and node; the second field: whether the node is a next hop, the third: whether it was visited.
        let mut steps: BTreeMap<(FlowId, NodeId), (Passing, bool, bool, Time)> = BTreeMap::new();
        for (&node, (at, passing)) in &self.reports {
            for step in passing.iter().filter(|step| step.next_hop != node) {
                steps.insert((step.flow, node), (*step, false, false, *at));
            }
        }
        let keys: Vec<(FlowId, NodeId)> = steps.keys().copied().collect();
        for &(flow, node) in &keys {
            let next = steps.get(&(flow, node)).map(|step| step.0.next_hop);
            if let Some(step) = next.and_then(|next| steps.get_mut(&(flow, next))) {
                step.1 = true;
            }
        }
        let mut routes = Vec::new();
        // First from sources, then what is left: rings.
        for rings in [false, true] {
            for &(flow, node) in &keys {
                let (mut route, mut at) = (Route::new(flow), node);
                if steps.get(&(flow, node)).is_some_and(|&(_, next_hop, ..)| next_hop && !rings) {
                    continue;
                }
                while let Some((step, _, visited @ false, reported)) = steps.get_mut(&(flow, at)) {
                    *visited = true;
                    if route.links.is_empty() {
                        (route.rate, route.takes_all) = (step.rate, step.demand == f64::INFINITY);
                    }
                    route.last = (step.rate, *reported);
                    route.links.push(Link::new(at, step.next_hop));
                    route.demand = route.demand.min(step.demand);
                    at = step.next_hop;
                }
                if !route.links.is_empty() {
                    routes.push(route);
                }
            }
        }
        routes.sort_by_key(Route::rank);
        // How many each node begins. What is too many where it begins may have a later part that is not.
        let mut begun: BTreeMap<NodeId, usize> = BTreeMap::new();
        let mut counts = |route: &Route| {
            let begun = route.links.first().map(|link| begun.entry(link.from).or_default());
            begun.filter(|begun| **begun < own).map(|begun| *begun += 1).is_some()
        };
        let (mut counted, rest): (Vec<Route>, Vec<Route>) = routes.into_iter().partition(&mut counts);
        for mut route in rest {
            while !route.links.is_empty() {
                route.links.remove(0);
                if counts(&route) {
                    counted.push(route);
                    break;
                }
            }
        }
        counted.sort_by_key(Route::rank);
        counted
    }
}
