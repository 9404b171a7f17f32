//! §III-D and Algorithm 1, step by step.

use airfair_optimum::{Cliques, ConflictGraph, Membership, maximal_cliques};
use airfair_schemes::c3l::capacity::{
    Capacities, CapacityConfig, Decrease, LinkRound, Pinpointed, Repeats, Several,
};

use super::{C, link};

/// Two cliques, {0, 1} and {1, 2}.
fn two() -> (Cliques, Membership) {
    let mut graph = ConflictGraph::with_vertices(3);
    graph.add_edge(0, 1).unwrap();
    graph.add_edge(1, 2).unwrap();
    let cliques = maximal_cliques(&graph, 10).cliques().clone();
    let membership = cliques.membership();
    (cliques, membership)
}

/// A link whose sender sends at its assigned rate, a part of C_max.
fn sends(part: f64) -> LinkRound {
    LinkRound {
        assigned: part * C,
        used: part * C,
        transmissions: 1.0,
        cost: 1.0 / C,
        overloaded: false,
        heard: true,
        ..LinkRound::default()
    }
}

fn over(round: LinkRound) -> LinkRound {
    LinkRound { overloaded: true, ..round }
}

struct Controller {
    cliques: Cliques,
    membership: Membership,
    capacities: Capacities,
}

impl Controller {
    fn new(config: CapacityConfig) -> Self {
        let (cliques, membership) = two();
        let mut capacities = Capacities::new(config);
        capacities.set_cliques(&cliques, |number| link(number, 9));
        Self { cliques, membership, capacities }
    }

    fn round(&mut self, links: [LinkRound; 3]) -> [f64; 2] {
        self.hidden_round(links, |_, _| false)
    }

    fn hidden_round(&mut self, links: [LinkRound; 3], hidden: impl FnMut(u32, u32) -> bool) -> [f64; 2] {
        self.capacities.reestimate(&self.cliques, &self.membership, &links, hidden, u64::MAX);
        [self.capacities.capacities()[0], self.capacities.capacities()[1]]
    }

    fn is(&self, clique: u32, capacity: f64, decrement: f64) {
        let estimate = self.capacities.estimate(clique).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(close(estimate.capacity, capacity) && close(estimate.decrement, decrement), "{estimate:?}");
    }
}

/// Link 0 is overloaded in each round: 5, 10, 20, 40 % less, and then the floor; the other clique has none and stays at C_max.
/// The first round without overload adds 5 % and takes δ_r back to 5 %.
#[test]
fn decrements_double() {
    let mut c3l = Controller::new(CapacityConfig::default());
    c3l.is(0, 1.0, 0.05);
    for (capacity, decrement) in
        [(0.95, 0.1), (0.85, 0.2), (0.65, 0.4), (0.25, 0.8), (0.05, 1.0), (0.05, 1.0)]
    {
        c3l.round([over(sends(0.5)), sends(0.5), sends(0.5)]);
        c3l.is(0, capacity, decrement);
        c3l.is(1, 1.0, 0.05);
    }
    for capacity in [0.1, 0.15, 0.2] {
        c3l.round([sends(0.5); 3]);
        c3l.is(0, capacity, 0.05);
    }
    c3l.round([over(sends(0.5)), sends(0.5), sends(0.5)]);
    c3l.is(0, 0.15, 0.1);
}

/// C_max is never exceeded: 0.95 and 5 % are 1, and 5 % more are 1.
#[test]
fn growth_ends_at_c_max() {
    let mut c3l = Controller::new(CapacityConfig::default());
    c3l.round([over(sends(0.5)), sends(0.5), sends(0.5)]);
    c3l.is(0, 0.95, 0.1);
    c3l.round([sends(0.5); 3]);
    c3l.is(0, 1.0, 0.05);
    assert_eq!(c3l.round([sends(0.5); 3]), [1.0, 1.0]);
    // From 0.98 up to 1 as well: δ_i 0.03 would give 1.01.
    let mut c3l = Controller::new(CapacityConfig { increment: 0.03, ..CapacityConfig::default() });
    c3l.round([over(sends(0.5)), sends(0.5), sends(0.5)]);
    c3l.round([over(sends(0.5)), sends(0.5), sends(0.5)]);
    c3l.is(0, 0.91, 0.12);
    assert_eq!([0; 4].map(|_| c3l.round([sends(0.5); 3])[0]), [0.94, 0.97, 1.0, 1.0]);
}

