//! Stepping aside: parts of the network whose flows get enough have no limits, those where limits add nothing neither.

use airfair_schemes::c3l::aside::{Aside, AsideConfig, Observed, Parts};
use airfair_schemes::places::FlowId;

const CONFIG: AsideConfig = AsideConfig { enough: 0.8, gain: 0.1, rounds: 2, patience: 4 };

fn seen(flow: u32, part: u32, arrived: f64) -> Observed {
    Observed { flow: FlowId(flow), part, entitled: 100.0, arrived: Some(arrived), unheard: false }
}

/// Rounds of flows 1 and 2 of one part; `arrives(free)`: what arrives of both. For each round a letter: `f` without limits, `l` with.
fn ways(config: AsideConfig, rounds: usize, arrives: impl Fn(bool, usize) -> [f64; 2]) -> String {
    let mut aside = Aside::new(config);
    let mut ways = String::new();
    let mut free = true;
    for round in 0..rounds {
        let [one, two] = arrives(free, round);
        aside.round(&[seen(1, 0, one), seen(2, 0, two)]);
        assert_eq!(aside.is_free(FlowId(1)), aside.is_free(FlowId(2)));
        free = aside.is_free(FlowId(1));
        assert_eq!(aside.free(), if free { 2 } else { 0 });
        ways.push(if free { 'f' } else { 'l' });
    }
    ways
}

/// Both flows get 0.85 of their entitlement without limits: they never have any.
#[test]
fn flows_that_get_enough_are_never_limited() {
    assert_eq!(ways(CONFIG, 40, |_, _| [85.0, 120.0]), "f".repeat(40));
}

/// The first flow gets 0.3: less than half of what is enough, so that the trial ends after a round. With limits it gets 0.7: they stay, and
/// after a patience of 4 rounds (as often judged, every second) the other way is tried for a round. After that the patience is 8.
#[test]
fn limits_stay_where_they_help() {
    let found = ways(CONFIG, 24, |free, _| if free { [30.0, 150.0] } else { [70.0, 70.0] });
    assert_eq!(found, ["f", "lll", "llll", "f", "lll", "llllllll", "f", "lll"].concat());
}

/// With limits the first flow gets 0.55 instead of 0.5: less than a tenth more. So they go, and are tried again after 4 rounds, then after 8.
#[test]
fn limits_go_where_they_add_nothing() {
    let found = ways(CONFIG, 24, |free, _| if free { [50.0, 150.0] } else { [55.0, 80.0] });
    assert_eq!(found, ["ff", "lll", "ffff", "lll", "ffffffff", "lll", "f"].concat());
}

/// Long enough, then one of them falls to 0.5: the rounds that a trial takes are judged together, and (85 + 50)/2 is too little; with
/// limits it gets 0.8.
#[test]
fn limits_come_back_where_a_flow_falls_below() {
    let found = ways(CONFIG, 16, |free, round| match (free, round) {
        (true, ..=9) => [85.0, 85.0],
        (true, _) => [50.0, 120.0],
        (false, _) => [80.0, 80.0],
    });
    assert_eq!(found, ["f".repeat(10), "llllll".into()].concat());
}

/// A flow of which nothing is reported counts as one that gets nothing, and a node that has never reported as one whose flow starves; a
/// single report that is missing does not count.
#[test]
fn silence_is_no_consent() {
    let run = |rounds: &[Observed]| {
        let mut aside = Aside::new(CONFIG);
        let found: Vec<bool> = rounds
            .iter()
            .map(|&of| {
                aside.round(&[of]);
                aside.is_free(FlowId(1))
            })
            .collect();
        found
    };
    let (good, silent) = (seen(1, 0, 90.0), Observed { arrived: None, ..seen(1, 0, 0.0) });
    assert_eq!(run(&[good, good, silent, good]), [true; 4]);
    assert_eq!(run(&[good, silent]), [true, false]);
    let unheard = Observed { unheard: true, ..good };
    assert_eq!(run(&[unheard, unheard]), [true, false]);
}

/// Two parts have ways of their own. A flow that joins a part does as the part does; one that comes back after it was forgotten is new.
#[test]
fn parts_of_the_network() {
    let mut aside = Aside::new(CONFIG);
    for _ in 0..4 {
        aside.round(&[seen(1, 0, 90.0), seen(2, 5, 10.0)]);
    }
    assert_eq!([1, 2].map(|flow| aside.is_free(FlowId(flow))), [true, false]);
    aside.round(&[seen(1, 0, 90.0), seen(2, 5, 10.0), seen(3, 5, 10.0), seen(4, 0, 90.0)]);
    assert_eq!([3, 4].map(|flow| aside.is_free(FlowId(flow))), [false, true]);
    assert_eq!(aside.free(), 2);
    // Both parts become one: the flow with the smallest number decides.
    aside.round(&[seen(1, 0, 90.0), seen(2, 0, 90.0)]);
    assert!(aside.is_free(FlowId(2)));
    aside.round(&[]);
    assert_eq!((aside.is_free(FlowId(1)), aside.free()), (false, 0));
    assert!(!Aside::new(AsideConfig::default()).lifts());
}

/// 0-1-2 and 3-4 become two sets, named by their smallest numbers, and one by 4-2.
#[test]
fn sets_that_have_something_in_common() {
    let mut parts = Parts::new(6);
    for (one, other) in [(2, 1), (0, 2), (4, 3)] {
        parts.join(one, other);
    }
    assert_eq!([0, 1, 2, 3, 4, 5].map(|number| parts.root(number)), [0, 0, 0, 3, 3, 5]);
    parts.join(4, 2);
    assert_eq!([0, 1, 2, 3, 4, 5].map(|number| parts.root(number)), [0, 0, 0, 0, 0, 5]);
}
