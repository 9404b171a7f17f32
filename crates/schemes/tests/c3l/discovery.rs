//! §III-B, at a node.

use airfair_schemes::c3l::discovery::{Broadcast, Discovery, DiscoveryConfig, Neighbour, ratio};
use airfair_schemes::places::NodeId;
use airfair_units::Span;
use proptest::prelude::*;

use super::at;
use Broadcast::{Hello, Probe};

const A: NodeId = NodeId(1);
const B: NodeId = NodeId(2);
/// Four numbers, one a second.
const FOUR: DiscoveryConfig = DiscoveryConfig { window: 4, interval: Span::from_secs(1), most: 3, step: 0.1 };

/// HELLOs with these numbers, each at its second.
fn heard(config: DiscoveryConfig, sequences: &[u16]) -> Discovery {
    let mut discovery = Discovery::new(config);
    for &sequence in sequences {
        discovery.hear(A, Hello, sequence, at(u64::from(sequence) * 1000));
    }
    discovery
}

/// Of 1, 2, 4, 5 the first three numbers give 2 of 2, 3 of 4; then 2, 3, 4, 5 of which 3 is missing: 3 of 4.
#[test]
fn the_ratio_is_that_of_the_last_numbers() {
    let ratio_of = |sequences: &[u16]| {
        heard(FOUR, sequences).heard(A, Hello, at(u64::from(*sequences.last().unwrap()) * 1000))
    };
    assert_eq!(ratio_of(&[7]), 1.0);
    assert_eq!(ratio_of(&[7, 8]), 1.0);
    assert_eq!(ratio_of(&[7, 9]), 170.0 / 255.0, "2 of 3");
    assert_eq!(ratio_of(&[7, 10]), 128.0 / 255.0, "2 of 4, rounded");
    assert_eq!(ratio_of(&[7, 11]), 64.0 / 255.0, "1 of 8 to 11");
    assert_eq!(ratio_of(&[1, 2, 4, 5]), 191.0 / 255.0, "3 of 4");
    assert_eq!(ratio_of(&[1, 2, 3, 4, 5, 6]), 1.0);
    assert_eq!(ratio_of(&[1, 2, 3, 200]), 64.0 / 255.0);
    assert_eq!(ratio(51), 0.2);
}

#[test]
fn hellos_and_probes_are_counted_apart() {
    let mut discovery = Discovery::new(FOUR);
    assert!(discovery.is_empty());
    discovery.hear(A, Probe, 10, at(0));
    discovery.hear(A, Probe, 12, at(0));
    discovery.hear(A, Hello, 3, at(0));
    discovery.hear(B, Probe, 5, at(0));
    assert_eq!(
        [(A, Hello), (A, Probe), (B, Hello), (B, Probe)].map(|(node, kind)| discovery.heard(
            node,
            kind,
            at(0)
        )),
        [1.0, 170.0 / 255.0, 0.0, 1.0]
    );
    assert_eq!(discovery.heard(NodeId(9), Hello, at(0)), 0.0);
    assert_eq!((discovery.len(), discovery.is_empty()), (2, false));
    assert!(discovery.refresh(at(0)));
    let listed =
        [Neighbour { node: A, hellos: 255, probes: 170 }, Neighbour { node: B, hellos: 0, probes: 255 }];
    assert_eq!(discovery.list(), listed);
}

/// The next broadcast is due 1 s after the last and counts as lost 1.5 s after it: of 4 there are 3 then, 2 after 2.5 s, none after 4.5 s.
#[test]
fn silence_counts_as_loss() {
    let mut discovery = heard(FOUR, &[1, 2, 3, 4]);
    let after = |ms: u64| (discovery.heard(A, Hello, at(4000 + ms)) * 255.0).round() as u8;
    assert_eq!(
        [0, 1000, 1499, 1500, 2499, 2500, 3500, 4499, 4500].map(after),
        [255, 255, 255, 191, 191, 128, 64, 64, 0]
    );
    assert!(discovery.refresh(at(4000)));
    assert!(discovery.refresh(at(8499)));
    assert_eq!(discovery.len(), 1);
    assert!(discovery.refresh(at(8500)));
    assert_eq!((discovery.len(), discovery.list().len(), discovery.version()), (0, 0, 3));
    // Number 5 is heard late: 5 numbers passed in silence do not count twice.
    let mut late = heard(FOUR, &[1, 2, 3, 4]);
    late.hear(A, Hello, 7, at(7000));
    assert_eq!(late.heard(A, Hello, at(7000)), 128.0 / 255.0, "4 and 7 of 4 to 7");
}

