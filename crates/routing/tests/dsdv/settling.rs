//! Routes with another metric than advertised are withheld until better ones have had time to arrive.

use airfair_routing::Routing;
use airfair_routing::dsdv::DsdvConfig;
use airfair_units::Span;

use crate::support::*;

#[test]
fn a_changed_metric_is_used_at_once_and_advertised_when_settled() {
    let mut node = Node::started(&DsdvConfig { weighted_settling: false, ..config() });
    node.receive(100, &[(8, 1, 2), (9, 4, 20)], 2);
    assert_eq!(node.receive(1000, &[(9, 6, 22)], 3), []);
    assert_eq!(node.valid(9), Some((22, 6, 3)));
    assert_eq!(node.timer(6000), [Action::Incremental(vec![(1, 1, 2), (9, 7, 22)])]);
    // A better route with the same number has its own settling time, unless its metric is the advertised one.
    assert_eq!(node.receive(7000, &[(9, 4, 24)], 2), []);
    assert_eq!(node.receive(8000, &[(9, 3, 24)], 3), []);
    assert_eq!(node.until(14_000), [(13_000, vec![Action::Incremental(vec![(1, 1, 2), (9, 4, 24)])])]);
    assert_eq!(node.receive(14_100, &[(9, 5, 26)], 2), []);
    assert_eq!(node.receive(14_200, &[(9, 3, 26)], 3), [Action::Incremental(vec![(1, 1, 2), (9, 4, 26)])]);
    // Also a full dump leaves out what is not settled.
    assert_eq!(node.receive(14_500, &[(9, 5, 28)], 2), []);
    assert_eq!(node.timer(15_000), [Action::Full(vec![(1, 1, 4), (8, 2, 2)])]);
    assert_eq!(node.timer(19_500), [Action::Incremental(vec![(1, 1, 4), (9, 6, 28)])]);
}

/// The average starts at half of 5 s. The first number's best route came at once, the second's 0.8 s after the first one:
/// 2500 · 0.875 = 2187.5, then (0.8 s counts when the next number arrives) 0.875 · 2187.5 + 0.125 · 800 = 2014.0625.
#[test]
fn the_settling_time_is_twice_the_average_time_to_the_best_route() {
    let mut node = Node::started(&config());
    node.receive(0, &[(9, 4, 20)], 2);
    node.receive(1000, &[(9, 6, 22)], 3);
    assert_eq!(node.route(9).unwrap().settled_at, ms(1000 + 4375));
    node.receive(1800, &[(9, 5, 22)], 2);
    assert_eq!(node.route(9).unwrap().settled_at, ms(1800 + 4375));
    assert_eq!(node.until(7000), [(6175, vec![Action::Incremental(vec![(1, 1, 2), (9, 6, 22)])])]);
    node.receive(7000, &[(9, 7, 24)], 2);
    let settled = node.route(9).unwrap().settled_at;
    assert_eq!(settled, ms(7000) + Span(4_028_125_000));
    // Without weights the past has no influence, or it alone.
    for (settling_weight, settles) in [(0.0, 1600), (1.0, 5000)] {
        let mut node = Node::started(&DsdvConfig { settling_weight, ..config() });
        node.receive(0, &[(9, 4, 20)], 2);
        node.receive(1000, &[(9, 6, 22)], 3);
        node.receive(1800, &[(9, 5, 22)], 2);
        node.until(6999);
        node.receive(7000, &[(9, 7, 24)], 2);
        assert_eq!(node.route(9).unwrap().settled_at, ms(7000 + settles), "{settling_weight}");
    }
}

/// ns-2: each new route settles, and without news of the metric it only rides along.
#[test]
fn every_route_may_have_to_settle() {
    let ns2 =
        DsdvConfig { settle_all: true, trigger_on_new_number: false, weighted_settling: false, ..config() };
    let mut node = Node::started(&ns2);
    assert_eq!(node.receive(100, &[(9, 4, 20)], 2), []);
    assert_eq!(node.timer(5100), [Action::Incremental(vec![(1, 1, 2), (9, 5, 20)])]);
    assert_eq!(node.receive(12_000, &[(9, 4, 22)], 2), []);
    assert_eq!(node.timer(15_000), [Action::Full(vec![(1, 1, 4)])], "9 is not settled");
    assert_eq!(node.routing.deadline(), ms(30_000), "and triggers nothing");
    assert_eq!(node.timer(30_000), [Action::Full(vec![(1, 1, 6), (9, 5, 22)])]);
    // What broke and what was restored is reported at once.
    let broken = node.receive(31_000, &[(9, 4, 23)], 2);
    assert_eq!(broken, [Action::Incremental(vec![(1, 1, 6), (9, 250, 23)])]);
    let restored = node.receive(32_000, &[(9, 4, 24)], 2);
    assert_eq!(restored, [Action::Incremental(vec![(1, 1, 6), (9, 5, 24)])]);
}

/// A new number alone is no news, whatever its metric; a shorter path is, unless its metric was advertised before.
#[test]
fn without_triggers_for_numbers_only_shorter_paths_trigger() {
    let paper = DsdvConfig { trigger_on_new_number: false, weighted_settling: false, ..config() };
    let mut node = Node::started(&paper);
    node.receive(100, &[(9, 4, 20)], 2);
    node.receive(1000, &[(9, 6, 22)], 3);
    assert_eq!(node.until(14_000), [], "a longer path with a new number");
    assert_eq!(node.receive(14_100, &[(9, 4, 22)], 2), [], "back at the metric that was advertised");
    assert_eq!(node.until(14_900), []);
    assert_eq!(node.timer(15_000), [Action::Full(vec![(1, 1, 4), (9, 5, 22)])]);
    node.receive(16_000, &[(9, 3, 22)], 3);
    assert_eq!(node.until(22_000), [(21_000, vec![Action::Incremental(vec![(1, 1, 4), (9, 4, 22)])])]);
}

/// A route that breaks while it is withheld is reported at once.
#[test]
fn what_breaks_does_not_settle() {
    let mut node = Node::started(&DsdvConfig { weighted_settling: false, ..config() });
    node.receive(100, &[(9, 4, 20)], 2);
    assert_eq!(node.receive(1000, &[(9, 6, 22)], 3), []);
    assert_eq!(node.receive(2000, &[(9, 250, 23)], 3), [Action::Incremental(vec![(1, 1, 2), (9, 250, 23)])]);
}
