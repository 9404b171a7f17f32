//! Stepping aside: parts of the network whose flows get enough have no limits, those where limits add nothing neither.

use airfair_schemes::c3l::aside::{Aside, AsideConfig, Observed, Parts};
use airfair_schemes::places::FlowId;

const CONFIG: AsideConfig = AsideConfig { enough: 0.5, patience: 4 };

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

/// Both flows get 0.6 of their entitlement and more without limits: they never have any.
#[test]
fn flows_that_get_enough_are_never_limited() {
    assert_eq!(ways(CONFIG, 40, |_, _| [60.0, 120.0]), "f".repeat(40));
}

/// The first flow gets 0.2, less than half of what is enough: after the three rounds of a trial limits stay, for 4 times 4 rounds; then for
/// 4 times 8. Whatever it gets with them.
#[test]
fn limits_stay_where_a_flow_starves() {
    let found = ways(CONFIG, 56, |free, _| if free { [20.0, 150.0] } else { [15.0, 70.0] });
    assert_eq!(found, ["f".repeat(3), "l".repeat(16), "f".repeat(3), "l".repeat(32), "ff".into()].concat());
}

/// With less than a tenth the trial ends after its second round, the first that counts.
#[test]
fn next_to_nothing_ends_a_trial() {
    let found = ways(CONFIG, 20, |free, _| if free { [9.0, 150.0] } else { [70.0, 70.0] });
    assert_eq!(found, ["ff", &"l".repeat(16), "ff"].concat());
}

/// 0.3 without limits is too little, but not nothing: with them it is 0.4 and a tenth of the entitlement more, so they stay for 16 rounds
/// after their trial.
#[test]
fn limits_stay_where_they_help() {
    let found = ways(CONFIG, 24, |free, _| if free { [30.0, 150.0] } else { [40.0, 70.0] });
    assert_eq!(found, ["fff", "lll", &"l".repeat(16), "ff"].concat());
}

/// With limits the first flow gets 0.39 instead of 0.3: less than a tenth more. So they go, and are tried again after 4 rounds, which is at
/// the end of the second trial, then after 8 and at the end of the third.
#[test]
fn limits_go_where_they_add_nothing() {
    let found = ways(CONFIG, 30, |free, _| if free { [30.0, 150.0] } else { [39.0, 80.0] });
    let pieces = ["f".repeat(3), "l".repeat(3), "f".repeat(6), "l".repeat(3), "f".repeat(9), "l".repeat(3)];
    assert_eq!(found, [&pieces.concat()[..], "fff"].concat());
}

/// Enough for nine rounds, then 0.1 for the first flow: at the end of the third trial the two rounds that count are judged together,
/// (60 + 10)/2 being enough no more, but not starving: limits are tried.
#[test]
fn limits_come_back_where_a_flow_falls_below() {
    let found = ways(CONFIG, 14, |free, round| match (free, round) {
        (true, ..=8) => [60.0, 60.0],
        (true, _) => [10.0, 120.0],
        (false, _) => [80.0, 80.0],
    });
    assert_eq!(found, ["f".repeat(9), "l".repeat(5)].concat());
}

/// Are the limits of the first flow away after each of these rounds of one flow?
fn free_after(rounds: &[&[Observed]]) -> Vec<bool> {
    let mut aside = Aside::new(CONFIG);
    let mut free = Vec::new();
    for round in rounds {
        aside.round(round);
        free.push(aside.is_free(FlowId(1)));
    }
    free
}

/// A round whose report is missing does not count, however bad the next one may be; a flow of which no report that counts arrives gets
/// nothing. Limits are there until all nodes near the flow have reported, or for 4 rounds.
#[test]
fn silence_is_no_consent() {
    let (good, silent) = (seen(1, 0, 90.0), Observed { arrived: None, ..seen(1, 0, 0.0) });
    let unheard = Observed { unheard: true, ..good };
    assert_eq!(free_after(&[&[good], &[good], &[silent], &[good], &[good]]), [true; 5]);
    assert_eq!(free_after(&[&[good], &[silent], &[good], &[silent]]), [true; 4]);
    // The first round of a trial does not count. Half of what is enough would be 0.5 of two rounds.
    let enough = seen(1, 0, 55.0);
    assert_eq!(free_after(&[&[good], &[good], &[silent], &[enough]]), [true; 4]);
    assert_eq!(free_after(&[&[good], &[good], &[silent], &[silent]]), [true, true, true, false]);
    assert_eq!(free_after(&[&[unheard], &[unheard], &[good], &[unheard]]), [false, false, true, true]);
    assert_eq!(free_after(&[&[unheard], &[unheard], &[unheard], &[unheard]]), [false, false, false, true]);
}

/// A flow that had less than enough by its last report, and that no node names any more, counts as one that gets nothing, also where a
/// trial has just been judged; one that had enough has ended.
#[test]
fn a_flow_that_is_missed() {
    let one = seen(1, 0, 90.0);
    for (two, free) in [(10.0, false), (60.0, true)] {
        let (both, alone) = ([one, seen(2, 0, two)], [one]);
        let rounds: [&[Observed]; 4] = [&both, &both, &alone, &alone];
        assert_eq!(free_after(&rounds)[3], free, "{two}");
    }
    // Missed from the first round of a trial on, so judged after the second.
    let (well, bad, alone) = ([one, seen(2, 0, 80.0)], [one, seen(2, 0, 30.0)], [one]);
    let rounds: [&[Observed]; 7] = [&well, &well, &well, &bad, &alone, &alone, &alone];
    assert_eq!(free_after(&rounds), [true, true, true, true, true, false, false]);
}

/// A flow in two pieces counts with the worse one, by what each is entitled to, and not with one of which no report has come. One that has
/// never been reported, and is named no more, counts as one that gets nothing.
#[test]
fn pieces_of_a_flow() {
    let (well, silent) = (seen(1, 0, 90.0), Observed { arrived: None, ..seen(1, 0, 0.0) });
    let bad = Observed { entitled: 1000.0, ..seen(1, 0, 95.0) };
    for pieces in [[well, bad], [bad, well], [silent, bad], [bad, silent]] {
        let rounds: [&[Observed]; 4] = [&[well], &[well], &pieces, &pieces];
        assert_eq!(free_after(&rounds), [true, true, false, false], "{pieces:?}");
    }
    let unknown = Observed { arrived: None, ..seen(2, 0, 0.0) };
    let rounds: [&[Observed]; 4] = [&[well, unknown], &[well, unknown], &[well], &[well]];
    assert_eq!(free_after(&rounds), [true, true, false, false]);
}

/// Two parts have ways of their own. A flow that joins a part does as the part does; one that comes back after it was forgotten is new.
#[test]
fn parts_of_the_network() {
    let mut aside = Aside::new(CONFIG);
    for _ in 0..4 {
        aside.round(&[seen(1, 0, 90.0), seen(2, 5, 5.0)]);
    }
    assert_eq!([1, 2].map(|flow| aside.is_free(FlowId(flow))), [true, false]);
    aside.round(&[seen(1, 0, 90.0), seen(2, 5, 10.0), seen(3, 5, 60.0), seen(4, 0, 90.0)]);
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
