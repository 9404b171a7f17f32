//! How well a proactive routing protocol maintains the routes of flows.

use std::collections::BTreeSet;

use airfair_units::{Span, Time};

use crate::ids::NodeIx;

/// The routes of all flows. A changed next hop costs a look at the flows whose routes lead over it, whatever their number in all.
#[derive(Debug, Default)]
pub(super) struct FlowRoutes {
    flows: Vec<FlowRoute>,
    /// Node, destination and flow: the nodes whose next hop to the destination decides on the flow's route.
    users: BTreeSet<(NodeIx, NodeIx, u32)>,
    /// Flows whose routes may have changed since the last check.
    moved: BTreeSet<u32>,
    /// Routes followed so far.
    walks: u64,
}

impl FlowRoutes {
    /// Adds a flow without a route.
    pub(super) fn watch(&mut self, ends: [NodeIx; 2], window: (Time, Time)) {
        self.moved.insert(self.flows.len() as u32);
        self.flows.push(FlowRoute::new(ends, window));
    }

    /// The next hop of a node to a destination has changed.
    pub(super) fn note_moved(&mut self, node: NodeIx, to: NodeIx) {
        let of = self.users.range((node, to, 0)..=(node, to, u32::MAX));
        self.moved.extend(of.map(|&(_, _, flow)| flow));
    }

    /// Follows the routes that may have changed, at their present next hops.
    pub(super) fn check(&mut self, now: Time, next: impl Fn(NodeIx, NodeIx) -> Option<NodeIx>) {
        for at in std::mem::take(&mut self.moved) {
            let Some(flow) = self.flows.get_mut(at as usize) else { continue };
            self.walks += 1;
            let to = flow.ends[1];
            let (path, exists) = walk(flow.ends, &next);
            let same = path.iter().zip(&flow.path).take_while(|(a, b)| a == b).count();
            for &node in &flow.path[same..] {
                self.users.remove(&(node, to, at));
            }
            self.users.extend(path[same..].iter().map(|&node| (node, to, at)));
            flow.path = path;
            flow.record(exists, now);
        }
    }

    /// The upkeep of each flow's route up to the present.
    pub(super) fn upkeep(&self, now: Time) -> Vec<RouteUpkeep> {
        self.flows.iter().map(|flow| flow.upkeep(now)).collect()
    }
}

/// The nodes whose next hops a packet from one node to the other would follow, each once, and whether it would arrive.
fn walk([from, to]: [NodeIx; 2], next: impl Fn(NodeIx, NodeIx) -> Option<NodeIx>) -> (Vec<NodeIx>, bool) {
    let (mut path, mut seen, mut node) = (Vec::new(), BTreeSet::new(), from);
    while node != to {
        if !seen.insert(node) {
            return (path, false);
        }
        path.push(node);
        match next(node, to) {
            Some(hop) => node = hop,
            None => return (path, false),
        }
    }
    (path, true)
}

/// The route of a flow over time: whether the next hops that nodes know lead from its source to its destination. Among the states of one
/// moment, the last one counts.
#[derive(Debug)]
struct FlowRoute {
    ends: [NodeIx; 2],
    /// The nodes of the route as far as it was followed last.
    path: Vec<NodeIx>,
    /// The measured time: from its first moment to before its last one.
    window: (Time, Time),
    /// State before the time of `last`, time of the change to that state, and its upkeep.
    exists: bool,
    changed: Time,
    upkeep: RouteUpkeep,
    /// The last recorded state.
    last: (bool, Time),
}

/// The history of a flow's route in the measured time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RouteUpkeep {
    /// Number of losses of the route.
    pub lost: u64,
    /// Time without a route.
    pub without: Span,
}

impl FlowRoute {
    /// A flow that has no route at time 0.
    fn new(ends: [NodeIx; 2], window: (Time, Time)) -> Self {
        let (exists, changed) = (false, Time::ZERO);
        Self {
            ends,
            path: Vec::new(),
            window,
            exists,
            changed,
            upkeep: RouteUpkeep::default(),
            last: (exists, changed),
        }
    }

    /// Records whether the route exists from now on. A time before that of the last call counts as the same moment.
    fn record(&mut self, exists: bool, now: Time) {
        if now > self.last.1 {
            self.settle();
        }
        self.last = (exists, now.max(self.last.1));
    }

    /// Counts the change to the last recorded state.
    fn settle(&mut self) {
        let (exists, at) = self.last;
        if exists == self.exists {
            return;
        }
        self.upkeep = self.upkeep_with_last();
        (self.exists, self.changed) = (exists, at);
    }

    /// The upkeep up to the last recorded state, and the change to that state.
    fn upkeep_with_last(&self) -> RouteUpkeep {
        let RouteUpkeep { mut lost, mut without } = self.upkeep;
        match (self.exists, self.last) {
            (false, (true, at)) => without = Span(without.0 + self.measured(self.changed, at).0),
            (true, (false, at)) => lost += u64::from(self.window.0 <= at && at < self.window.1),
            _ => {}
        }
        RouteUpkeep { lost, without }
    }

    /// The measured part of a time.
    fn measured(&self, from: Time, to: Time) -> Span {
        to.min(self.window.1).since(from.max(self.window.0))
    }

