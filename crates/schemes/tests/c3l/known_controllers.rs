//! Ours: which controller a node reports to.

use airfair_schemes::c3l::known_controllers::{Alive, KnownControllers, KnownControllersConfig, freshness};
use airfair_schemes::places::NodeId;
use airfair_units::Span;

use super::at;

const CONFIG: KnownControllersConfig =
    KnownControllersConfig { expiry: Span::from_secs(10), forget: Span::from_secs(60), most: 2, hops: 5 };
const A: NodeId = NodeId(1);
const B: NodeId = NodeId(2);

const fn word(controller: NodeId, freshness: u32, hops: u8) -> Alive {
    Alive { controller, freshness, hops }
}

fn alive(controllers: &KnownControllers, ms: u64) -> Vec<Alive> {
    controllers.alive(at(ms)).collect()
}

#[test]
fn the_nearest_controller_is_chosen() {
    let mut node = KnownControllers::new(CONFIG);
    assert_eq!((node.nearest(at(0)), alive(&node, 0)), (None, vec![]));
    node.hear(word(B, 7, 1), at(0));
    assert_eq!((node.nearest(at(0)), alive(&node, 0)), (Some(B), vec![word(B, 7, 2)]));
    node.hear(word(A, 3, 2), at(0));
    assert_eq!((node.nearest(at(0)), alive(&node, 0)), (Some(B), vec![word(A, 3, 3), word(B, 7, 2)]));
    // Equally fresh over fewer hops: one hop away. More hops do not count; two equally near ones: the smaller number.
    node.hear(word(A, 3, 1), at(0));
    assert_eq!(node.nearest(at(0)), Some(A));
    node.hear(word(A, 3, 4), at(0));
    assert_eq!(alive(&node, 0)[0], word(A, 3, 2));
    node.hear(word(A, 3, 0), at(0));
    assert_eq!(alive(&node, 0)[0], word(A, 3, 1));
    // An older word does not count.
    node.hear(word(B, 6, 0), at(0));
    assert_eq!(alive(&node, 0)[1], word(B, 7, 2));
    // Too far: 5 hops are allowed, 6 are not.
    let mut far = KnownControllers::new(CONFIG);
    far.hear(word(A, 1, 4), at(0));
    assert_eq!(alive(&far, 0), [word(A, 1, 5)]);
    node.hear(word(NodeId(3), 1, 5), at(0));
    assert_eq!(alive(&node, 0).len(), 2);
    node.hear(word(B, 8, 255), at(0));
    assert_eq!(alive(&node, 0)[1], word(B, 7, 2));
}

/// A fresh word that comes a longer way first does not move the controller away; the next one does.
#[test]
fn hops_are_the_fewest_of_two_words() {
    let mut node = KnownControllers::new(CONFIG);
    node.hear(word(A, 1, 0), at(0));
    node.hear(word(A, 2, 3), at(1));
    assert_eq!(alive(&node, 1), [word(A, 2, 1)]);
    node.hear(word(A, 3, 3), at(2));
    assert_eq!(alive(&node, 2), [word(A, 3, 4)]);
    // After a silence the old way does not count.
    node.hear(word(A, 4, 0), at(3));
    node.hear(word(A, 5, 3), at(10_003));
    assert_eq!(alive(&node, 10_003), [word(A, 5, 4)]);
    node.hear(word(A, 6, 3), at(10_004));
    node.hear(word(A, 7, 0), at(10_005));
    node.hear(word(A, 8, 3), at(20_004));
    assert_eq!(alive(&node, 20_004), [word(A, 8, 1)], "within the expiry it does");
}

/// Alive for 10 s after the last growth; a repeated word is no growth, and one of a dead controller is not believed, whoever repeats it.
#[test]
fn a_controller_that_does_not_grow_expires() {
    let mut node = KnownControllers::new(CONFIG);
    node.hear(word(A, 5, 0), at(0));
    node.hear(word(A, 5, 0), at(9000));
    assert_eq!(node.nearest(at(9999)), Some(A));
    assert_eq!(node.nearest(at(10_000)), None);
    node.hear(word(A, 5, 0), at(10_001));
    node.hear(word(A, 4, 0), at(10_001));
    assert_eq!(node.nearest(at(10_001)), None);
    node.hear(word(A, 6, 1), at(10_002));
    assert_eq!(alive(&node, 10_002), [word(A, 6, 2)]);
    // Forgotten after 60 s: an older count of a controller that started anew is believed then.
    node.hear(word(A, 1, 0), at(70_001));
    assert_eq!(node.nearest(at(70_001)), None);
    node.hear(word(A, 1, 0), at(70_002));
    assert_eq!(alive(&node, 70_002), [word(A, 1, 1)]);
}