/// Link 1 is in both cliques: with 0.3 + 0.4 in {0, 1} and 0.4 + 0.5 in {1, 2} the second is pinpointed. The first has an overloaded
/// link for which it was not pinpointed: the third case, nothing changes.
#[test]
fn the_clique_with_the_largest_use_is_pinpointed() {
    let mut c3l = Controller::new(CapacityConfig::default());
    c3l.round([sends(0.3), over(sends(0.4)), sends(0.5)]);
    c3l.is(0, 1.0, 0.05);
    c3l.is(1, 0.95, 0.1);
    let [Pinpointed { link, clique, usage }] = c3l.capacities.pinpointed() else { panic!() };
    assert!((*link, *clique) == (1, 1) && (usage - 0.9).abs() < 1e-12);
    // Now the first has more, and the second keeps its δ_r of 10 %.
    c3l.round([sends(0.6), over(sends(0.4)), sends(0.5)]);
    assert_eq!(c3l.capacities.pinpointed().len(), 1);
    c3l.is(0, 0.95, 0.1);
    c3l.is(1, 0.95, 0.1);
    c3l.round([sends(0.6), over(sends(0.4)), sends(0.5)]);
    c3l.is(0, 0.85, 0.2);
    c3l.round([sends(0.3), over(sends(0.4)), sends(0.5)]);
    c3l.is(0, 0.85, 0.2);
    c3l.is(1, 0.85, 0.2);
    // Of equals the first.
    let mut c3l = Controller::new(CapacityConfig::default());
    c3l.round([sends(0.5), over(sends(0.4)), sends(0.5)]);
    c3l.is(0, 0.95, 0.1);
    c3l.is(1, 1.0, 0.05);
}

/// r is that of each link: 0.3 x 2 + 0.4 = 1.0 against 0.9. A link that needs no retransmission counts once, not 0 times.
#[test]
fn transmissions_multiply_the_use() {
    let mut c3l = Controller::new(CapacityConfig::default());
    let twice = LinkRound { transmissions: 2.0, ..sends(0.3) };
    c3l.round([twice, over(sends(0.4)), sends(0.5)]);
    c3l.is(0, 0.95, 0.1);
    let never = LinkRound { transmissions: 0.0, ..sends(0.6) };
    let mut c3l = Controller::new(CapacityConfig::default());
    c3l.round([never, over(sends(0.4)), sends(0.5)]);
    c3l.is(0, 0.95, 0.1);
    // Half of the rate at a quarter of the goodput takes twice the time: 0.3 x 2 = 0.6.
    let slow = LinkRound { assigned: 0.15 * C, cost: 4.0 / C, ..sends(0.15) };
    assert!((slow.airtime(Repeats::Transmissions) - 0.6).abs() < 1e-12);
    let mut c3l = Controller::new(CapacityConfig::default());
    c3l.round([slow, over(sends(0.4)), sends(0.5)]);
    c3l.is(0, 0.95, 0.1);
    for bad in [f64::NAN, -1.0, f64::NEG_INFINITY] {
        let round = LinkRound {
            assigned: bad,
            used: bad,
            transmissions: bad,
            cost: bad,
            overloaded: true,
            heard: true,
            ..LinkRound::default()
        };
        assert_eq!(round.airtime(Repeats::Transmissions), 0.0);
        assert!(Controller::new(CapacityConfig::default()).round([round; 3])[0] <= 1.0);
    }
    let all = LinkRound {
        assigned: f64::INFINITY,
        cost: f64::INFINITY,
        transmissions: f64::INFINITY,
        ..sends(1.0)
    };
    assert!(all.airtime(Repeats::Transmissions).is_finite());
}

/// Link 0 transmits each packet twice: 0.2 x 2 + 0.3 is less than 0.3 + 0.6, but 0.2 x 1 + 0 more than 0 + 0.
#[test]
fn retransmissions_alone_find_another_clique() {
    let rounds = [LinkRound { transmissions: 2.0, ..sends(0.2) }, over(sends(0.3)), sends(0.6)];
    for (repeats, loses) in [(Repeats::Transmissions, 1), (Repeats::Retransmissions, 0)] {
        let mut c3l = Controller::new(CapacityConfig { repeats, ..CapacityConfig::default() });
        c3l.round(rounds);
        c3l.is(loses, 0.95, 0.1);
        c3l.is(1 - loses, 1.0, 0.05);
    }
}