    /// The route's upkeep up to the present.
    fn upkeep(&self, now: Time) -> RouteUpkeep {
        let RouteUpkeep { lost, without } = self.upkeep_with_last();
        let (exists, at) = self.last;
        let since = if self.exists { at } else { self.changed };
        let open = if exists { Span::ZERO } else { self.measured(since, now) };
        RouteUpkeep { lost, without: Span(without.0 + open.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(n: u64) -> Time {
        Time::ZERO + Span::from_secs(n)
    }

    /// A chain of ten nodes with a hundred flows from one end to the other, and a thousand over the nodes beside: what changes at one node
    /// for one destination is checked for the flows that use it. The first check follows each route once.
    #[test]
    fn flows_that_merely_exist_cost_nothing() {
        let all = (Time::ZERO, s(100));
        let mut flows = FlowRoutes::default();
        (0..100).for_each(|_| flows.watch([NodeIx(0), NodeIx(9)], all));
        (0..1000).for_each(|_| flows.watch([NodeIx(2), NodeIx(8)], all));
        let chain = |node: NodeIx, _| Some(NodeIx(node.0 + 1));
        flows.check(s(1), chain);
        assert_eq!(flows.walks, 1100);
        // Node 5 loses its route to node 9, node 1 one to node 8, which no flow uses, node 7 one to node 3.
        for (node, to) in [(5, 9), (1, 8), (7, 3)] {
            flows.note_moved(NodeIx(node), NodeIx(to));
        }
        let broken = |node: NodeIx, to| chain(node, to).filter(|_| (node.0, to) != (5, NodeIx(9)));
        flows.check(s(2), broken);
        assert_eq!(flows.walks, 1200);
        // Beyond node 5 nothing matters now, and a ring is no route.
        flows.note_moved(NodeIx(7), NodeIx(9));
        flows.check(s(3), broken);
        assert_eq!(flows.walks, 1200);
        flows.note_moved(NodeIx(5), NodeIx(9));
        flows.check(s(4), |node, to| chain(node, to).map(|hop| if node.0 == 5 { NodeIx(3) } else { hop }));
        assert_eq!(flows.walks, 1300);
        let upkeep = flows.upkeep(s(100));
        let span = Span::from_secs;
        assert!(upkeep[..100].iter().all(|of| *of == RouteUpkeep { lost: 1, without: span(1 + 98) }));
        assert!(upkeep[100..].iter().all(|of| *of == RouteUpkeep { lost: 0, without: span(1) }));
    }

    /// Measured from 10 to 40 s; the route exists from 12 to 20 s and from 35 to 50 s, with a loss before and one after that time.
    #[test]
    fn only_the_measured_time_counts() {
        let mut route = FlowRoute::new([NodeIx(0), NodeIx(1)], (s(10), s(40)));
        for (at, exists) in [(3, true), (5, false), (12, true), (20, false), (35, true), (50, false)] {
            route.record(exists, s(at));
            route.record(exists, s(at));
        }
        assert_eq!(route.upkeep(s(60)), RouteUpkeep { lost: 1, without: Span::from_secs(2 + 15) });
        let mut never = FlowRoute::new([NodeIx(0), NodeIx(1)], (s(10), s(40)));
        assert_eq!(never.upkeep(s(9)), RouteUpkeep { lost: 0, without: Span::ZERO });
        assert_eq!(never.upkeep(s(25)), RouteUpkeep { lost: 0, without: Span::from_secs(15) });
        never.record(true, s(10));
        never.record(false, s(40));
        assert_eq!(never.upkeep(s(60)), RouteUpkeep { lost: 0, without: Span::ZERO });
        let mut first = FlowRoute::new([NodeIx(0), NodeIx(1)], (s(10), s(40)));
        first.record(true, s(1));
        first.record(false, s(10));
        assert_eq!(first.upkeep(s(11)), RouteUpkeep { lost: 1, without: Span::from_secs(1) });
    }

    /// Lost and found again at 20 s, found and lost again at 30 s; a step back in time is no time.
    #[test]
    fn states_of_one_moment_do_not_count() {
        let all = (Time::ZERO, s(100));
        let mut kept = FlowRoute::new([NodeIx(0), NodeIx(1)], all);
        for (at, exists) in
            [(10, true), (20, false), (20, true), (30, false), (30, true), (29, false), (29, true)]
        {
            kept.record(exists, s(at));
            kept.record(exists, s(at));
        }
        assert_eq!(kept.upkeep(s(60)), RouteUpkeep { lost: 0, without: Span::from_secs(10) });
        let mut lost = FlowRoute::new([NodeIx(0), NodeIx(1)], all);
        for (at, exists) in [(10, true), (20, false), (30, true), (30, false), (50, true)] {
            lost.record(exists, s(at));
        }
        assert_eq!(lost.upkeep(s(60)), RouteUpkeep { lost: 1, without: Span::from_secs(10 + 30) });
        lost.record(false, s(55));
        assert_eq!(lost.upkeep(s(60)), RouteUpkeep { lost: 2, without: Span::from_secs(10 + 30 + 5) });
    }
}
