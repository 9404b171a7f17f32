//! Decodable and sensed links between stations, and routes of flows, where distances determine them.

use crate::support::*;
use airfair_sim::World;
use airfair_sim::ids::NodeIx;
use airfair_sim::spec::*;
use airfair_units::{Db, Dbm};

type Pairs = Vec<(u32, u32)>;

/// Pairs of nodes: those that receive, those that only sense.
fn relations(world: &World) -> (Pairs, Pairs) {
    let (receives, senses): (Vec<_>, Vec<_>) = world.relations().partition(|r| r.receives());
    let pairs = |list: Vec<airfair_sim::air::Relation>| list.iter().map(|r| (r.from.0, r.to.0)).collect();
    (pairs(receives), pairs(senses))
}

fn two(metres: f64) -> World {
    let mut spec = world(dot11b(367.0, 670.0), 1);
    node(&mut spec, "a", 0.0, 0.0);
    node(&mut spec, "b", metres, 0.0);
    make(&spec, 1)
}

#[test]
fn ranges_end_at_367_and_670_metres() {
    let pair = vec![(0, 1), (1, 0)];
    assert_eq!(relations(&two(366.9)), (pair.clone(), vec![]));
    assert_eq!(relations(&two(367.1)), (vec![], pair.clone()));
    assert_eq!(relations(&two(669.9)), (vec![], pair));
    assert_eq!(relations(&two(670.1)), (vec![], vec![]));
}

/// A signal too weak for the data rate is sensed by its preamble; noise that leaves the medium idle is no relation.
#[test]
fn sensed_is_what_makes_the_medium_busy() {
    let mut radio = dot11b(367.0, 670.0);
    radio.phy.sensitivity = Sensitivity::Level(Dbm(radio.phy.preamble_detect.0 + 3.0));
    radio.phy.cutoff = Dbm(radio.phy.energy_detect.0 - 20.0);
    let mut spec = world(radio, 1);
    // Power falls with the fourth power: 3 dB are 367 m / 10^(3/40) = 308.8 m.
    for (id, x) in [("a", 0.0), ("308 m", 308.0), ("366 m", 366.0), ("700 m", 700.0)] {
        node(&mut spec, id, x, 0.0);
    }
    let made = make(&spec, 1);
    let from_a = |pairs: Pairs| -> Vec<u32> {
        pairs.into_iter().filter(|pair| pair.0 == 0).map(|pair| pair.1).collect()
    };
    let (receives, senses) = relations(&made);
    assert_eq!((from_a(receives), from_a(senses)), (vec![1], vec![2]));
}

/// The hearers' list is cut into bands of 1.2 km; the relations are in the order of stations all the same.
#[test]
fn far_bands_are_told_too() {
    let mut radio = dot11b(4000.0, 4000.0);
    radio.phy.tx_power.0 += 30.0;
    let mut spec = world(radio, 1);
    for (id, x) in [("a", 0.0), ("b", 3000.0), ("c", 100.0)] {
        node(&mut spec, id, x, 0.0);
    }
    let made = make(&spec, 1);
    assert_eq!(relations(&made).0, [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]);
    let power = |pair| made.relations().find(|r| (r.from.0, r.to.0) == pair).unwrap().power.to_dbm().0;
    // From 3000 m to 2900 m: 40 log10(30/29) dB more.
    assert!((power((2, 1)) - power((0, 1)) - 0.589).abs() < 1e-3);
}

fn nodes(path: Option<Vec<u32>>) -> Option<Vec<NodeIx>> {
    path.map(|path| path.into_iter().map(NodeIx).collect())
}

#[test]
fn paths_name_every_node_on_the_way() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(500), 1);
    let far = node(&mut spec, "far", 9000.0, 0.0);
    flow(&mut spec, "back", 2, 0, saturating(500));
    flow(&mut spec, "lost", 0, far, saturating(500));
    assert_eq!(make(&spec, 1).paths(), [Some(vec![0, 1, 2, 3]), Some(vec![2, 1, 0]), None].map(nodes));
}

/// A link whose two directions differ is no route, but is heard where it is heard.
#[test]
fn one_way_links_are_heard_and_not_used() {
    let mut radio = dot11b(250.0, 550.0);
    radio.propagation = Propagation::Matrix;
    let mut spec = world(radio, 1);
    node(&mut spec, "a", 0.0, 0.0);
    node(&mut spec, "b", 0.0, 0.0);
    spec.gains.push(GainSpec { from: 0, to: 1, gain: Db(-60.0) });
    flow(&mut spec, "f", 0, 1, saturating(500));
    let made = make(&spec, 1);
    assert_eq!(relations(&made), (vec![(0, 1)], vec![]));
    assert_eq!(made.paths(), [None]);
}