/// Numbers go round after 65,535; a late number fills its gap; a repeated one changes nothing; one far back is a node that started anew.
#[test]
fn numbers_go_round_come_late_and_start_anew() {
    let mut discovery = Discovery::new(FOUR);
    for sequence in [65_533, 65_534, 1] {
        discovery.hear(A, Hello, sequence, at(0));
    }
    assert_eq!(discovery.heard(A, Hello, at(0)), 128.0 / 255.0, "65,534 and 1 of 65,534 to 1");
    discovery.hear(A, Hello, 65_535, at(0));
    assert_eq!(discovery.heard(A, Hello, at(0)), 191.0 / 255.0);
    discovery.hear(A, Hello, 1, at(0));
    discovery.hear(A, Hello, 65_535, at(0));
    assert_eq!(discovery.heard(A, Hello, at(0)), 191.0 / 255.0);
    // 64 back: anew. 63 back is a late one before the first that was heard: nothing.
    let mut first = heard(FOUR, &[100, 102]);
    first.hear(A, Hello, 39, at(102_000));
    assert_eq!(first.heard(A, Hello, at(102_000)), 170.0 / 255.0);
    first.hear(A, Hello, 38, at(102_000));
    assert_eq!(first.heard(A, Hello, at(102_000)), 1.0);
    let mut half = heard(FOUR, &[100, 102]);
    half.hear(A, Hello, 102 + 32_768, at(102_000));
    assert_eq!(half.heard(A, Hello, at(102_000)), 1.0, "half round: anew");
    first.hear(A, Hello, 40, at(104_000));
    assert_eq!(first.heard(A, Hello, at(104_000)), 170.0 / 255.0);
    // A number before the first one that was heard was not due for this node.
    let mut early = heard(FOUR, &[100]);
    early.hear(A, Hello, 99, at(100_000));
    early.hear(A, Hello, 102, at(102_000));
    assert_eq!(early.heard(A, Hello, at(102_000)), 170.0 / 255.0, "100 and 102 of 100 to 102");
}

/// A step of 0.1 is 25 of 255: with a window of 20 one more or less is 12.75, two are 25.5. The version counts new lists.
#[test]
fn the_list_changes_with_more_than_noise() {
    let config = DiscoveryConfig { window: 20, ..FOUR };
    let mut discovery = Discovery::new(config);
    assert!(!discovery.refresh(at(0)), "nothing heard");
    assert_eq!(discovery.version(), 0);
    // 10 of 20.
    for sequence in (0..20).filter(|sequence| sequence % 2 == 1) {
        discovery.hear(A, Hello, sequence, at(0));
        discovery.hear(A, Probe, sequence, at(0));
    }
    discovery.hear(A, Hello, 0, at(0));
    assert!(discovery.refresh(at(0)));
    let of = |discovery: &Discovery| discovery.list()[0].hellos;
    assert_eq!((of(&discovery), discovery.version()), (134, 1), "10 of 19");
    discovery.hear(A, Hello, 20, at(0));
    assert_eq!(discovery.heard(A, Hello, at(0)), 140.0 / 255.0, "11 of 20");
    assert!(!discovery.refresh(at(0)));
    discovery.hear(A, Hello, 21, at(0));
    discovery.hear(A, Hello, 22, at(0));
    assert_eq!(discovery.heard(A, Hello, at(0)), 153.0 / 255.0, "12 of 20");
    assert!(!discovery.refresh(at(0)));
    assert_eq!((of(&discovery), discovery.version()), (134, 1));
    discovery.hear(A, Hello, 23, at(0));
    discovery.hear(A, Hello, 24, at(0));
    assert!(discovery.refresh(at(0)), "13 of 20: 166 is 32 more");
    assert_eq!((of(&discovery), discovery.version()), (166, 2));
    assert!(!discovery.refresh(at(0)));
    // Another neighbour.
    discovery.hear(B, Probe, 1, at(0));
    assert!(discovery.refresh(at(0)));
    assert_eq!((discovery.list().len(), discovery.version()), (2, 3));
}