/// Tenths of a second.
#[test]
fn freshness_is_that_of_the_clock() {
    assert_eq!([0, 99, 100, 1_050, 3_600_000].map(|ms| freshness(at(ms))), [0, 0, 1, 10, 36_000]);
}

#[test]
fn freshness_goes_round() {
    let mut node = KnownControllers::new(CONFIG);
    node.hear(word(A, u32::MAX, 0), at(0));
    node.hear(word(A, 0, 1), at(1));
    node.hear(word(A, 1, 1), at(2));
    assert_eq!(alive(&node, 2), [word(A, 1, 2)]);
    node.hear(word(A, 1 + (1 << 31), 0), at(3));
    assert_eq!(alive(&node, 3), [word(A, 1, 2)], "half round is not ahead");
    node.hear(word(A, 1 << 31, 0), at(3));
    assert_eq!(alive(&node, 3)[0].freshness, 1 << 31);
}

/// The controller's own node is no hop away and says so.
#[test]
fn a_controller_s_own_node() {
    let mut node = KnownControllers::new(CONFIG);
    node.hear(word(B, 9, 0), at(0));
    node.own(A, 100, at(0));
    assert_eq!((node.nearest(at(0)), alive(&node, 0)), (Some(A), vec![word(A, 100, 0), word(B, 9, 1)]));
}

/// Two places.
#[test]
fn the_oldest_gives_way() {
    for new in [0, 5, 9] {
        let mut node = KnownControllers::new(CONFIG);
        node.hear(word(NodeId(3), 1, 0), at(0));
        node.hear(word(NodeId(7), 1, 0), at(1));
        node.hear(word(NodeId(3), 2, 0), at(2));
        node.hear(word(NodeId(new), 1, 0), at(3));
        let mut wanted = vec![NodeId(3), NodeId(new)];
        wanted.sort_unstable();
        assert_eq!(node.alive(at(3)).map(|alive| alive.controller).collect::<Vec<_>>(), wanted);
    }
    let mut none = KnownControllers::new(KnownControllersConfig { most: 0, ..CONFIG });
    none.own(A, 1, at(0));
    assert_eq!(none.nearest(at(0)), None);
}

/// Nodes in a ring repeat each other's words every second. The controller, node 0, falls silent after 5 s: within its expiry all know.
#[test]
fn neighbours_do_not_keep_a_dead_controller_alive() {
    let mut ring: Vec<KnownControllers> = (0..8).map(|_| KnownControllers::new(CONFIG)).collect();
    for second in 0..60_u32 {
        let now = at(u64::from(second) * 1000);
        if second < 5 {
            ring[0].own(A, 1000 + second, now);
        }
        let words: Vec<Vec<Alive>> = ring.iter().map(|node| node.alive(now).collect()).collect();
        for (at, node) in ring.iter_mut().enumerate() {
            for neighbour in [(at + 1) % 8, (at + 7) % 8] {
                words[neighbour].iter().for_each(|&word| node.hear(word, now));
            }
        }
        if second == 6 {
            let hops: Vec<u8> = ring.iter().map(|node| node.alive(now).next().unwrap().hops).collect();
            assert_eq!(hops, [0, 1, 2, 3, 4, 3, 2, 1]);
        }
        // The last word is of second 4 and reaches the farthest node 4 s later.
        let known = ring.iter().filter(|node| node.nearest(now).is_some()).count();
        assert_eq!(known > 0, second < 4 + 4 + 10 - 1, "second {second}: {known}");
    }
}

/// With a long expiry too: a word that a node has forgotten is not to come back from a neighbour that still repeats it.
#[test]
fn a_dead_controller_is_forgotten_with_any_expiry() {
    for expiry in [Span::from_secs(1), Span::from_secs(20), Span::from_secs(400), Span::from_secs(3600)] {
        let mut ring: Vec<KnownControllers> =
            (0..8).map(|_| KnownControllers::new(KnownControllersConfig::expiring(expiry))).collect();
        let end = expiry.as_nanos() / 1_000_000_000 + 20;
        for second in 0..4 * end as u32 {
            let now = at(u64::from(second) * 1000);
            if second < 5 {
                ring[0].own(A, 1000 + second, now);
            }
            let words: Vec<Vec<Alive>> = ring.iter().map(|node| node.alive(now).collect()).collect();
            for (at, node) in ring.iter_mut().enumerate() {
                for neighbour in [(at + 1) % 8, (at + 7) % 8] {
                    words[neighbour].iter().for_each(|&word| node.hear(word, now));
                }
            }
            let known = ring.iter().any(|node| node.nearest(now).is_some());
            assert!(!known || u64::from(second) < end, "expiry {expiry:?}, second {second}");
        }
    }
}