/// The inhibitor 0 of link 1 counts 1.7 times: 0.3 x 1.7 + 0.4 = 0.91 against 0.4 + 0.5 = 0.9. From the inhibitor's own view it does not.
#[test]
fn an_inhibitor_counts_w_factor_times() {
    let hidden = |inhibited: u32, inhibitor: u32| (inhibited, inhibitor) == (1, 0);
    let mut c3l = Controller::new(CapacityConfig::default());
    c3l.hidden_round([sends(0.3), over(sends(0.4)), sends(0.5)], hidden);
    c3l.is(0, 0.95, 0.1);
    c3l.is(1, 1.0, 0.05);
    let usage = c3l.capacities.pinpointed()[0].usage;
    assert!((usage - 0.91).abs() < 1e-12, "{usage}");
    let rounds = [sends(0.3), sends(0.4), sends(0.5)];
    let seen = |link| c3l.capacities.usage(&[0, 1], link, &rounds, hidden);
    assert!((seen(0) - 0.7).abs() < 1e-12 && (seen(1) - 0.91).abs() < 1e-12);
    let mut without = Controller::new(CapacityConfig { w_factor: 1.0, ..CapacityConfig::default() });
    without.hidden_round([sends(0.3), over(sends(0.4)), sends(0.5)], hidden);
    without.is(1, 0.95, 0.1);
}

/// Links 0 and 1 are overloaded and pinpoint {0, 1}: one decrease, or two of 5 %.
#[test]
fn several_overloaded_links_in_a_clique() {
    let rounds = [over(sends(0.6)), over(sends(0.4)), sends(0.5)];
    let mut once = Controller::new(CapacityConfig::default());
    once.round(rounds);
    once.is(0, 0.95, 0.1);
    assert_eq!(once.capacities.pinpointed().len(), 2);
    let mut each = Controller::new(CapacityConfig { several: Several::Each, ..CapacityConfig::default() });
    each.round(rounds);
    each.is(0, 0.9, 0.1);
    each.is(1, 1.0, 0.05);
}

/// The variant that decreases every clique of an overloaded link.
#[test]
fn all_cliques_of_an_overloaded_link() {
    let mut c3l = Controller::new(CapacityConfig { decrease: Decrease::All, ..CapacityConfig::default() });
    c3l.round([sends(0.3), over(sends(0.4)), sends(0.5)]);
    c3l.is(0, 0.95, 0.1);
    c3l.is(1, 0.95, 0.1);
    assert_eq!(c3l.capacities.pinpointed()[0].clique, 1);
}

/// The capacity grows only if each sender used 90 % of its share; δ_r is reset in any case. As printed it grows always.
#[test]
fn growth_needs_senders_that_use_their_share() {
    let down = [over(sends(0.5)), sends(0.5), sends(0.5)];
    let used = |part: f64| LinkRound { used: part * 0.5 * C, ..sends(0.5) };
    let after = |config: CapacityConfig, rounds: [LinkRound; 3]| {
        let mut c3l = Controller::new(config);
        c3l.round(down);
        c3l.round(down);
        c3l.round(rounds);
        let estimate = c3l.capacities.estimate(0).unwrap();
        assert_eq!(estimate.decrement, 0.05);
        estimate.capacity
    };
    let text = CapacityConfig::default();
    let printed = CapacityConfig { used: 0.0, ..text };
    let cases = [
        ([used(1.0), used(0.91), sends(0.5)], true),
        ([used(1.0), used(0.89), sends(0.5)], false),
        ([used(0.0), used(1.0), sends(0.5)], false),
        // A link without flows is no sender.
        ([used(1.0), sends(0.0), sends(0.5)], true),
        // Nobody sends.
        ([sends(0.0), sends(0.0), sends(0.5)], false),
        // A report is missing.
        ([used(1.0), LinkRound { heard: false, ..used(1.0) }, sends(0.5)], false),
    ];
    for (at, (rounds, grows)) in cases.into_iter().enumerate() {
        let wanted = if grows { 0.9 } else { 0.85 };
        assert!((after(text, rounds) - wanted).abs() < 1e-12, "case {at}");
        assert!((after(printed, rounds) - 0.9).abs() < 1e-12, "case {at}");
    }
    // All of the share is enough where all is demanded.
    let all = CapacityConfig { used: 1.0, ..text };
    assert!((after(all, [used(1.0), used(1.0), sends(0.5)]) - 0.9).abs() < 1e-12);
}

