//! How well a proactive routing protocol maintains the routes of flows.

use airfair_units::{Span, Time};

use crate::ids::NodeIx;

/// The route of a flow over time: whether the next hops that nodes know lead from its source to its destination.
#[derive(Debug)]
pub(super) struct FlowRoute {
    pub ends: [NodeIx; 2],
    /// The measured time: from its first moment to before its last one.
    window: (Time, Time),
    exists: bool,
    /// Time of the last change.
    changed: Time,
    without: Span,
    lost: u64,
}

/// What became of a flow's route in the measured time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RouteUpkeep {
    /// Number of losses of the route.
    pub lost: u64,
    /// Time without a route.
    pub without: Span,
}

impl FlowRoute {
    /// A flow that has no route at time 0.
    pub(super) fn new(ends: [NodeIx; 2], window: (Time, Time)) -> Self {
        Self { ends, window, exists: false, changed: Time::ZERO, without: Span::ZERO, lost: 0 }
    }

    /// Records whether the route exists from now on.
    pub(super) fn record(&mut self, exists: bool, now: Time) {
        if exists == self.exists {
            return;
        }
        if exists {
            self.without = Span(self.without.0 + self.measured(now).0);
        } else if self.window.0 <= now && now < self.window.1 {
            self.lost += 1;
        }
        (self.exists, self.changed) = (exists, now);
    }

    /// The part of the time since the last change that belongs to the measured time.
    fn measured(&self, now: Time) -> Span {
        now.min(self.window.1).since(self.changed.max(self.window.0))
    }

    /// The route's upkeep up to the present.
    pub(super) fn upkeep(&self, now: Time) -> RouteUpkeep {
        let open = if self.exists { Span::ZERO } else { self.measured(now) };
        RouteUpkeep { lost: self.lost, without: Span(self.without.0 + open.0) }
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
}
