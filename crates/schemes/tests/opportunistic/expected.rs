//! Expected transmissions: by hand, by a play with dice, and for any losses.

use airfair_schemes::opportunistic::expected::{Expected, Pruning};
use airfair_schemes::opportunistic::losses::Losses;
use airfair_schemes::places::NodeId;
use airfair_units::random::{Purpose, Stream};
use proptest::prelude::*;

use crate::networks::{DIAMOND, LINE, MESH, network};
use crate::random::random_network;

const ALL: Pruning = Pruning { part: 0.0, rise: 0.0, most: 64 };

fn expected(links: &[(u32, u32, f64)], source: u32, destination: u32, pruning: &Pruning) -> Expected {
    Expected::new(&network(links), NodeId(source), NodeId(destination), pruning).unwrap()
}

/// Nodes from the destination on, each with its load and its transmissions.
fn assert_shares(expected: &Expected, wanted: &[(u32, f64, f64)]) {
    let nodes: Vec<u32> = expected.shares().iter().map(|share| share.node.0).collect();
    assert_eq!(nodes, wanted.iter().map(|share| share.0).collect::<Vec<_>>());
    for (share, &(node, load, sends)) in expected.shares().iter().zip(wanted) {
        assert!((share.load - load).abs() < 1e-12, "{node}: load {} instead of {load}", share.load);
        assert!((share.sends - sends).abs() < 1e-12, "{node}: z {} instead of {sends}", share.sends);
    }
    let cost: f64 = wanted.iter().map(|share| share.2).sum();
    assert!((expected.cost() - cost).abs() < 1e-12);
}

#[test]
fn a_lossy_link() {
    assert_shares(&expected(&[(1, 0, 0.5)], 1, 0, &ALL), &[(0, 1.0, 0.0), (1, 1.0, 2.0)]);
}

#[test]
fn a_line_of_three() {
    // The source until one of two hears it: 1 / (1 - 0.2 * 0.8) = 25/21. The relay has what it heard and the destination has not:
    // 25/21 * 0.8 * 0.8 = 16/21, and sends each twice.
    let line = expected(&LINE, 2, 0, &ALL);
    assert_shares(&line, &[(0, 1.0, 0.0), (1, 16.0 / 21.0, 32.0 / 21.0), (2, 1.0, 25.0 / 21.0)]);
    assert!((line.cost() - 19.0 / 7.0).abs() < 1e-12, "instead of 3.25 by the best path");
}

#[test]
fn a_diamond() {
    // 1 / (1 - 1/4) = 4/3; the relay that counts as nearer has half of that, the other half of the rest; each sends 1 / 0.8 times.
    let (source, first, second) =
        ((3, 1.0, 4.0 / 3.0), (1, 2.0 / 3.0, 5.0 / 6.0), (2, 1.0 / 3.0, 5.0 / 12.0));
    assert_shares(&expected(&DIAMOND, 3, 0, &ALL), &[(0, 1.0, 0.0), first, second, source]);
}

#[test]
fn a_mesh_of_two_by_three() {
    // Source 10: 12 and 13 hear it, 1 / (1 - 0.2 * 0.5) = 10/9.
    // 13 has 10/9 * 0.5 * 0.2 = 1/9; 14, 12 and 15 hear it: divided by 1 - 0.5 * 0.2 * 0.2 = 0.98.
    // 15 has of 13 what 14 and 12 have not: 0.8 * 0.5 * 0.2; 14 and 12 hear it: divided by 1 - 0.2 * 0.5 = 0.9.
    // 12 has 10/9 * 0.8 of the source, 0.8 * 0.5 of 13, 0.5 * 0.2 of 15; divided by 0.8.
    let (z13, source) = (1.0 / 9.0 / 0.98, 10.0 / 9.0);
    let (l15, z15) = (0.08 * z13, 0.08 * z13 / 0.9);
    let l12 = 8.0 / 9.0 + 0.4 * z13 + 0.1 * z15;
    let all = expected(&MESH, 10, 14, &ALL);
    assert_shares(
        &all,
        &[(14, 1.0, 0.0), (12, l12, l12 / 0.8), (15, l15, z15), (13, 1.0 / 9.0, z13), (10, 1.0, source)],
    );
    assert!((all.cost() - 2.403_628).abs() < 1e-6);
    // 15 and 13 send less than a tenth, and without them it is 4 % more: the best path is left.
    let pruned = expected(&MESH, 10, 14, &Pruning::default());
    assert_shares(&pruned, &[(14, 1.0, 0.0), (12, 1.0, 1.25), (10, 1.0, 1.25)]);
    // If it may rise by 3 % only, 15 alone goes.
    let some = expected(&MESH, 10, 14, &Pruning { rise: 0.03, ..Pruning::default() });
    assert_eq!(some.shares().iter().map(|share| share.node.0).collect::<Vec<_>>(), [14, 12, 13, 10]);
}