/// {1, 2} stays, with its estimate; {0, 1} becomes {0, 1, 3}, which is new. Numbers of links do not matter.
#[test]
fn a_clique_is_its_set_of_links() {
    let mut c3l = Controller::new(CapacityConfig::default());
    c3l.round([sends(0.3), over(sends(0.4)), sends(0.5)]);
    c3l.round([over(sends(0.3)), sends(0.1), sends(0.1)]);
    c3l.is(0, 0.95, 0.1);
    c3l.is(1, 1.0, 0.05);
    c3l.round([over(sends(0.3)), over(sends(0.4)), sends(0.5)]);
    c3l.is(0, 0.85, 0.2);
    c3l.is(1, 0.95, 0.1);
    // The links 10, 11, 12, 13 stand for 2, 1, 0, 3.
    let mut graph = ConflictGraph::with_vertices(4);
    for (a, b) in [(0, 1), (1, 2), (1, 3), (2, 3)] {
        graph.add_edge(a, b).unwrap();
    }
    let cliques = maximal_cliques(&graph, 10).cliques().clone();
    assert_eq!(cliques.iter().collect::<Vec<_>>(), [&[0, 1][..], &[1, 2, 3]]);
    c3l.capacities.set_cliques(&cliques, |number| link([2, 1, 0, 3][number as usize], 9));
    c3l.is(0, 0.95, 0.1);
    c3l.is(1, 1.0, 0.05);
    assert!(c3l.capacities.estimate(2).is_none());
    let (cliques, _) = two();
    c3l.capacities.set_cliques(&cliques, |number| link(number, 9));
    c3l.is(0, 1.0, 0.05);
    c3l.is(1, 0.95, 0.1);
    c3l.capacities
        .set_cliques(&Cliques::clone(maximal_cliques(&ConflictGraph::new(), 1).cliques()), |_| link(0, 1));
    assert!(c3l.capacities.capacities().is_empty());
}

/// In the allocation an inhibitor counts 1.7 in the cliques of links that it inhibits, if the parameter says so; a link does not inhibit
/// itself.
#[test]
fn weights_of_the_allocation() {
    let hidden = |inhibited: u32, inhibitor: u32| inhibitor == 0 && inhibited != 2;
    let weights = |config: CapacityConfig| {
        [(0, &[0, 1][..]), (1, &[0, 1]), (0, &[0, 2]), (2, &[0, 2])]
            .map(|(link, clique)| config.weight(link, clique, hidden))
    };
    assert_eq!(weights(CapacityConfig::default()), [1.0; 4]);
    assert_eq!(
        weights(CapacityConfig { w_in_allocation: true, ..CapacityConfig::default() }),
        [1.7, 1.0, 1.0, 1.0]
    );
}

/// A clique starts at `first` and grows to `most`, 0.05 a round: 0.9, 0.95, 0.95.
#[test]
fn first_and_largest_capacity() {
    let mut c3l = Controller::new(CapacityConfig { first: 0.85, most: 0.95, ..CapacityConfig::default() });
    for capacity in [0.9, 0.95, 0.95] {
        let [one, two] = c3l.round([sends(0.2), sends(0.3), sends(0.6)]);
        assert!((one - capacity).abs() < 1e-12 && (two - capacity).abs() < 1e-12, "{one} {two}");
    }
}

/// 0.2 of C with two transmissions a packet and 0.1 s a second of acknowledgements: 0.5 s.
#[test]
fn acknowledgements_take_channel_time() {
    let round = LinkRound { transmissions: 2.0, answers: 0.1, ..sends(0.2) };
    assert!((round.airtime(Repeats::Transmissions) - 0.5).abs() < 1e-12);
}
