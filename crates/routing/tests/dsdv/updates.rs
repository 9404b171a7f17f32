//! Full dumps and incremental updates.

use airfair_routing::dsdv::{DsdvConfig, INFINITY};
use airfair_units::{Span, Time};

use crate::support::*;
use airfair_routing::Routing;

#[test]
fn every_period_a_full_dump_has_a_new_even_number() {
    let mut node = Node::started(&config());
    // A new destination is reported at once, its metric one more than the node's own.
    let news = node.receive(100, &[(2, 1, 6), (9, 4, 20)], 2);
    assert_eq!(news, [Action::Incremental(vec![(1, 1, 2), (2, 2, 6), (9, 5, 20)])]);
    assert_eq!(node.timer(15_000), [Action::Full(vec![(1, 1, 4), (2, 2, 6), (9, 5, 20)])]);
    assert_eq!(node.timer(30_000), [Action::Full(vec![(1, 1, 6), (2, 2, 6), (9, 5, 20)])]);
}

#[test]
fn random_times_stay_within_their_limits() {
    let secs = Span::from_secs;
    let config = DsdvConfig { start_jitter: secs(4), period_jitter: secs(2), ..config() };
    let mut first = Vec::new();
    for number in 1..=40 {
        let mut node = Node::numbered(number, &config);
        assert_eq!(node.routing.deadline(), Time::ZERO, "the host starts the node");
        assert_eq!(node.timer(0), []);
        let start = node.routing.deadline();
        let full = node.effects(start, |dsdv, cx| dsdv.on_timer(cx)).1;
        assert_eq!(full.len(), 1);
        let next = node.routing.deadline().since(start);
        assert!(secs(15) < next && next < secs(17), "{next:?}");
        first.push(start);
    }
    assert!(first.iter().all(|&at| at < ms(4000)));
    assert!(first.iter().min() < Some(&ms(500)) && first.iter().max() > Some(&ms(3500)), "{first:?}");
}

#[test]
fn a_new_number_triggers_an_update_only_if_it_may() {
    let mut node = Node::started(&config());
    node.receive(100, &[(9, 4, 20)], 2);
    assert_eq!(node.receive(200, &[(9, 4, 22)], 2), [Action::Incremental(vec![(1, 1, 2), (9, 5, 22)])]);
    // In the paper and in ns-2 it is no news of its own: it waits for the next update of either kind.
    let paper = DsdvConfig { trigger_on_new_number: false, ..config() };
    let mut node = Node::started(&paper);
    node.receive(100, &[(9, 4, 20), (8, 1, 4)], 2);
    assert_eq!(node.receive(200, &[(9, 4, 22)], 2), []);
    assert_eq!(
        node.receive(300, &[(7, 1, 30)], 2),
        [Action::Incremental(vec![(1, 1, 2), (7, 2, 30), (9, 5, 22)])]
    );
    node.receive(400, &[(9, 4, 24)], 2);
    assert_eq!(node.timer(15_000), [Action::Full(vec![(1, 1, 4), (7, 2, 30), (8, 2, 4), (9, 5, 24)])]);
}

#[test]
fn triggered_updates_keep_their_distance() {
    let mut node = Node::started(&DsdvConfig { trigger_interval: Span::from_secs(1), ..config() });
    assert_eq!(node.receive(100, &[(9, 4, 20)], 2), []);
    assert_eq!(node.receive(200, &[(8, 4, 20)], 2), []);
    assert_eq!(node.timer(1000), [Action::Incremental(vec![(1, 1, 2), (8, 5, 20), (9, 5, 20)])]);
    assert_eq!(node.receive(14_500, &[(8, 4, 22)], 2), [Action::Incremental(vec![(1, 1, 2), (8, 5, 22)])]);
    // A full dump contains the news and counts as an update.
    assert_eq!(node.receive(14_600, &[(8, 4, 24)], 2), []);
    assert_eq!(node.timer(15_000), [Action::Full(vec![(1, 1, 4), (8, 5, 24), (9, 5, 20)])]);
    assert_eq!(node.receive(15_600, &[(8, 4, 26)], 2), []);
    assert_eq!(node.timer(16_000), [Action::Incremental(vec![(1, 1, 4), (8, 5, 26)])]);
}

#[test]
fn news_within_the_jitter_share_an_update() {
    let mut node = Node::started(&DsdvConfig { update_jitter: Span::from_millis(10), ..config() });
    node.receive(100, &[(9, 4, 20)], 2);
    let at = node.routing.deadline();
    assert!((ms(100)..ms(110)).contains(&at), "{at}");
    let received = airfair_routing::Received { from: hop(2), ttl: 1, to_all: true };
    node.effects(ms(100), |dsdv, cx| dsdv.on_message(&bytes(&[(8, 4, 20)]), received, cx));
    assert_eq!(node.routing.deadline(), at, "later news do not delay the update, and do not hasten it");
    let sent = node.effects(at, |dsdv, cx| dsdv.on_timer(cx)).1;
    assert_eq!(
        sent.into_iter().map(Action::from).collect::<Vec<_>>(),
        [Action::Incremental(vec![(1, 1, 2), (8, 5, 20), (9, 5, 20)])]
    );
}