/// A relay that hears all and delivers three quarters: with it a packet takes two transmissions, one of the source and one of the relay;
/// without it four, as the destination hears a quarter of the source. The relay goes if it sends less than a part, here six tenths, and if
/// they may rise to twice as many; not if it sends just the part.
#[test]
fn who_sends_too_little_goes_if_that_costs_no_more() {
    let links = [(2, 1, 1.0), (1, 0, 0.75), (2, 0, 0.25)];
    for (part, rise, nodes) in [(0.6, 0.99, vec![0, 1, 2]), (0.6, 1.0, vec![0, 2]), (0.5, 1.0, vec![0, 1, 2])]
    {
        let kept = expected(&links, 2, 0, &Pruning { part, rise, ..ALL });
        assert_eq!(kept.shares().iter().map(|share| share.node.0).collect::<Vec<_>>(), nodes);
    }
}

/// Who hears nobody and is heard by nobody takes no part, wherever it is put in the order.
#[test]
fn who_hears_nothing_takes_no_part() {
    let (losses, nodes) =
        (network(&LINE), |nodes: &[u32]| nodes.iter().copied().map(NodeId).collect::<Vec<_>>());
    assert_eq!(Expected::of(&losses, &nodes(&[0, 9, 1, 2])), Expected::of(&losses, &nodes(&[0, 1, 2])));
}

/// Six hops with two relays each that are as good: each sends a twentieth of all, and all at once would go.
#[test]
fn relays_that_are_as_good_do_not_all_go() {
    let mut links = Vec::new();
    for hop in 0..6 {
        let (near, far) =
            (if hop == 0 { vec![0] } else { vec![2 * hop - 1, 2 * hop] }, [2 * hop + 1, 2 * hop + 2]);
        links.extend(near.iter().flat_map(|&a| far.map(|b| (a, b, 0.5))));
    }
    links.extend([(11, 13, 0.5), (12, 13, 0.5)]);
    let all = expected(&links, 13, 0, &ALL);
    let inner = &all.shares()[1..13];
    assert_eq!((all.shares().len(), inner.len()), (14, 12));
    let below = inner.iter().filter(|share| share.sends < 0.1 * all.cost()).count();
    assert!(below >= 8, "{below} of 12 below a tenth");
    let pruned = expected(&links, 13, 0, &Pruning::default());
    assert!(pruned.cost() <= 1.05 * all.cost());
    // At most twice the transmissions are possible with one relay a hop.
    assert!(pruned.cost() < 14.0);
}

/// In a row of fifteen hops each node sends a fifteenth, and all have to stay.
#[test]
fn a_long_row_is_not_cut() {
    let links: Vec<(u32, u32, f64)> = (0..15).map(|i| (i, i + 1, 1.0)).collect();
    assert_eq!(expected(&links, 15, 0, &Pruning::default()).shares().len(), 16);
    // Nor does a link that hardly exists take its place.
    let skip: Vec<_> = links.iter().copied().chain((0..14).map(|i| (i, i + 2, 0.01))).collect();
    let row = expected(&skip, 15, 0, &Pruning::default());
    assert_eq!(row.shares().len(), 16);
}

/// A row of 64 hops that lose half, but for one that loses nothing, with a second relay at three of them: of 66 relays the one before the
/// good hop sends least, and nobody gets past without it.
#[test]
fn of_more_than_a_list_has_room_for_the_best_path_stays() {
    let twice = [10, 30, 50];
    let delivery = |near| if near == 19 { 1.0 } else { 0.5 };
    let mut links: Vec<(u32, u32, f64)> = (0..64)
        .filter(|near| !twice.contains(&(near + 1)))
        .map(|near| (near, near + 1, delivery(near)))
        .collect();
    for i in twice {
        links.extend([(i, i - 1, 0.25), (100 + i, i - 1, 0.25), (100 + i, i + 1, 0.5)]);
    }
    let all = expected(&links, 64, 0, &Pruning { most: 66, ..ALL });
    let sends = |node| all.shares().iter().find(|share| share.node == NodeId(node)).map(|share| share.sends);
    let more = all.shares().iter().filter(|share| Some(share.sends) > sends(20)).count();
    assert_eq!((all.shares().len(), more), (68, 66), "all relays, and the source");
    for most in [63, 64] {
        let some = expected(&links, 64, 0, &Pruning { most, ..ALL });
        assert_eq!(some.shares().len(), most + 2);
        assert!((0..=64).all(|node| some.shares().iter().any(|share| share.node == NodeId(node))));
    }
    let few = Pruning { most: 62, ..ALL };
    assert_eq!(Expected::new(&network(&links), NodeId(64), NodeId(0), &few), None, "a path needs 63");
}

