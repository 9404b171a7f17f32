//! Wired links whose rate changes.

use airfair_scenario::{Override, Scenario, read};
use airfair_sim::spec::RateChange;
use airfair_units::{Rate, Time};

const PAIR: &str = r#"
name = "pair"
duration = "20 s"
[[node]]
id = "a"
[[node]]
id = "b"
[[link]]
ends = ["a", "b"]
rate = "150 Mbit/s"
[[flow]]
id = "f"
from = "a"
to = "b"
traffic = { kind = "saturating" }
"#;

fn with(changes: &str) -> Scenario {
    let set = Override::parse(&format!("link.0.rate_changes={changes}")).unwrap();
    read(PAIR, "pair.toml", &[set]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn changes_are_read_in_their_order() {
    assert_eq!(read(PAIR, "pair.toml", &[]).unwrap().spec.links[0].rate_changes, []);
    let scenario = with(r#"[{ at = "5 s", rate = "75 Mbit/s" }, { rate = "0.3 Gbit/s", at = "10500 ms" }]"#);
    let expected = [(5_000, 75), (10_500, 300)]
        .map(|(ms, mbps)| RateChange { at: Time(ms * 1_000_000), rate: Rate::from_mbps(mbps) });
    assert_eq!(scenario.spec.links[0].rate_changes, expected);
    assert!(scenario.warnings.is_empty(), "{:?}", scenario.warnings);
}

#[test]
fn a_change_that_never_comes_is_warned_of() {
    let scenario = with(r#"[{ at = "20 s", rate = "75 Mbit/s" }]"#);
    assert_eq!(scenario.warnings, ["the rate of link \"a\"-\"b\" changes after the end of the run"]);
}