/// 31 of 51 are 155 in 255ths, 35 are 175, and 36 are 180: exactly a step of 25 more.
#[test]
fn a_step_is_enough() {
    let mut discovery = Discovery::new(DiscoveryConfig { window: 51, ..FOUR });
    for sequence in (0..30).chain([50]) {
        discovery.hear(A, Hello, sequence, at(0));
    }
    discovery.hear(A, Hello, 51, at(0));
    assert!(discovery.refresh(at(0)));
    assert_eq!(discovery.list()[0].hellos, 155, "31 of 1 to 51");
    for (late, changes) in [(40, false), (41, false), (42, false), (43, false), (44, true)] {
        discovery.hear(A, Hello, late, at(0));
        assert_eq!(discovery.refresh(at(0)), changes, "{late}");
    }
    assert_eq!(discovery.list()[0].hellos, 180);
}

/// 0 and 1 are no noise: the first HELLO of a node whose probes alone were heard, and the last one that was missing.
#[test]
fn none_and_all_change_the_list() {
    let mut discovery = Discovery::new(DiscoveryConfig { window: 60, ..FOUR });
    for sequence in 0..60 {
        discovery.hear(A, Probe, sequence, at(0));
    }
    assert!(discovery.refresh(at(0)));
    // 58 of 60 differ from all by 8; then all of 60 again.
    discovery.hear(A, Probe, 62, at(0));
    assert_eq!(discovery.heard(A, Probe, at(0)), 247.0 / 255.0);
    assert!(discovery.refresh(at(0)), "from all to 58 of 60");
    discovery.hear(A, Probe, 63, at(0));
    assert!(!discovery.refresh(at(0)), "58 of 60");
    for sequence in [60, 61] {
        assert!(!discovery.refresh(at(0)));
        discovery.hear(A, Probe, sequence, at(0));
    }
    assert!(discovery.refresh(at(0)), "all of 60");
}

/// Three places; the fourth neighbour takes that of the one heard longest ago, by either broadcast.
#[test]
fn the_oldest_neighbour_gives_way() {
    for new in [0, 4, 9] {
        let mut discovery = Discovery::new(FOUR);
        discovery.hear(NodeId(3), Hello, 0, at(0));
        discovery.hear(NodeId(5), Hello, 0, at(1));
        discovery.hear(NodeId(7), Hello, 0, at(2));
        discovery.hear(NodeId(3), Probe, 0, at(3));
        discovery.hear(NodeId(new), Hello, 0, at(4));
        discovery.refresh(at(4));
        let mut wanted = vec![3, 7, new];
        wanted.sort_unstable();
        assert_eq!(discovery.list().iter().map(|listed| listed.node.0).collect::<Vec<_>>(), wanted);
        assert_eq!(discovery.heard(NodeId(new), Hello, at(4)), 1.0);
    }
    let mut none = Discovery::new(DiscoveryConfig { most: 0, ..FOUR });
    none.hear(A, Hello, 0, at(0));
    assert!(none.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// No number, time or parameter makes it panic or leave its bounds.
    #[test]
    fn anything_may_be_heard(
        window in any::<u32>(),
        interval in any::<u64>(),
        step in any::<f64>(),
        heard in prop::collection::vec((0u32..9, any::<bool>(), any::<u16>(), any::<u64>()), 0..60),
    ) {
        let config = DiscoveryConfig { window, interval: Span(interval), most: 4, step };
        let mut discovery = Discovery::new(config);
        for (node, probe, sequence, now) in heard {
            let now = airfair_units::Time(now);
            discovery.hear(NodeId(node), if probe { Probe } else { Hello }, sequence, now);
            prop_assert!(discovery.len() <= 4);
            prop_assert!((0.0..=1.0).contains(&discovery.heard(NodeId(node), Hello, now)));
            discovery.refresh(now);
            prop_assert!(discovery.list().windows(2).all(|pair| pair[0].node < pair[1].node));
        }
    }
}

/// Version 0 says that there is no list yet: no list has it, however often it changes.
#[test]
fn no_list_has_version_0() {
    let mut node = Discovery::new(FOUR);
    for change in 0..=u32::from(u16::MAX) {
        if change % 2 == 0 {
            node.hear(A, Hello, 1, at(u64::from(change) * 1_000_000));
        }
        assert!(node.refresh(at(u64::from(change) * 1_000_000)));
        assert_ne!(node.version(), 0, "change {change}");
    }
}