#[test]
fn a_large_incremental_update_becomes_a_full_dump() {
    let ns2 = DsdvConfig { full_dump_share: 1.0 / 3.0, ..config() };
    let known: Vec<Triple> = (10..22).map(|to| (to, 3, 4)).collect();
    let renewed = |n: u8| (10..10 + n).map(|to| (to, 3, 6)).collect::<Vec<Triple>>();
    for (n, full) in [(4, false), (5, true)] {
        let mut node = Node::started(&ns2);
        let Action::Full(entries) = &node.receive(100, &known, 2)[0] else { panic!("all is new") };
        assert_eq!((entries.len(), entries[0]), (13, (1, 1, 4)), "with the next number");
        let sent = node.receive(200, &renewed(n), 2);
        match &sent[..] {
            [Action::Full(entries)] if full => assert_eq!((entries.len(), entries[0]), (13, (1, 1, 6))),
            [Action::Incremental(entries)] if !full => assert_eq!(entries.len(), 5),
            other => panic!("{n}: {other:?}"),
        }
        // The next period starts with the last full dump.
        let next = if full { 15_200 } else { 15_100 };
        assert_eq!(node.routing.deadline(), ms(next));
    }
    // Three routes are few, whatever their share; and with a share of 1 no update is large.
    for (config, n) in [(ns2, 3), (config(), 12)] {
        let mut node = Node::started(&config);
        let sent = node.receive(100, &known[..n], 2);
        assert!(matches!(&sent[..], [Action::Incremental(entries)] if entries.len() == n + 1), "{sent:?}");
    }
}

#[test]
fn a_long_table_takes_several_datagrams() {
    let mut node = Node::started(&config());
    let table: Vec<Triple> = (2..=251).map(|to| (to, 3, 4)).collect();
    for part in table.chunks(100) {
        node.receive(100, part, 2);
    }
    let lens: Vec<usize> = node
        .timer(15_000)
        .iter()
        .map(|action| {
            let Action::Full(entries) = action else { panic!("{action:?}") };
            assert_eq!(entries[0], (1, 1, 4), "each names its sender");
            entries.len()
        })
        .collect();
    assert_eq!(lens, [122, 122, 9], "250 routes; 122 entries have 1464 bytes");
}

/// Another node's report that this one cannot be reached: it answers with the next even number, so that the report is outdated.
#[test]
fn a_node_overrules_reports_of_itself() {
    let mut node = Node::started(&config());
    assert_eq!(node.receive(100, &[(1, 3, 2)], 2), [], "its own number");
    assert_eq!(node.receive(110, &[(1, INFINITY, 1)], 2), [], "an old report");
    assert_eq!(node.receive(120, &[(1, INFINITY, 3)], 2), [Action::Incremental(vec![(1, 1, 4)])]);
    assert_eq!(node.receive(130, &[(1, 4, 40)], 2), [Action::Incremental(vec![(1, 1, 42)])]);
    assert_eq!(node.timer(15_000), [Action::Full(vec![(1, 1, 44)])]);
}

/// A neighbour reports a broken route. A node that knows a newer one says so at once, whether its own has settled or not, with every
/// report; an older or a broken one is no answer, and without the switch there is none.
#[test]
fn a_broken_route_is_answered_by_a_newer_one() {
    for answer in [true, false] {
        let mut node = Node::started(&DsdvConfig { answer_broken: answer, ..config() });
        let told = |node: &mut Node, now: u64, number: u32| node.receive(now, &[(9, INFINITY, number)], 3);
        node.receive(100, &[(9, 4, 6)], 2);
        let reply = if answer { vec![Action::Incremental(vec![(1, 1, 2), (9, 5, 6)])] } else { vec![] };
        for now in [200, 300] {
            assert_eq!(told(&mut node, now, 5), reply);
        }
        assert_eq!(told(&mut node, 400, 7), [], "a newer number; the neighbour is not the next hop");
        assert_eq!(node.valid(9), Some((6, 4, 2)));
        // Another metric, withheld until 5.5 s.
        assert_eq!(node.receive(500, &[(9, 6, 8)], 2), []);
        let reply = if answer { vec![Action::Incremental(vec![(1, 1, 2), (9, 7, 8)])] } else { vec![] };
        assert_eq!(told(&mut node, 600, 7), reply);
        assert_eq!(
            node.receive(700, &[(9, INFINITY, 9)], 2),
            [Action::Incremental(vec![(1, 1, 2), (9, INFINITY, 9)])]
        );
        assert_eq!((told(&mut node, 800, 7), node.broken(9)), (vec![], Some(9)), "both are broken");
    }
}