#[test]
fn where_there_is_no_path() {
    let losses = network(&LINE);
    let new = |source, destination| Expected::new(&losses, NodeId(source), NodeId(destination), &ALL);
    assert_eq!((new(2, 9), new(9, 0), new(1, 1)), (None, None, None));
    assert_eq!(Expected::of(&losses, &[NodeId(0)]), None);
    assert_eq!(Expected::of(&losses, &[NodeId(0), NodeId(9)]), None);
}

/// Transmissions of a packet if always the nearest that has it sends until one that is nearer hears it.
fn play(losses: &Losses, order: &[NodeId], random: &mut Stream) -> u32 {
    let (mut holder, mut sent) = (order.len() - 1, 0);
    while holder > 0 {
        sent += 1;
        // Every one draws: the nearest that hears it is next.
        let heard: Vec<usize> =
            (0..holder).filter(|&to| random.uniform() >= losses.loss(order[holder], order[to])).collect();
        holder = heard.first().copied().unwrap_or(holder);
    }
    sent
}

#[test]
fn a_play_with_dice_needs_as_many() {
    let mut random = Stream::new(1, "dice", Purpose::Reception);
    let mut networks = vec![(network(&LINE), 2, 0), (network(&DIAMOND), 3, 0), (network(&MESH), 10, 14)];
    networks.extend((0..10).map(|_| (random_network(8, &mut random), 7, 0)));
    let mut played = 0;
    for (losses, source, destination) in networks {
        let Some(all) = Expected::new(&losses, NodeId(source), NodeId(destination), &ALL) else { continue };
        let order = losses.distances(NodeId(destination)).nearer(NodeId(source));
        let sent: u32 = (0..40_000).map(|_| play(&losses, &order, &mut random)).sum();
        let mean = f64::from(sent) / 40_000.0;
        assert!((mean / all.cost() - 1.0).abs() < 0.03, "{mean} instead of {}", all.cost());
        played += 1;
    }
    assert!(played >= 10);
}

proptest! {
    // One of some three hundred networks has a node that has to be looked at a second time, after another has gone.
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Every packet arrives; forwarders are in order; pruning costs no more than it may and leaves none that sends too little, but where
    /// it would have cost more.
    #[test]
    fn what_holds_for_all_losses(nodes in 2u32..14, seed: u64) {
        let losses = random_network(nodes, &mut Stream::new(seed, "losses", Purpose::Placement));
        let distances = losses.distances(NodeId(0));
        let source = NodeId(nodes - 1);
        let Some(all) = Expected::among(&losses, &distances, source, &ALL) else {
            prop_assert!(distances.nearer(source).is_empty());
            return Ok(());
        };
        let pruned = Expected::among(&losses, &distances, source, &Pruning::default()).unwrap();
        for expected in [&all, &pruned] {
            let shares = expected.shares();
            prop_assert!((shares[0].load - 1.0).abs() < 1e-9, "{} arrive", shares[0].load);
            prop_assert_eq!((shares[0].sends, shares[0].node, shares.last().unwrap().node), (0.0, NodeId(0), source));
            for pair in shares.windows(2) {
                let near = (distances.etx(pair[0].node), pair[0].node);
                prop_assert!(near < (distances.etx(pair[1].node), pair[1].node) || pair[1].node == source);
                prop_assert!(pair[1].sends >= pair[1].load && pair[1].load > 0.0);
            }
        }
        prop_assert!(pruned.cost() <= 1.05 * all.cost());
        prop_assert!(pruned.shares().len() <= all.shares().len());
        for share in &pruned.shares()[1..pruned.shares().len() - 1] {
            let without: Vec<NodeId> =
                pruned.shares().iter().map(|each| each.node).filter(|&node| node != share.node).collect();
            let needed = Expected::of(&losses, &without).is_none_or(|rest| rest.cost() > 1.05 * all.cost());
            prop_assert!(share.sends >= 0.1 * pruned.cost() || needed);
        }
    }
}

proptest! {
    /// The order in which nodes and links are named changes nothing.
    #[test]
    fn order_changes_nothing(order in Just((0..11).collect::<Vec<usize>>()).prop_shuffle()) {
        let shuffled: Vec<_> = order.iter().map(|&i| (MESH[i].1, MESH[i].0, MESH[i].2)).collect();
        let at = |links: &[(u32, u32, f64)]| expected(links, 11, 14, &Pruning::default());
        prop_assert_eq!(at(&shuffled), at(&MESH));
    }
}
