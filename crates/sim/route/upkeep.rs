//! How well a proactive routing protocol maintains the routes of flows.

use airfair_units::{Span, Time};

use crate::ids::NodeIx;

/// The route of a flow over time: whether the next hops that nodes know lead from its source to its destination. Among the states of one
/// moment, the last one counts.
#[derive(Debug)]
pub(super) struct FlowRoute {
    pub ends: [NodeIx; 2],
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
    pub(super) fn new(ends: [NodeIx; 2], window: (Time, Time)) -> Self {
        let (exists, changed) = (false, Time::ZERO);
        Self { ends, window, exists, changed, upkeep: RouteUpkeep::default(), last: (exists, changed) }
    }

    /// Records whether the route exists from now on. A time before that of the last call counts as the same moment.
    pub(super) fn record(&mut self, exists: bool, now: Time) {
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
    pub(super) fn upkeep(&self, now: Time) -> RouteUpkeep {
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
